/**
 * `npm run attack [-- --only NAME,… | --family NAME,…] [--seconds N] [--profiles DIR] [--list]`: tries the attacks in turn, each on a
 * server of its own. It prints another tenant's delays, and exits 1 when one succeeds.
 */
import { mkdirSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { attacksOf, families } from './attacks/index.ts'
import { allowedMs, inMb, type Result, runAttack } from './runAttack.ts'
import { yieldProcessors } from './yielding.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    family: { type: 'string' },
    seconds: { type: 'string' },
    profiles: { type: 'string' },
    list: { type: 'boolean' },
  },
})
const named = (text: string | undefined): ((name: string) => boolean) =>
  text === undefined ? () => true : name => text.split(',').includes(name)
const chosen = Object.keys(families)
  .filter(named(values.family))
  .flatMap(family => attacksOf(family))
  .filter(({ name }) => named(values.only)(name))
if (chosen.length === 0)
  throw new Error(`no such attack; there are ${Object.keys(families).flatMap(namesOf).join(', ')}`)
if (values.list) {
  for (const { name, does } of chosen) console.log(`${name.padEnd(26)} ${does}`)
  process.exit()
}
if (values.profiles !== undefined) mkdirSync(values.profiles, { recursive: true })

const yields = yieldProcessors()
console.log(`Milliseconds at p99 of another tenant: GET, POST, event of a watch (from the sending of its POST), /livez.
Allowed is the larger of 100 and twice what it was before the attack (quiet), plus how late a timer of 10 ms was in the
process that measures (machine). * is more than 100, as it was felt, whatever the machine. Nothing may be refused.
${yields ? 'Who attacks has a processor only when nobody else wants it, as if on another machine.' : 'Who attacks takes processors from who is attacked: only root can tell the system otherwise.'}
Turns: processor time of a round of the server's loop, at p99 and the longest, however busy the machine is.
Loop: percent of the time in which it ran, and in which it was ready to and had no processor.
Memory is resident: before, at its highest, after a collection. ${cpus().length} processors, load ${loadavg()[0]!.toFixed(1)}.
`)
const COLUMNS = [26, 6, 12, 12, 12, 12, 8, 8, 10, 16, 8, 0]
const row = (cells: readonly string[]): string => cells.map((cell, i) => cell.padEnd(COLUMNS[i]!)).join(' ')
console.log(row(['attack', 's', 'GET', 'POST', 'event', 'livez', 'machine', 'loop', 'turns', 'MB', 'ready', 'heard']))
const failed: Result[] = []
for (const attack of chosen) {
  const result = await runAttack(attack, { seconds: Number(values.seconds ?? 6), profiles: values.profiles })
  console.log(lineOf(result))
  for (const fault of result.faults) console.log(`  FAILED: ${fault}`)
  if (result.faults.length > 0) failed.push(result)
}
console.log(
  `\n${chosen.length} attacks, ${failed.length} succeeded: ${failed.map(({ name }) => name).join(', ') || 'none'}`,
)
process.exitCode = failed.length > 0 ? 1 : 0

function namesOf(family: string): string[] {
  return attacksOf(family).map(({ name }) => name)
}

function lineOf({
  name,
  seconds,
  quiet,
  during,
  loop,
  turns,
  before,
  after,
  peakBytes,
  readyMs,
  codes,
}: Result): string {
  const felt = (['get', 'post', 'event', 'livez'] as const).map(what => {
    if (!quiet || !during) return '-'
    const { p99 } = during[what]
    const mark = p99 > allowedMs(quiet, during, what) ? '!' : p99 > 100 ? '*' : ''
    return `${p99.toFixed(0)}${mark} (${quiet[what].p99.toFixed(0)})`
  })
  const percent = (ms: number): string => (ms / seconds / 10).toFixed(0)
  const memory = before ? `${inMb(before.rss)} ${inMb(peakBytes)} ${after ? inMb(after.rss) : '-'}` : '-'
  const heard = Object.entries(codes).map(([code, count]) => `${count} x ${code === '0' ? 'ended' : code}`)
  return row([
    name,
    seconds.toFixed(0),
    ...felt,
    during?.machine.p99.toFixed(0) ?? '-',
    loop ? `${percent(loop.runMs)}+${percent(loop.readyMs)}` : '-',
    turns ? `${turns.p99.toFixed(0)} ${turns.longest.toFixed(0)}` : '-',
    memory,
    readyMs === undefined ? '-' : `${readyMs.toFixed(0)}`,
    heard.join(', '),
  ])
}
