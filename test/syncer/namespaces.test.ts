/** When a Namespace of a cluster goes, and when it never does, against real API servers in this process. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { DOWNSYNCED, OWNER_ANNOTATION } from '../../src/placement/words/placement.ts'
import { startCenter } from '../support/center.ts'
import { CONFIGS, configMap, MAPS, NAMESPACES, namespace } from './support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from './support/pair.ts'

const AT_A = { namespace: 'app', name: 'a' }
const center = await startCenter(t, { expectsTrouble: true })
const pair = (test: Test): Promise<Pair> => pairIn(center, test)

t.test('a Namespace is not deleted while the mailbox has it, even when nothing in it is wanted any more', async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await p.mailbox.delete(MAPS, AT_A)
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { namespacedObjects: [] } })
  await center.world.absent(p.clusterId, 'configmaps app/a')
  await p.settled()
  t.notOk(center.world.get(p.clusterId, 'namespaces app')?.metadata.deletionTimestamp)
})

t.test('a Namespace that is deleted in the cluster comes back with its objects', async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(MAPS, sent('a'))
  const before = await center.world.present(p.clusterId, 'configmaps app/a')
  await p.cluster.delete(NAMESPACES, { name: 'app' })
  await center.world.present(p.clusterId, 'configmaps app/a', ({ metadata }) => metadata.uid !== before.metadata.uid)
})

t.test('a Namespace that nobody placed stays while others have something in it, and goes when it is empty', async t => {
  const p = await pair(t)
  const owned = (owner: string | null) => ({ metadata: { annotations: { [OWNER_ANNOTATION]: owner } } })
  const names = { group: '', resource: 'configmaps', apiVersion: 'v1' }
  const objectsByNamespace = ['app', 'late'].map(namespace => ({ namespace, names: ['*'] }))
  const spec = { namespacedObjects: [{ ...names, objectsByNamespace }] }
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec })
  // Placed until now.
  await p.mailbox.create(NAMESPACES, namespace('late', PROJECTED))
  await p.mailbox.patch(NAMESPACES, { name: 'late' }, 'merge', owned('abc'))
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await p.mailbox.create(MAPS, sent('a', {}, { labels: PROJECTED, namespace: 'late' }))
  await center.world.present(p.clusterId, 'configmaps app/a')
  const marked = ({ metadata }: KubeObject): boolean => metadata.annotations?.[DOWNSYNCED] !== undefined
  await center.world.present(p.clusterId, 'namespaces late', marked)
  await center.world.present(p.clusterId, 'configmaps late/a')
  await p.mailbox.patch(NAMESPACES, { name: 'late' }, 'merge', owned(null))
  await center.world.present(p.clusterId, 'namespaces late', object => !marked(object))
  await first.stop()
  await p.cluster.create(MAPS, configMap('foreign', {}, { namespace: 'late' }))
  for (const name of ['app', 'late']) await p.mailbox.delete(NAMESPACES, { name })
  await center.world.absent(p.mailboxId, 'namespaces app')
  await center.world.absent(p.mailboxId, 'namespaces late')
  p.start()
  await center.world.absent(p.clusterId, 'configmaps app/a')
  await center.world.absent(p.clusterId, 'configmaps late/a')
  await center.world.absent(p.clusterId, 'namespaces app')
  await p.settled()
  t.notOk((await p.cluster.get(NAMESPACES, { name: 'late' })).metadata.deletionTimestamp)
})

t.test('a Namespace that was in the cluster before stays, empty or not', async t => {
  const p = await pair(t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await p.mailbox.delete(NAMESPACES, { name: 'app' })
  await center.world.absent(p.clusterId, 'configmaps app/a')
  await p.settled()
  t.notOk((await p.cluster.get(NAMESPACES, { name: 'app' })).metadata.deletionTimestamp)
})

t.test('a Namespace that came along goes in one run too, after what was in it', async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await p.mailbox.delete(NAMESPACES, { name: 'app' })
  await center.world.absent(p.clusterId, 'namespaces app')
})

t.test('a Namespace that was placed goes with its source', async t => {
  const p = await pair(t)
  const metadata = { annotations: { [OWNER_ANNOTATION]: 'abc' } }
  await p.mailbox.patch(NAMESPACES, { name: 'app' }, 'merge', { metadata })
  p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await p.mailbox.delete(NAMESPACES, { name: 'app' })
  await center.world.absent(p.clusterId, 'namespaces app')
})
