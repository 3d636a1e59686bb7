/** A syncer with the order to leave its cluster, or to hold still there: its work, its restraint, its answers. */
import t from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { Logger } from '../../../src/client/logger.ts'
import { DOWNSYNCED } from '../../../src/placement/words/placement.ts'
import { ClusterAllowance } from '../../../src/syncer/mailbox/clusterAllowance.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, pairIn, sent } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const THE_ONE = 'syncerconfigs.edge.kubestellar.io the-one'
const RECORD = 'configmaps kube-system/orrery-syncer'
const [A, B] = ['configmaps app/a', 'configmaps app/b']
const center = await startCenter(t, { expectsTrouble: true })

const order = (p: Pair, annotations: Record<string, string | null>) =>
  p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { metadata: { annotations } })
const leave = (p: Pair, policy: string) => order(p, { 'edge.kubestellar.io/leave': policy })
const pause = (p: Pair, value: string | null) => order(p, { 'edge.kubestellar.io/paused': value })
const says =
  (wanted: (status: Record<string, unknown>) => boolean) =>
  ({ status }: KubeObject): boolean =>
    isRecord(status) && wanted(status)
const isDone = (policy: string) =>
  says(({ leaving }) => isRecord(leaving) && leaving.policy === policy && leaving.done === true)
const marks = ({ metadata }: KubeObject): string[] => [
  ...Object.keys(metadata.labels ?? {}),
  ...Object.keys(metadata.annotations ?? {}).filter(key => key.includes('kubestellar')),
]
/** ConfigMap b was in the cluster before, and is taken over. */
async function withAdopted(t: Parameters<typeof pairIn>[1], logger?: Logger): Promise<Pair> {
  const p = await pairIn(center, t)
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.cluster.create(MAPS, configMap('b', { mine: 'yes' }))
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await p.mailbox.create(MAPS, sent('b', { x: '1' }))
  p.start(logger, undefined, { adoptExisting: true })
  await center.world.present(p.clusterId, A)
  await center.world.present(p.clusterId, B, ({ data }) => isRecord(data) && data.x === '1')
  return p
}

t.test('leaving, the workload stays and bears no mark; what the mailbox then says goes nowhere', async t => {
  const p = await withAdopted(t)
  const { world } = center
  await leave(p, 'Orphan')
  await world.present(p.mailboxId, THE_ONE, isDone('Orphan'))
  for (const key of [A, B]) t.same(marks(world.get(p.clusterId, key)!), [], key)
  t.same(world.get(p.clusterId, B)!.data, { mine: 'yes', x: '1' })
  t.notOk(world.get(p.clusterId, RECORD))
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'a' })
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'b' }, 'merge', { data: { x: '2' } })
  await order(p, { 'edge.kubestellar.io/leave': null })
  await p.mailbox.delete(CONFIGS, { name: 'the-one' })
  await p.settled()
  t.ok(world.get(p.clusterId, A))
  t.match(world.get(p.clusterId, B)!.data, { x: '1' })
})

t.test('what stayed is followed again when the cluster comes back, and never deleted', async t => {
  const p = await withAdopted(t)
  const { world } = center
  await leave(p, 'Orphan')
  await world.present(p.mailboxId, THE_ONE, isDone('Orphan'))
  const before = [A, B].map(key => world.get(p.clusterId, key)!.metadata.uid)
  const back = await pairIn(center, t)
  back.start(undefined, undefined, { cluster: p.cluster })
  for (const name of ['a', 'b']) await back.mailbox.create(MAPS, sent(name, { x: '2' }))
  for (const key of [A, B]) await world.present(p.clusterId, key, ({ data }) => isRecord(data) && data.x === '2')
  for (const name of ['a', 'b']) await back.mailbox.delete(MAPS, { namespace: 'app', name })
  await back.settled()
  t.same(
    [A, B].map(key => world.get(p.clusterId, key)!.metadata.uid),
    before,
    'neither what was only made there and never changed',
  )
})

t.test('leaving with its workload, the syncer deletes what it made, and frees what it took over', async t => {
  const { logger, lines } = recordingLogger()
  const p = await withAdopted(t, logger)
  const { world } = center
  await pause(p, 'true')
  await world.present(
    p.mailboxId,
    THE_ONE,
    says(({ paused }) => paused === true),
  )
  const unmarked = { metadata: { annotations: { [DOWNSYNCED]: null } } }
  await p.cluster.patch(MAPS, { namespace: 'app', name: 'a' }, 'merge', unmarked)
  await leave(p, 'Delete')
  await world.present(p.mailboxId, THE_ONE, isDone('Delete'))
  const deletions = lines.filter(({ message }) => message.startsWith('deleted from'))
  t.match(deletions, [
    {
      fields: { resource: 'configmaps', namespace: 'app', name: 'a' },
      message: 'deleted from the cluster: the cluster leaves, with what was placed there',
    },
  ])
  t.equal(deletions.length, 1, 'each deletion is told, with its cause')
  t.notOk(world.get(p.clusterId, A))
  t.same(marks(world.get(p.clusterId, B)!), [])
  t.ok(world.get(p.clusterId, 'namespaces app'), 'the cluster had it before')
})

t.test('what resists is told, and nothing is done until it is over', async t => {
  const p = await withAdopted(t)
  const { world } = center
  const finalizers = ['example.com/backup']
  await p.cluster.patch(MAPS, { namespace: 'app', name: 'a' }, 'merge', { metadata: { finalizers } })
  await leave(p, 'Delete')
  const told = await world.present(
    p.mailboxId,
    THE_ONE,
    says(({ leaving }) => isRecord(leaving) && leaving.message === 'ConfigMap/app/a is being deleted'),
  )
  t.match(told.status, { leaving: { done: false, remaining: 1 } })
  t.ok(world.get(p.clusterId, RECORD))
  await leave(p, 'Orphan')
  const done = await world.present(p.mailboxId, THE_ONE, isDone('Orphan'))
  t.same(marks(world.get(p.clusterId, A)!), [], 'another order ends the first')
  const { leaving } = done.status as Record<string, unknown>
  t.same(leaving, { policy: 'Orphan', done: true, remaining: 0 }, 'what was told before is no more')
})

t.test('what the flags of the syncer do not allow stays as it is', async t => {
  const p = await pairIn(center, t)
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  const first = p.start()
  await center.world.present(p.clusterId, A)
  await first.stop()
  const { logger } = recordingLogger()
  p.start(logger, undefined, { allowance: new ClusterAllowance({ namespaces: ['else'] }) })
  await leave(p, 'Delete')
  await center.world.present(p.mailboxId, THE_ONE, isDone('Delete'))
  t.ok(center.world.get(p.clusterId, A))
})

t.test('a pause outlives a restart; then everything is made up for', async t => {
  const p = await pairIn(center, t)
  const { world } = center
  for (const name of ['a', 'b']) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
  const first = p.start()
  for (const key of [A, B]) await world.present(p.clusterId, key)
  await pause(p, 'true')
  await world.present(
    p.mailboxId,
    THE_ONE,
    says(({ paused }) => paused === true),
  )
  await first.stop()
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'a' })
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'b' }, 'merge', { data: { x: '2' } })
  await p.start().synced
  await p.settled()
  t.ok(world.get(p.clusterId, A))
  t.same(world.get(p.clusterId, B)!.data, { x: '1' })
  await pause(p, null)
  await world.absent(p.clusterId, A)
  await world.present(p.clusterId, B, ({ data }) => isRecord(data) && data.x === '2')
  await world.present(
    p.mailboxId,
    THE_ONE,
    says(({ paused }) => paused === undefined),
  )
})
