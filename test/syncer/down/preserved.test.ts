/** Objects that stay in a cluster without a placement, against real API servers in this process. */
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import {
  ADOPT,
  CREATE_ONLY,
  KEEP_ON_DELETE,
  PRESERVE_ANNOTATION,
  PROJECTED_LABEL,
} from '../../../src/placement/words/placement.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from '../support/pair.ts'

const AT_A = { namespace: 'app', name: 'a' }
const KEPT = { [PRESERVE_ANNOTATION]: 'true' }
const center = await startCenter(t, { expectsTrouble: true })
const pair = (test: Test): Promise<Pair> => pairIn(center, test)
const isUnmarked = ({ metadata }: { metadata: { labels?: object; annotations?: object } }): boolean =>
  !Object.keys({ ...metadata.labels, ...metadata.annotations }).some(key => key.includes('kubestellar.io'))

t.test('what is to be preserved stays without a mark; adopted it is followed again, and never deleted', async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }, { annotations: KEPT }))
  const made = await center.world.present(p.clusterId, 'configmaps app/a')
  t.equal(made.metadata.labels?.[PROJECTED_LABEL], 'yes')
  await p.mailbox.delete(MAPS, AT_A)
  const left = await center.world.present(p.clusterId, 'configmaps app/a', isUnmarked)
  t.equal(left.metadata.uid, made.metadata.uid)
  t.same(left.data, { x: '1' })
  await p.mailbox.create(MAPS, sent('a', { x: '2' }))
  await center.world.present(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one', ({ status }) =>
    JSON.stringify(status).includes('AlreadyInCluster'),
  )
  t.same((await p.cluster.get(MAPS, AT_A)).data, { x: '1' }, 'it belongs to nobody, and is not taken over unasked')
  await p.mailbox.patch(MAPS, AT_A, 'merge', { metadata: { annotations: { [ADOPT]: 'true' } } })
  await center.world.present(p.clusterId, 'configmaps app/a', ({ data }) => isRecord(data) && data.x === '2')
  await p.mailbox.create(MAPS, sent('b'))
  await center.world.present(p.clusterId, 'configmaps app/b')
  await p.mailbox.delete(MAPS, AT_A)
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'b' })
  await center.world.absent(p.clusterId, 'configmaps app/b')
  await p.settled()
  t.equal((await p.cluster.get(MAPS, AT_A)).metadata.uid, made.metadata.uid)
})

t.test('so it is when the word came only with the end, or while the syncer was away', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a', {}, { labels: PROJECTED }))
  await p.mailbox.create(MAPS, sent('b', {}, { annotations: KEPT }))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await center.world.present(
    p.clusterId,
    'configmaps app/b',
    ({ metadata }) => metadata.annotations?.[PRESERVE_ANNOTATION] === 'true',
  )
  await p.mailbox.patch(MAPS, AT_A, 'merge', { metadata: { annotations: KEPT } })
  await p.mailbox.delete(MAPS, AT_A)
  await center.world.present(p.clusterId, 'configmaps app/a', isUnmarked)
  await first.stop()
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'b' })
  p.start()
  await center.world.present(p.clusterId, 'configmaps app/b', isUnmarked)
})

t.test('an object says itself that clusters keep it', async t => {
  const p = await pair(t)
  const first = p.start()
  const annotations = { [KEEP_ON_DELETE]: 'true' }
  for (const name of ['a', 'b']) await p.mailbox.create(MAPS, sent(name, { x: '1' }, { annotations }))
  for (const name of ['a', 'b']) await center.world.present(p.clusterId, `configmaps app/${name}`)
  await p.mailbox.delete(MAPS, AT_A)
  const left = await center.world.present(p.clusterId, 'configmaps app/a', isUnmarked)
  t.same(left.data, { x: '1' })
  await first.stop()
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'b' })
  p.start()
  await center.world.present(p.clusterId, 'configmaps app/b', isUnmarked)
})

t.test('what is only to be created is left as it is, whoever made it, and goes when the syncer did', async t => {
  const p = await pair(t)
  const annotations = { [CREATE_ONLY]: 'true' }
  const is = (x: string) => (object: KubeObject) => isRecord(object.data) && object.data.x === x
  await p.cluster.create(NAMESPACES, namespace('app'))
  const theirs = await p.cluster.create(MAPS, configMap('b', { x: 'theirs' }))
  p.start()
  for (const name of ['a', 'b']) await p.mailbox.create(MAPS, sent(name, { x: '1' }, { annotations }))
  await center.world.present(p.clusterId, 'configmaps app/a', is('1'))
  await p.cluster.patch(MAPS, AT_A, 'merge', { data: { x: 'local' } })
  await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '2' } })
  await p.settled()
  t.ok(is('local')(await p.cluster.get(MAPS, AT_A)))
  t.same(await p.cluster.get(MAPS, { ...AT_A, name: 'b' }), theirs, 'not even a label')
  const { status } = await p.mailbox.get(CONFIGS, { name: 'the-one' })
  t.notMatch(JSON.stringify(status ?? {}), 'AlreadyInCluster', 'which is all that was asked for')
  await p.mailbox.patch(MAPS, AT_A, 'merge', { metadata: { annotations: { [CREATE_ONLY]: null } } })
  await center.world.present(p.clusterId, 'configmaps app/a', is('2'))
  await p.mailbox.patch(MAPS, AT_A, 'merge', { metadata: { annotations } })
  for (const name of ['a', 'b']) await p.mailbox.delete(MAPS, { namespace: 'app', name })
  await center.world.absent(p.clusterId, 'configmaps app/a')
  await p.settled()
  t.same(await p.cluster.get(MAPS, { ...AT_A, name: 'b' }), theirs)
})
