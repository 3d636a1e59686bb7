/** In each form of the program, a long-running process has the settings of a clone. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ENVIRONMENT, FLAGS, FRUGAL_FLAGS, SERVER_FLAGS } from '../../../../src/cli/orrery/process/tunedProcess.ts'

const BIN = join(import.meta.dirname, '../../../../bin')
const TUNED = join(import.meta.dirname, '../../../../src/cli/orrery/process/tunedProcess.ts')

t.test('it is what bin/ says', async t => {
  const run = readFileSync(join(BIN, 'run.sh'), 'utf8')
  t.ok(run.includes(`exec "$node" ${FLAGS.join(' ')} $more `))
  t.ok(run.includes(`start) more='${SERVER_FLAGS.join(' ')}' ;;`))
  t.ok(run.includes(`syncer) more='${FRUGAL_FLAGS.join(' ')}' ;;`))
  const orrery = readFileSync(join(BIN, 'orrery'), 'utf8')
  for (const [name, value] of Object.entries(ENVIRONMENT)) t.ok(orrery.includes(`\${${name}:-${value}}`), name)
})

t.test('one that does not know where its program is, as in a root without /proc, runs as it is', async t => {
  const script = `
    import { becomeTuned } from ${JSON.stringify(TUNED)}
    process.execPath = 'orrery'
    becomeTuned(['start'])
    console.log('runs')`
  const file = join(t.testdir({ 'x.js': script, 'package.json': '{"type":"module"}' }), 'x.js')
  t.equal(execFileSync(process.execPath, [file], { encoding: 'utf8' }), 'runs\n')
})

t.test('a process becomes one that was told, once, and keeps what was said otherwise', async t => {
  const script = `
    import { becomeTuned } from ${JSON.stringify(TUNED)}
    becomeTuned(process.argv.slice(2))
    console.log(JSON.stringify([process.execArgv, process.env.MALLOC_ARENA_MAX, process.env.ORRERY_TUNED ?? null]))`
  const file = join(t.testdir({ 'x.js': script, 'package.json': '{"type":"module"}' }), 'x.js')
  const told = (...args: string[]): unknown =>
    JSON.parse(
      execFileSync(process.execPath, [file, ...args], {
        env: { MALLOC_ARENA_MAX: '1', PATH: process.env.PATH },
        encoding: 'utf8',
      }),
    )
  t.strictSame(told('start'), [[...FLAGS, ...SERVER_FLAGS], '1', null])
  t.strictSame(told('syncer'), [[...FLAGS, ...FRUGAL_FLAGS], '1', null])
  t.strictSame(told('version'), [[], '1', null])
})
