/** The code that V8 makes of the parts. The rest of the one file is held in test/e2e/release/. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PROGRAM_ROOT } from '../../../src/program/programRoot.ts'
import { fillParts } from '../../../tools/release/oneFile.ts'
import { temporaryDir } from '../../support/server.ts'

t.test('code of the parts is there, and the same each time', async t => {
  // a library stands for the program
  const library = readFileSync(join(PROGRAM_ROOT, 'node_modules/protobufjs/dist/protobuf.js'))
  const wrapped = Buffer.from(`(function(exports,require,module){${library.toString('latin1')}\n})`, 'latin1')
  const files = new Map(['orrery.cjs', 'syncer.cjs', 'server.cjs'].map(name => [name, wrapped]))
  const filled = [temporaryDir(t), temporaryDir(t)]
  for (const folder of filled) fillParts(folder, files)
  const [names = [], again] = filled.map(folder => readdirSync(folder).filter(name => name.endsWith('.code')))
  t.strictSame(names, again)
  t.equal(names.length, files.size + 2, 'each part, and twice what a syncer runs under flags of its own')
  for (const name of names)
    t.ok(readFileSync(join(filled[0]!, name)).equals(readFileSync(join(filled[1]!, name))), name)
})
