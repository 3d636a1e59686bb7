/** Each thread has its file, wherever files move. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { THREADS } from '../../src/program/startThread.ts'

t.test('the file of each thread is there', async t => {
  for (const [name, file] of Object.entries(THREADS)) t.ok(existsSync(join(PROGRAM_ROOT, file)), `${name}: ${file}`)
})
