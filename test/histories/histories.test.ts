/**
 * A short history from a fixed seed, with all events that take no long time: the center never claims `applied` falsely. Long ones, and
 * other orders: `npm run histories`.
 */
import { join } from 'node:path'
import t from 'tap'
import { PATIENCE_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { playHistory } from './history.ts'

const SEED = 2

t.test('whatever happens to server, cluster and syncers, the center claims only what is so', async t => {
  const options = { steps: 60, ofEach: true, clusters: ['florin'], isLong: false, patienceMs: PATIENCE_MS }
  const dir = join(temporaryDir(t), 'history')
  const tell = (line: string): void => void t.comment(`seed ${SEED}: ${line}`)
  t.equal(await playHistory({ seed: SEED, ...options, dir, tell }), undefined)
})
