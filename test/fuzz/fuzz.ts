/**
 * `node test/fuzz/fuzz.ts [--minutes 10] [--seed N] [--only TARGET]`: attacks a server of its own and exits 1 when it finds
 * a fault. A finding names the seed of its round: `--seed N --only TARGET` starts with that round.
 */
import { parseArgs } from 'node:util'
import { type Finding, runTargets } from './run.ts'
import { targets } from './targets/index.ts'
import { World } from './world.ts'

/** What caches and pools may have grown by after everything that the fuzz made is gone. */
const GROWTH_LIMIT_MB = 200

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
})
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed)
const ms = Number(values.minutes ?? 10) * 60_000
const chosen = targets.filter(target => values.only === undefined || values.only.split(',').includes(target.name))
if (chosen.length === 0) throw new Error(`no such target; there are ${targets.map(target => target.name).join(', ')}`)

const world = await World.start()
console.log(`seed ${seed}`)
const cases: Record<string, number> = {}
let warm = 0
let ended = true
const findings = await runTargets(world, chosen, {
  seed,
  ms,
  feelsDelays: true,
  async onRound(round, target, runs) {
    cases[target] = (cases[target] ?? 0) + runs
    if (target !== chosen.at(-1)!.name) return
    const { heapMb: now } = await world.state()
    if (round === 2) warm = now
    const slow = `slowest ${Math.round(world.slowestMs)} ms (${world.slowest.slice(0, 300)})`
    console.log(`round ${round}: ${world.asked} requests, heap ${now} MB, ${slow}`)
    if (world.slowestMs > 500) console.log(world.slowestBody.toString('latin1').slice(0, 300))
    world.slowestMs = 0
  },
  onFinding(finding) {
    console.log(
      `\nFOUND by ${finding.target}, --seed ${finding.seed} (path ${finding.path})\n${finding.text.slice(0, 6000)}\n`,
    )
  },
}).catch((error: unknown): Finding[] => {
  ended = false
  console.log(`\nTHE FUZZ ITSELF FAILED: ${stackOf(error)}\n`)
  return []
})
const { heapMb: end } = await world.state().catch(() => ({ heapMb: warm }))
console.log('closing')
await world.close()
const lost = findings.length === 0 ? world.wrongAnswers.slice(0, 10) : []
for (const fault of [...world.faults, ...lost]) console.log(`\nFOUND at the end\n${fault}\n`)
const grown = warm > 0 && end - warm > GROWTH_LIMIT_MB
if (grown) console.log(`\nFOUND: the heap grew from ${warm} to ${end} MB\n`)
console.log(`codes: ${JSON.stringify(world.codes)}`)
console.log(`${world.asked} requests, cases: ${JSON.stringify(cases)}, findings: ${findings.length}`)
process.exitCode = !ended || findings.length > 0 || lost.length > 0 || world.faults.length > 0 || grown ? 1 : 0

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : String(error)
}
