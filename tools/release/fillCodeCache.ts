/**
 * Writes beside each part the code that V8 makes of it: `node <flags> fillCodeCache.ts FOLDER PART...`, under the flags under
 * which the part shall run. With `--random-seed` it is the same each time; V8 takes it in a process without that, too.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeName, Parts } from '../../src/program/parts.ts'

const [folder = '.', ...names] = process.argv.slice(2)
const parts = new Parts({
  read: name => readFileSync(join(folder, name)),
  has: name => existsSync(join(folder, name)),
})
for (const name of names) parts.load(name)
for (const [name, script] of parts.scripts) writeFileSync(join(folder, codeName(name)), script.createCachedData())
