/**
 * `npm test`: all test files, a few processes at a time; `npm test -- test/storage` for a part of them.
 *
 * The own command of tap would load its record of processes and loaded files into each of these. Every server and command of a test
 * would get it, too. That record has no reader here, and it cost a third of all processor time.
 */
import type { ChildProcess } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { PROGRAM_ROOT } from '../src/program/programRoot.ts'
import { FILE_LIMIT_MS, SILENCE_LIMIT_MS } from './support/patience.ts'

/** Tests wait for processes and disks, half of the time: so many keep all processors busy. */
const JOBS = Math.min(availableParallelism() * 2, 8)

/** Folders whose files do all within their process. */
const INSIDE = /^test\/(apimachinery|apiserver|client|controllers|kinds|openapi|storage|support|syncer|tools)\//

/** Files that measure the heap, load a library anew, or begin with OpenSSL as it is: their process is theirs alone. */
const NOT_SHARING = new Set([
  'test/apiserver/endpoints/rankedTable.test.ts',
  'test/apimachinery/yamlWriter.test.ts',
  'test/apiserver/registry/updateGarbage.test.ts',
  'test/apiserver/flowcontrol/inFlight.test.ts',
  'test/program/certificateChains.test.ts',
  'test/storage/hub.test.ts',
  'test/storage/objectIndex.test.ts',
  'test/storage/projections.test.ts',
  'test/storage/recentEvents.test.ts',
])

/** So many share one: its start and the loading of the program cost as much as ten small files. The heap that stays hardly grows. */
const SHARED_BY = 40
/** Number of those that start processes of their own and wait for them: more would keep the last ones waiting. */
const WAITING_SHARED_BY = 8

/** Behind the limit of a process for itself, for its report. */
const GRACE_MS = 60_000

const named = process.argv.slice(2)
const files = (named.length === 0 ? ['test'] : named)
  .flatMap(path => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path]))
  .sort()

t.jobs = JOBS
t.setTimeout(0)
for (const file of files.filter(file => NOT_SHARING.has(file))) start(file, [file], FILE_LIMIT_MS)
const sharing = files.filter(file => !NOT_SHARING.has(file))
share(
  sharing.filter(file => !INSIDE.test(file)),
  WAITING_SHARED_BY,
  FILE_LIMIT_MS,
)
share(
  sharing.filter(file => INSIDE.test(file)),
  SHARED_BY,
  SILENCE_LIMIT_MS,
)

/** Neighbours share processes, so many each; none of them is silent for longer. */
function share(files: readonly string[], by: number, silenceMs: number): void {
  for (let from = 0; from < files.length; from += by) {
    const group = files.slice(from, from + by)
    const name = group.length > 1 ? `${group[0]} and ${group.length - 1} more` : group[0]!
    const env = { TEST_FILES: group.join(' '), TEST_SILENCE_MS: String(silenceMs) }
    start(name, [join(import.meta.dirname, 'support/fileGroup.ts')], silenceMs, env)
  }
}

function start(name: string, args: readonly string[], silenceMs: number, more: Record<string, string> = {}): void {
  // by NODE_OPTIONS tap asks for its record
  const node = [process.execPath, '--require', join(PROGRAM_ROOT, 'src/program/sourceImports.js')]
  const command = [`NODE_OPTIONS=${process.env.NODE_OPTIONS ?? ''}`, ...node, ...args]
  const env = { ...process.env, TAP_TIMEOUT: `${FILE_LIMIT_MS / 1000}`, ...more }
  const { subtest } = t.spawn('env', command, { name, env, buffered: true })
  if (!subtest) return
  // the process reports its hangs itself, unless a loop without a rest hangs: the runner ends it then
  const follow = ({ stdout }: Pick<ChildProcess, 'stdout'>) => {
    const alive = () => subtest.setTimeout(silenceMs + GRACE_MS)
    alive()
    stdout?.on('data', alive)
  }
  if (subtest.proc) follow(subtest.proc)
  else subtest.once('process', follow)
}
