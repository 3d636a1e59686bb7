/** Order in which objects leave a cluster, and reports of those that do not go, against real API servers in this process. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { CARRIES_ANNOTATION, CARRIES_PROJECTED, WAVE } from '../../../src/placement/words/placement.ts'
import { RemovalOrder } from '../../../src/syncer/down/removalOrder.ts'
import { goingAway } from '../../../src/syncer/tells/verdicts.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { startCenter } from '../../support/center.ts'
import { ACCOUNTS, CONFIGS, configMap, DEPLOYMENTS, MAPS } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'

const inApp = (name: string, more: object = {}) => ({ name, namespace: 'app', labels: PROJECTED, ...more })
const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inApp('runner') }
const map = (name: string, more: object = {}): KubeObject => configMap(name, {}, inApp(name, more))
const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: inApp('web'),
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const center = await startCenter(t, { expectsTrouble: true })
const gone: string[] = []
center.world.onChange(({ space, key, type }) => {
  if (type === 'DELETED') gone.push(`${space} ${key}`)
})
async function pair(test: Parameters<typeof pairIn>[1]): Promise<Pair> {
  const p = await pairIn(center, test, {})
  const annotations = { [CARRIES_ANNOTATION]: CARRIES_PROJECTED }
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { metadata: { annotations } })
  return p
}
const KEYS = ['configmaps app/a', 'configmaps app/late', 'deployments.apps app/web', 'serviceaccounts app/runner']

for (const restarted of [false, true])
  t.test(`what came last goes first ${restarted ? 'after a restart' : ''}`, async t => {
    const p = await pair(t)
    // related removals arrive within a moment, which takes its time
    const first = p.start(undefined, systemClock, { quietMs: 60_000 })
    await p.mailbox.create(ACCOUNTS, account)
    await p.mailbox.create(MAPS, map('a'))
    await p.mailbox.create(DEPLOYMENTS, deployment)
    for (const key of KEYS.filter(key => !key.includes('late'))) await center.world.present(p.clusterId, key)
    const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
    const options = { subresource: 'status' }
    await p.cluster.patch(DEPLOYMENTS, { namespace: 'app', name: 'web' }, 'merge', { status }, options)
    await p.mailbox.create(MAPS, map('late', { annotations: { [WAVE]: '1' } }))
    await center.world.present(p.clusterId, 'configmaps app/late')
    if (restarted) await first.stop()
    await Promise.all([
      p.mailbox.delete(ACCOUNTS, { namespace: 'app', name: 'runner' }),
      p.mailbox.delete(MAPS, { namespace: 'app', name: 'a' }),
      p.mailbox.delete(DEPLOYMENTS, { namespace: 'app', name: 'web' }),
      p.mailbox.delete(MAPS, { namespace: 'app', name: 'late' }),
    ])
    if (restarted) p.start(undefined, systemClock, { quietMs: 60_000 })
    for (const key of KEYS) await center.world.absent(p.clusterId, key)
    t.same(
      gone.filter(entry => entry.startsWith(p.clusterId)).map(entry => entry.slice(p.clusterId.length + 1)),
      ['configmaps app/late', 'deployments.apps app/web', 'configmaps app/a', 'serviceaccounts app/runner'],
    )
  })

t.test(
  'a finalizer of the cluster is respected, told, and its end is seen although nothing of the kind is placed any more',
  async t => {
    const p = await pair(t)
    p.start()
    await p.mailbox.create(MAPS, map('a'))
    await center.world.present(p.clusterId, 'configmaps app/a')
    const at = { namespace: 'app', name: 'a' }
    await p.cluster.patch(MAPS, at, 'merge', { metadata: { finalizers: ['theirs.test/wait'] } })
    await p.settled()
    await p.mailbox.delete(MAPS, at)
    const going = await center.world.present(
      p.clusterId,
      'configmaps app/a',
      ({ metadata }) => metadata.deletionTimestamp !== undefined,
    )
    await p.settled()
    t.same((await p.cluster.get(MAPS, at)).metadata.finalizers, ['theirs.test/wait'], 'nobody takes it off')
    t.match(goingAway(going), {
      state: 'terminating',
      reason: 'Terminating',
      message: /^it is deleted from the cluster since 20.*Z; it waits for finalizers theirs\.test\/wait$/,
    })
    await p.mailbox.create(MAPS, map('a', { annotations: { anew: 'yes' } }))
    await p.settled()
    await p.cluster.patch(MAPS, at, 'merge', { metadata: { finalizers: null } })
    const anew = await center.world.present(
      p.clusterId,
      'configmaps app/a',
      ({ metadata }) => metadata.annotations?.anew === 'yes',
    )
    t.not(anew.metadata.uid, going.metadata.uid)
  },
)

t.test('who waits is woken, and waits neither for ever nor for another space', async t => {
  const clock = new FakeClock()
  const again: string[] = []
  const order = new RemovalOrder({ clock, again: ({ name }) => again.push(name) })
  const key = (resource: string, name: string, group = '') => ({ group, resource, namespace: 'app', name })
  const [web, settings, theirs] = [
    key('deployments', 'web', 'apps'),
    key('configmaps', 'settings'),
    key('configmaps', 'theirs'),
  ]
  order.left(settings, map('settings'))
  order.left(web, deployment)
  order.left(theirs, map('theirs', { annotations: { 'edge.kubestellar.io/owner': 'other' } }))
  t.equal(order.waitMs(web), 200, 'more may be heard')
  await clock.advance(200)
  t.equal(order.waitMs(web), undefined)
  t.equal(order.waitMs(theirs), undefined)
  t.equal(order.waitMs(settings), 59_800)
  order.over(web)
  t.same(again, ['settings'])
  t.equal(order.waitMs(settings), undefined)

  order.left(web, deployment)
  await clock.advance(60_000)
  t.equal(order.waitMs(settings), undefined, 'it has waited long enough')
  order.over(settings)
  t.equal(order.waitMs(settings), undefined, 'nothing is known of it any more')
})

t.test('what is on its way out is told, so that what is gone meanwhile is looked at and nothing waits for it', t => {
  const again: string[] = []
  const order = new RemovalOrder({ clock: new FakeClock(), again: ({ name }) => again.push(name) })
  const web = { group: 'apps', resource: 'deployments', namespace: 'app', name: 'web' }
  const a = { group: '', resource: 'configmaps', namespace: 'app', name: 'a' }
  order.left(web, deployment)
  order.left(a, map('a'))
  t.ok(order.waitMs(a)! > 1000, 'it waits for the Deployment')
  t.same([...order.leaving()], [web, a])
  order.over(web)
  t.same([again, [...order.leaving()]], [['a'], [a]])
  t.end()
})
