/** `npm run flakes` reports files that fail always, sometimes and never, and keeps the results for the next call. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { failedIn, inShard } from '../../../tools/flakes/results.ts'
import { temporaryDir } from '../../support/server.ts'

const TOOL = join(import.meta.dirname, '../../../tools/flakes/flakes.ts')

function run(out: string, ...args: string[]): { code: number | null; lines: string[]; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [TOOL, '--out', out, ...args], { encoding: 'utf8' })
  return { code: status, lines: stdout.trimEnd().split('\n'), err: stderr }
}

t.test('two shards and a later call add up, each failure with its seed and its output', async t => {
  const dir = temporaryDir(t)
  const out = join(dir, 'out')
  const files = { 'even.test.mjs': 'process.env.SEED % 2 === 0', 'right.test.mjs': 'true', 'wrong.test.mjs': 'false' }
  const paths = Object.entries(files).map(([name, isRight]) => {
    const says = `console.log(ok ? 'ok 1 - all' : 'not ok 1 - all # time=2ms')`
    writeFileSync(join(dir, name), `const ok = ${isRight}\n${says}\nprocess.exit(ok ? 0 : 1)\n`)
    return join(dir, name)
  })
  const first = run(out, '--runs', '2', '--load', '1', '--seed', '10', '--shard', '1/2', ...paths)
  t.equal(first.code, 1, first.err)
  t.match(first.lines.at(-1), /^4 runs of 2 files in 0\.0 hours: 2 failed$/, 'the even ones pass')
  const second = run(out, '--runs', '2', '--load', '0', '--seed', '10', '--shard', '2/2', ...paths)
  t.equal(second.code, 0, second.err)
  const third = run(out, '--runs', '2', '--load', '0', '--seed', '20', paths[0]!)
  t.equal(third.code, 1)
  t.match(third.lines.at(-1), /^8 runs of 3 files in 0\.0 hours: 3 failed$/)
  const sums = run(out, '--runs', '0')
  t.equal(sums.code, 0)
  const even = sums.lines.findIndex(line => /even\.test\.mjs: 1 of 4 runs failed$/.test(line))
  t.match(sums.lines[even + 1], /^ {2}--seed 21 --load 0 at [0-9a-f]+\+?: all$/)
  t.match(readFileSync(sums.lines[even + 2]!.trim(), 'utf8'), /^not ok 1 - all/)
  t.notOk(sums.lines.some(line => line.includes('right.test.mjs')))
})

t.test('what cannot be read is refused, and so is a folder in the tree', async t => {
  const out = temporaryDir(t)
  for (const args of [
    ['--runs', 'many'],
    ['--shard', '3/2'],
    ['--shard', '0/2'],
    ['--load', ''],
    ['--seed', '1.5'],
  ])
    t.match(run(out, ...args), { code: 1, err: /whole numbers|from 1 to N/ }, args.join(' '))
  t.match(run(join(import.meta.dirname, 'out')), { code: 1, err: /is in the tree/ })
  t.same(readdirSync(out), [])
})

t.test('names of failed tests, and parts of a list', async t => {
  const tap = '    not ok 2 - late # time=4ms\n    ok 3\nnot ok 1 - outer # time=9ms\nnot ok 2\nnot ok 3 - late\n'
  t.same(failedIn(tap, 'x'), ['late', 'outer', 'a test without a name'])
  t.same(failedIn('ok 1\n', 'ended with SIGKILL'), ['ended with SIGKILL'])
  t.same(
    [1, 2, 3].map(i => inShard(['a', 'b', 'c', 'd'], i, 3).join('')),
    ['ad', 'b', 'c'],
  )
})
