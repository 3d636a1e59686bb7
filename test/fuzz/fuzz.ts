/**
 * `node test/fuzz/fuzz.ts [--minutes 10] [--seed N] [--only TARGET]`: attacks a server of its own and exits 1 when it finds
 * a fault. A finding names the seed of its round: `--seed N --only TARGET` starts with that round. A quarter of the time goes to
 * the properties of `npm test`, with many more cases: `--only properties` for these alone.
 */
import { parseArgs } from 'node:util'
import { PROPERTIES, playProperties } from './properties.ts'
import { type Finding, runTargets } from './run.ts'
import { targets } from './targets/index.ts'
import { World } from './world.ts'

/** Bound on the growth of caches and pools after all objects of the fuzz are gone. */
const GROWTH_LIMIT_MB = 200

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
})
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed)
const ms = Number(values.minutes ?? 10) * 60_000
const isChosen = (name: string): boolean => values.only === undefined || values.only.split(',').includes(name)
const chosen = targets.filter(({ name }) => isChosen(name))
if (chosen.length === 0 && !isChosen(PROPERTIES)) {
  const names = [...targets.map(({ name }) => name), PROPERTIES]
  throw new Error(`no such target; there are ${names.join(', ')}`)
}

console.log(`seed ${seed}`)
const propertyMs = !isChosen(PROPERTIES) ? 0 : chosen.length === 0 ? ms : ms / 4
const broken = propertyMs === 0 ? [] : await playProperties({ seed, ms: propertyMs, onFinding })
if (chosen.length === 0) process.exit(broken.length > 0 ? 1 : 0)

const world = await World.start()
const cases: Record<string, number> = {}
let warm = 0
let ended = true
const findings = await runTargets(world, chosen, {
  seed,
  ms: ms - propertyMs,
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
  onFinding,
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
console.log(`${world.asked} requests, cases: ${JSON.stringify(cases)}, findings: ${findings.length + broken.length}`)
const found = findings.length + broken.length + lost.length + world.faults.length
process.exitCode = !ended || found > 0 || grown ? 1 : 0

function onFinding({ target, seed, path, text }: Finding): void {
  console.log(`\nFOUND by ${target}, --seed ${seed} (path ${path})\n${text.slice(0, 6000)}\n`)
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : String(error)
}
