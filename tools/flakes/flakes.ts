/**
 * `npm run flakes [-- --runs 20 --load 3 --shard I/N --seed N --out DIR FILE…]`: test files run again and again beside busy loops.
 * It prints which ever failed, with the seed. Results stay in DIR, outside the tree, so that shards and days add up; `--runs 0`
 * prints their sums alone. Exits 1 when a run of this call failed.
 *
 * A seed gives the same cases of properties, not the same moments: what the machine does between them is its own.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { failedIn, inShard, keepRun, type Run, runsIn, summary } from './results.ts'

/** Which depend most on what else a machine does. */
const DEFAULT = ['test/apiserver/threads', 'test/controllers', 'test/e2e', 'test/storage', 'test/syncer']
/** As long as `npm test` gives a file. */
const LIMIT_MS = 600_000
/** Ends with whoever started it, however that ended. */
const BUSY_LOOP = 'const { ppid } = process; while (process.ppid === ppid) for (let i = 0; i < 1e6; i++);'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '20' },
    load: { type: 'string', default: '3' },
    shard: { type: 'string', default: '1/1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    out: { type: 'string', default: join(tmpdir(), 'orrery-flakes') },
  },
})
const isWhole = [values.runs, values.load, values.seed].every(value => /^\d+$/.test(value))
const [runs, load, firstSeed] = [Number(values.runs), Number(values.load), Number(values.seed)]
const [, shard, of] = /^(\d+)\/(\d+)$/.exec(values.shard)?.map(Number) ?? []
if (!isWhole || shard === undefined || of === undefined || shard < 1 || shard > of)
  throw new Error('--runs, --load and --seed are whole numbers, --shard is I/N with I from 1 to N')
const out = resolve(values.out)
if (!relative(PROGRAM_ROOT, out).startsWith('..')) throw new Error(`--out ${out} is in the tree: name a folder outside`)
mkdirSync(out, { recursive: true })

const all = (positionals.length === 0 ? DEFAULT : positionals)
  .flatMap(path => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path]))
  .map(path => relative(PROGRAM_ROOT, resolve(path)))
const files = inShard([...new Set(all)].sort(), shard, of)
const commit = commitOf()
const children = new Set<ChildProcess>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of children) end(child)
    process.exit(1)
  })
}

if (runs > 0)
  console.log(`${files.length} files, ${runs} times, beside ${load} busy loops; first seed ${firstSeed}; ${out}`)
const loops = Array.from({ length: runs > 0 ? load : 0 }, () => started(['-e', BUSY_LOOP], {}))
let seed = firstSeed
for (let round = 1; round <= runs; round++) {
  for (const file of files) {
    const run = await runOnce(file, seed++)
    keepRun(out, run)
    if (run.failed.length === 0) continue
    process.exitCode = 1
    console.log(`round ${round}: ${file} --seed ${run.seed} FAILED: ${run.failed.join('; ')}\n  ${run.output}`)
  }
}
for (const loop of loops) end(loop)
for (const line of summary(runsIn(out))) console.log(line)

/** As `npm test` runs it, in a process of its own. */
async function runOnce(file: string, seed: number): Promise<Run> {
  const args = ['--require', join(PROGRAM_ROOT, 'src/program/sourceImports.js')]
  args.push(file)
  const startedMs = performance.now()
  const child = started(args, { SEED: String(seed), TAP_TIMEOUT: String(LIMIT_MS / 1000) })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', part => (text += part))
  const timer = setTimeout(() => end(child), LIMIT_MS)
  const [code, signal] = await once(child, 'exit')
  clearTimeout(timer)
  end(child)
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10
  const run = { file, seed, load, seconds, commit }
  if (code === 0) return { ...run, failed: [] }
  const output = join(out, `${file.replaceAll('/', '.')}-${seed}.tap`)
  writeFileSync(output, text)
  return { ...run, failed: failedIn(text, `ended with ${signal ?? `code ${code}`}`), output }
}

/** Leads a group of its own, to which all belong that it starts. */
function started(args: readonly string[], more: Record<string, string>): ChildProcess {
  const env = { ...process.env, ...more }
  const child = spawn(process.execPath, args, {
    cwd: PROGRAM_ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  return child
}

function end(child: ChildProcess): void {
  children.delete(child)
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    // the whole group has ended by itself
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function commitOf(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: PROGRAM_ROOT, encoding: 'utf8' }).trim()
  return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+'}`
}
