/**
 * `npm test`: each test file in a process of its own, a few at a time; `npm test -- test/storage` for a part of them.
 *
 * tap's own command would load its record of processes and loaded files into each of these, and into every server and
 * command that a test starts. Nothing here reads that record, and it cost a third of all processor time.
 */
import { globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import t from 'tap'

/** A file that takes longer hangs, on the slowest machine. */
const LIMIT_S = 900

/** Tests wait for processes and disks: one more than there are processors keeps these busy. */
const JOBS = Math.min(availableParallelism() + 1, 8)

const named = process.argv.slice(2)
const files = (named.length === 0 ? ['test'] : named)
  .flatMap(path => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path]))
  .sort()

t.jobs = JOBS
t.setTimeout(0)
t.plan(files.length)
const env = { ...process.env, TAP_TIMEOUT: `${LIMIT_S}` }
for (const file of files) {
  // tap asks for its record by this variable.
  const args = [`NODE_OPTIONS=${process.env.NODE_OPTIONS ?? ''}`, process.execPath, file]
  t.spawn('env', args, { name: file, env, buffered: true, timeout: LIMIT_S * 1000 })
}
