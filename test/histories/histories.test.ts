/** A short history from a fixed seed: the center never says applied of what is not. Long ones: `npm run histories`. */
import { join } from 'node:path'
import t from 'tap'
import { PATIENCE_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { playHistory } from './history.ts'

t.test('whatever happens to server, cluster and syncers, the center claims only what is so', async t => {
  const dir = join(temporaryDir(t), 'history')
  const options = { steps: 16, clusters: ['florin'], isLong: false, patienceMs: PATIENCE_MS, dir }
  const tell = (line: string): void => void t.comment(line)
  t.equal(await playHistory({ seed: 4, ...options, tell }), undefined)
})
