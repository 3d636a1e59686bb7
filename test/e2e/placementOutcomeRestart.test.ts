/** A center's knowledge of clusters ends with it: the next one claims nothing before their syncers have reported again. */
import t from 'tap'
import { temporaryDir } from '../support/server.ts'
import { at, is, map } from '../syncer/support/installation.ts'
import { MAPS, PLACEMENTS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { Florin, has } from './support/florin.ts'

const EP = { name: 'p' }
const applied = has('Applied', 'True', 'AllApplied')

t.test('a center that was restarted claims nothing before it is told again', async t => {
  const state = ['--state-dir', temporaryDir(t)]
  const florin = await Florin.beginWithProcess(t, { flags: state, centerIsProcess: true })
  const { wds, cluster, mailbox } = florin
  await until(wds, PLACEMENTS, EP, applied)
  // a syncer with an immediate answer might report before anything is written
  florin.syncer.freeze()
  await florin.endCenter()
  await florin.backUp()
  await florin.startCenter()
  await until(wds, PLACEMENTS, EP, has('Applied', 'Unknown', 'Stale'))
  florin.syncer.thaw()
  await until(wds, PLACEMENTS, EP, applied)

  t.comment('nor one whose store was restored, also when it has written as much again as it has forgotten')
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '2' } })
  await until(cluster, MAPS, at('page'), is('data', { x: '2' }))
  await until(wds, PLACEMENTS, EP, applied)
  await florin.syncer.end('SIGTERM')
  const forgotten = Number((await wds.list(MAPS, { limit: 1 })).resourceVersion)
  await florin.endCenter()
  await florin.restore()
  await florin.startCenter()
  // what it found written is from before
  await until(wds, PLACEMENTS, EP, has('Applied', 'Unknown', 'Stale'))
  for (let last = 0, i = 0; last <= forgotten; i++)
    last = Number((await wds.create(MAPS, map(`other-${i}`, {}))).metadata.resourceVersion)
  await florin.serve(mailbox, ...state)
  await until(wds, PLACEMENTS, EP, applied)
  t.match(await cluster.get(MAPS, at('page')), { data: { x: '1' } }, 'what is told applied is in the cluster')
})
