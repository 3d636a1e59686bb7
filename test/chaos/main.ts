/**
 * `npm run chaos [-- --minutes 10] [--seed N] [--clusters 3]`: a server, clusters and their syncers as processes. People change spaces and
 * clusters while processes are killed and frozen and links break. At the end every cluster must hold exactly the content of the space, and
 * every status must be true. All of the clusters' own objects must be untouched. Exits 1 when it is not so.
 *
 * A seed gives the same steps, not the same moments: what the machine does between them is its own.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Seeded } from '../support/seeded.ts'
import { startFleet } from './fleet.ts'
import { type Chaos, runChaos } from './steps.ts'
import { judge, makeForeign } from './verdict.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    clusters: { type: 'string', default: '3' },
  },
})
const teardowns: (() => unknown)[] = []
const ends = { teardown: (call: () => unknown) => void teardowns.push(call) }
const dir = await mkdtemp(join(tmpdir(), 'orrery-chaos-'))
const names = ['florin', 'guilder', 'thaler', 'ducat', 'crown'].slice(0, Number(values.clusters))
console.log(`seed ${values.seed}, ${values.minutes} minutes, clusters ${names.join(', ')}`)
let code = 1
try {
  const fleet = await startFleet(ends, dir, names)
  const foreign = await makeForeign(fleet)
  const chaos: Chaos = { fleet, random: new Seeded(Number(values.seed)), faults: [], counts: new Map() }
  await runChaos(chaos, performance.now() + Number(values.minutes) * 60_000)
  for (const [what, times] of [...chaos.counts].sort()) console.log(`${String(times).padStart(6)} x ${what}`)
  const beganMs = performance.now()
  const verdict = await judge(fleet, foreign)
  const wrong = [...chaos.faults, ...verdict.wrong]
  const seconds = (performance.now() - beganMs) / 1000
  console.log(`${verdict.copies} copies, settled in ${seconds.toFixed(1)} s`)
  if (wrong.length === 0) for (const late of verdict.last) console.log(`last to be right: ${late}`)
  for (const fault of wrong) console.log(`WRONG: ${fault}`)
  console.log(wrong.length === 0 ? 'chaos: OK' : `chaos: FAILED, ${wrong.length} faults; data: ${dir}`)
  code = wrong.length === 0 ? 0 : 1
} finally {
  for (const call of teardowns.reverse()) await call()
  if (code === 0) await rm(dir, { recursive: true, force: true })
}
process.exit(code)
