/**
 * `npm run histories [-- --seed N --steps N --minutes N]`: histories of outages, restarts, restores and rollbacks, in turn, each from a
 * seed of its own. It exits 1 after a false claim of the center. `--seed N` alone plays that one again.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { playHistory } from './history.ts'

/** Far more than anything here takes; tries that failed wait up to a minute. */
const PATIENCE_MS = 120_000

const CLUSTERS = ['florin', 'guilder']

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string' },
    minutes: { type: 'string' },
    quiet: { type: 'boolean' },
  },
})
const steps = Number(values.steps ?? 60)
const endMs = performance.now() + Number(values.minutes ?? (values.seed === undefined ? 10 : 0)) * 60_000
let seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed)
let found = 0
let played = 0
do {
  const dir = mkdtempSync(join(tmpdir(), 'orrery-history-'))
  console.log(`seed ${seed}`)
  const tell = values.quiet ? () => {} : (line: string) => console.log(`  ${line}`)
  const finding = await playHistory({
    seed,
    steps,
    clusters: CLUSTERS,
    isLong: true,
    patienceMs: PATIENCE_MS,
    dir,
    tell,
  })
  rmSync(dir, { recursive: true, force: true })
  played++
  if (finding !== undefined) {
    found++
    console.log(`\nFOUND, --seed ${finding}\n`)
  }
  seed++
} while (performance.now() < endMs)
console.log(`${played} histories, ${found} with findings`)
process.exitCode = found > 0 ? 1 : 0
