/**
 * Short histories from fixed seeds, side by side. Each has all events that take no long time, in another order: the center never claims
 * `applied` falsely. Long ones: `npm run histories`.
 */
import { join } from 'node:path'
import t from 'tap'
import { PATIENCE_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { playHistory } from './history.ts'

const SEEDS = [2, 5]

t.test('whatever happens to server, cluster and syncers, the center claims only what is so', async t => {
  const options = { steps: 60, ofEach: true, clusters: ['florin'], isLong: false, patienceMs: PATIENCE_MS }
  const play = async (seed: number): Promise<void> => {
    const dir = join(temporaryDir(t), 'history')
    const tell = (line: string): void => void t.comment(`seed ${seed}: ${line}`)
    t.equal(await playHistory({ seed, ...options, dir, tell }), undefined)
  }
  await Promise.all(SEEDS.map(play))
})
