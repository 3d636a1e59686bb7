/** Associated objects: what the cluster makes for copies comes up by the owners that lead there, and nothing else does. */
import t, { type Test } from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { at } from '../../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { equalJson } from '../../../src/apimachinery/values.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { type AssociatedAsk, associatedWith } from '../../../src/placement/associated/associated.ts'
import { associatedStatus, type LeftOutCause } from '../../../src/placement/desks/syncerConfig.ts'
import { ASSOCIATED_ANNOTATION, OWNER_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { ClusterAllowance } from '../../../src/syncer/mailbox/clusterAllowance.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { startCenter } from '../../support/center.ts'
import { FILE_LIMIT_MS } from '../../support/patience.ts'
import { CONFIGS, DEPLOYMENTS } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'replicasets' }
const PODS: GroupVersionResource = { group: '', version: 'v1', resource: 'pods' }
const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
const center = await startCenter(t, { expectsTrouble: true })

const ALL: readonly AssociatedAsk[] = [{ placement: 'p', kinds: ['*'], full: false }]
const pods = { containers: [{ name: 'c', image: 'shop/web:1', env: [{ name: 'TOKEN', value: 'hunter2' }] }] }
const template = { metadata: { labels: { app: 'web' } }, spec: pods }
const copy = (name: string, asks: readonly AssociatedAsk[]): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name,
    namespace: 'app',
    labels: PROJECTED,
    annotations: {
      [OWNER_ANNOTATION]: 'wmw1',
      ...(asks.length > 0 && { [ASSOCIATED_ANNOTATION]: JSON.stringify(asks) }),
    },
  },
  spec: { selector: { matchLabels: { app: 'web' } }, template },
})

class Cluster {
  readonly pair: Pair

  constructor(pair: Pair) {
    this.pair = pair
  }

  async make(resource: GroupVersionResource, kind: string, name: string, owner: KubeObject, more: object = {}) {
    const { apiVersion, kind: ownerKind, metadata } = owner
    const reference = { apiVersion, kind: ownerKind, name: metadata.name!, uid: metadata.uid! }
    return await this.pair.cluster.create(resource, {
      apiVersion: resource.group === '' ? 'v1' : `${resource.group}/v1`,
      kind,
      metadata: { name, namespace: 'app', ownerReferences: [reference], labels: { app: 'web' } },
      ...more,
    })
  }

  set = (name: string, owner: KubeObject) =>
    this.make(SETS, 'ReplicaSet', name, owner, { spec: { selector: { matchLabels: { app: 'web' } }, template } })

  pod = (name: string, owner: KubeObject) => this.make(PODS, 'Pod', name, owner, { spec: pods })

  /** Three of these have no room in a MiB. */
  large = (name: string, owner: KubeObject) =>
    this.make(PODS, 'Pod', name, owner, {
      spec: { containers: [{ name: 'c', image: 'i', args: ['x'.repeat(500 * 1024)] }] },
    })

  event = (name: string, about: KubeObject, lastTimestamp = '2026-01-01T00:00:00Z') =>
    this.pair.cluster.create(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'app' },
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        namespace: 'app',
        name: about.metadata.name,
        uid: about.metadata.uid,
      },
      reason: 'BackOff',
      message: 'back-off restarting failed container',
      type: 'Warning',
      lastTimestamp,
    })

  deployment = (name: string) =>
    center.world.present(
      this.pair.clusterId,
      `deployments.apps app/${name}`,
      ({ metadata }) => metadata.uid !== undefined,
    )

  up = (key: string, isSo?: (object: KubeObject) => boolean) => center.world.present(this.pair.mailboxId, key, isSo)
  down = (key: string) => center.world.absent(this.pair.mailboxId, key)
}

/** Whether the report of a syncer counts so many objects of the placement `p`, by cause. */
const left =
  (counts: Partial<Record<LeftOutCause, number>>) =>
  (config: KubeObject): boolean =>
    equalJson(
      associatedStatus(config).leftOut,
      Object.keys(counts).length === 0 ? [] : [{ space: 'wmw1', placement: 'p', ...NONE_LEFT, ...counts }],
    )
const NONE_LEFT = { leftOut: 0, olderEvents: 0, notTaken: 0, notAllowed: 0 }

async function clusterFor(t: Test, asks = ALL): Promise<Cluster> {
  const pair = await pairIn(center, t, {})
  await pair.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', {
    metadata: { annotations: { 'edge.kubestellar.io/carries': 'projected' } },
  })
  await pair.mailbox.create(DEPLOYMENTS, copy('web', asks))
  await pair.mailbox.create(DEPLOYMENTS, copy('other', []))
  return new Cluster(pair)
}

t.test('ReplicaSets, Pods and Events of a placed Deployment come up as summaries, those of another do not', async t => {
  const c = await clusterFor(t)
  c.pair.start()
  const [web, other] = [await c.deployment('web'), await c.deployment('other')]
  const set = await c.set('web-1', web)
  const pod = await c.pod('web-1-a', set)
  await c.pod('other-a', await c.set('other-1', other))
  await c.pair.cluster.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'alone', namespace: 'app' },
    spec: pods,
  })
  await c.event('crash', pod)
  await c.event('scaled', web)
  const status = {
    phase: 'Running',
    hostIP: '10.0.0.1',
    containerStatuses: [
      {
        name: 'c',
        image: 'shop/web:1',
        imageID: 'sha256:1',
        ready: false,
        restartCount: 7,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m' } },
      },
    ],
  }
  await c.pair.cluster.patch(
    PODS,
    { namespace: 'app', name: 'web-1-a' },
    'merge',
    { status },
    { subresource: 'status' },
  )
  const carried = await c.up(
    'pods app/web-1-a',
    ({ status }) => (status as { phase?: string } | undefined)?.phase === 'Running',
  )
  t.match(carried, {
    spec: { containers: [{ name: 'c', image: 'shop/web:1' }] },
    status: { containerStatuses: [{ restartCount: 7, state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
  })
  t.notMatch(JSON.stringify(carried), 'hunter2')
  t.match(associatedWith(carried), {
    root: 'apps|deployments|app|web',
    rootUid: web.metadata.uid!,
    placement: 'p',
    uid: pod.metadata.uid!,
    owners: [{ kind: 'ReplicaSet', name: 'web-1', uid: set.metadata.uid! }],
    health: 'Degraded',
    message: 'container c: back-off 5m',
  })
  t.match(await c.up('replicasets.apps app/web-1'), {
    spec: { template: { spec: { containers: [{ image: 'shop/web:1' }] } } },
  })
  t.match(await c.up('events app/crash'), { reason: 'BackOff', involvedObject: { name: 'web-1-a' } })
  await c.up('events app/scaled')
  await c.pair.settled()
  t.strictSame(
    (await c.pair.mailbox.list(PODS)).items.map(({ metadata }) => metadata.name),
    ['web-1-a'],
  )
  t.strictSame(
    (await c.pair.mailbox.list(SETS)).items.map(({ metadata }) => metadata.name),
    ['web-1'],
  )
})

t.test('a forged owner and one that was made anew lead nowhere', async t => {
  const c = await clusterFor(t)
  c.pair.start()
  const web = await c.deployment('web')
  const other = await c.deployment('other')
  const named = { ...web, metadata: { ...web.metadata, uid: other.metadata.uid! } }
  await c.pod('by-name', named)
  await c.pod('by-uid', { ...web, metadata: { ...web.metadata, name: 'shop' } })
  await c.pod('by-kind', { ...web, kind: 'StatefulSet' })
  const set = await c.set('web-1', web)
  const old = await c.pod('web-1-a', set)
  await c.up('pods app/web-1-a')
  // the same name, another uid: what belonged to the one before belongs to nothing
  await c.pair.cluster.delete(SETS, { namespace: 'app', name: 'web-1' }, { propagationPolicy: 'Orphan' })
  await center.world.absent(c.pair.clusterId, 'replicasets.apps app/web-1')
  const again = await c.set('web-1', web)
  await c.up('replicasets.apps app/web-1', object => associatedWith(object)?.uid === again.metadata.uid)
  await c.down('pods app/web-1-a')
  t.ok(old.metadata.uid)
  await c.pod('web-1-b', again)
  await c.up('pods app/web-1-b')
  // a Pod that is made anew under its name is another one, whatever an update of the one before would allow
  await c.pair.cluster.delete(PODS, { namespace: 'app', name: 'web-1-b' })
  const { metadata } = await c.make(PODS, 'Pod', 'web-1-b', again, {
    spec: { nodeName: 'n', containers: [{ name: 'd', image: 'shop/web:2' }] },
  })
  await c.up('pods app/web-1-b', object => associatedWith(object)?.uid === metadata.uid)
  await c.pair.settled()
  t.strictSame(
    (await c.pair.mailbox.list(PODS)).items.map(one => one.metadata.name),
    ['web-1-b'],
  )
})

t.test('an object stays in the mailbox while a list of the cluster lacks it, or lacks what it belongs to', async t => {
  for (const lacks of ['pods', 'deployments']) {
    const c = await clusterFor(t)
    const syncer = c.pair.start()
    await c.pod('a', await c.set('web-1', await c.deployment('web')))
    await c.up('pods app/a')
    await syncer.stop()
    const { cluster } = c.pair
    const list: SpaceClient['list'] = async (resource, options) => {
      const whole = await cluster.list(resource, options)
      return resource.resource === lacks ? { ...whole, items: [] } : whole
    }
    const said = Promise.withResolvers<void>()
    const { logger } = recordingLogger()
    const warn = (_: object, message: string) => {
      if (message.includes('its lists do not hold it; it stays in the mailbox')) said.resolve()
    }
    c.pair.start({ ...logger, warn }, undefined, { cluster: { ...cluster, list } })
    await said.promise
    t.match(await c.pair.mailbox.get(PODS, { namespace: 'app', name: 'a' }), { kind: 'Pod' }, lacks)
  }
})

t.test('what comes up goes when no copy asks for it, and when its cluster lost it', async t => {
  const c = await clusterFor(t)
  c.pair.start()
  const web = await c.deployment('web')
  const set = await c.set('web-1', web)
  for (const name of ['a', 'b']) await c.pod(name, set)
  await c.up('pods app/a')
  await c.up('pods app/b')
  await c.pair.cluster.delete(PODS, { namespace: 'app', name: 'b' })
  await c.down('pods app/b')
  const only = (kinds: string[]) => ({
    metadata: { annotations: { [ASSOCIATED_ANNOTATION]: JSON.stringify([{ placement: 'p', kinds, full: false }]) } },
  })
  await c.pair.mailbox.patch(DEPLOYMENTS, { namespace: 'app', name: 'web' }, 'merge', only(['pods']))
  await c.down('replicasets.apps app/web-1')
  await c.pair.settled()
  await c.up('pods app/a')
  await c.pair.mailbox.patch(DEPLOYMENTS, { namespace: 'app', name: 'web' }, 'merge', {
    metadata: { annotations: { [ASSOCIATED_ANNOTATION]: null } },
  })
  await c.down('pods app/a')
  t.ok(await c.pair.cluster.get(PODS, { namespace: 'app', name: 'a' }), 'it stays in the cluster')
})

t.test('of the Events about one object the newest come up, and two objects have room of their own', async t => {
  const c = await clusterFor(t)
  c.pair.start()
  const set = await c.set('web-1', await c.deployment('web'))
  const [one, two] = [await c.pod('one', set), await c.pod('two', set)]
  const minute = (i: number): string => `2026-01-01T00:${String(i).padStart(2, '0')}:00Z`
  for (let i = 0; i < 25; i++) await c.event(`one-${i}`, one, minute(i))
  for (let i = 0; i < 3; i++) await c.event(`two-${i}`, two, minute(i))
  const twos = ['two-0', 'two-1', 'two-2']
  const ones = Array.from({ length: 25 }, (_, i) => `one-${i}`)
  await center.world.until('the newest Events', () => {
    const there = [...ones, ...twos].filter(name => center.world.get(c.pair.mailboxId, `events app/${name}`))
    return there.join() !== [...ones.slice(5), ...twos].join() && `there are ${there.join()}`
  })
  const counted = await c.up('syncerconfigs.edge.kubestellar.io the-one', left({ olderEvents: 5 }))
  t.match(associatedStatus(counted).notAllowed, [])
  await c.pair.cluster.delete(EVENTS, { namespace: 'app', name: 'one-24' })
  t.match(await c.up('events app/one-4'), { kind: 'Event' })
})

t.test('a placement has room for so many objects; the rest is counted, and finds room when others go', async t => {
  const c = await clusterFor(t, [
    { placement: 'p', kinds: ['pods'], full: true },
    { placement: 'q', kinds: ['replicasets.apps'], full: false },
  ])
  c.pair.start()
  const set = await c.set('web-1', await c.deployment('web'))
  for (const name of ['a', 'b']) {
    await c.large(name, set)
    await c.up(`pods app/${name}`)
  }
  await c.large('c', set)
  await c.up('replicasets.apps app/web-1')
  await c.up('syncerconfigs.edge.kubestellar.io the-one', left({ leftOut: 1 }))
  await c.down('pods app/c')
  await c.pair.cluster.delete(PODS, { namespace: 'app', name: 'a' })
  await c.up('pods app/c')
  t.match(await c.up('syncerconfigs.edge.kubestellar.io the-one', left({})), { kind: 'SyncerConfig' })
})

t.test('kinds that flags do not allow are named, and what flags allow to be reported is', async t => {
  const c = await clusterFor(t)
  const lists = { namespaces: ['app'], kinds: ['deployments.apps', 'configmaps'] }
  const syncer = c.pair.start(undefined, undefined, { allowance: new ClusterAllowance(lists) })
  const set = await c.set('web-1', await c.deployment('web'))
  await c.pod('a', set)
  const named = (kinds: readonly string[]) => (config: KubeObject) => {
    const { notAllowed } = associatedStatus(config)
    return ['pods', 'replicasets.apps'].every(kind => notAllowed.includes(kind) === kinds.includes(kind))
  }
  await c.up('syncerconfigs.edge.kubestellar.io the-one', named(['pods', 'replicasets.apps']))
  await syncer.stop()
  const associated = ['pods', 'replicasets.apps']
  c.pair.start(undefined, undefined, { allowance: new ClusterAllowance({ ...lists, associated }) })
  await c.up('pods app/a')
  await c.up('syncerconfigs.edge.kubestellar.io the-one', named([]))
  t.pass('what may be read comes up')
})

t.test('what was reported goes when the flags do not allow it any more', async t => {
  const c = await clusterFor(t)
  const lists = { namespaces: ['app'], kinds: ['deployments.apps', 'configmaps'] }
  const associated = ['pods', 'replicasets.apps']
  const syncer = c.pair.start(undefined, undefined, { allowance: new ClusterAllowance({ ...lists, associated }) })
  await c.pod('a', await c.set('web-1', await c.deployment('web')))
  await c.up('pods app/a')
  await c.up('replicasets.apps app/web-1')
  await syncer.stop()
  c.pair.start(undefined, undefined, { allowance: new ClusterAllowance({ ...lists, associated: ['pods'] }) })
  await c.down('replicasets.apps app/web-1')
  t.match(await c.up('pods app/a'), { kind: 'Pod' })
})

t.test('what is gone from a cluster goes, though the syncer may not list another kind', async t => {
  const c = await clusterFor(t)
  const { cluster } = c.pair
  const list: SpaceClient['list'] = async (resource, options) => {
    if (resource.resource === 'events') throw new StatusError('Forbidden', 'no')
    return await cluster.list(resource, options)
  }
  c.pair.start(undefined, undefined, { cluster: { ...cluster, list } })
  await c.pod('a', await c.set('web-1', await c.deployment('web')))
  await c.up('pods app/a')
  await cluster.delete(PODS, { namespace: 'app', name: 'a' })
  t.equal(await c.down('pods app/a'), undefined)
})

t.test('over a restart the same objects have room, in whatever order they are looked at', async t => {
  const c = await clusterFor(t, [{ placement: 'p', kinds: ['pods'], full: true }])
  const syncer = c.pair.start()
  const set = await c.set('web-1', await c.deployment('web'))
  const uids: (string | undefined)[] = []
  for (const name of ['a', 'b']) {
    await c.large(name, set)
    uids.push((await c.up(`pods app/${name}`)).metadata.uid)
  }
  await c.large('c', set)
  const before = await c.up('syncerconfigs.edge.kubestellar.io the-one', left({ leftOut: 1 }))
  await syncer.stop()
  const { cluster } = c.pair
  // the one without room is looked at first
  const first = Promise.withResolvers<void>()
  const get: SpaceClient['get'] = async (resource, ref) => {
    const object = await cluster.get(resource, ref)
    if (resource.resource === 'pods' && ref.name === 'c') setImmediate(first.resolve)
    else if (resource.resource === 'pods') await first.promise
    return object
  }
  c.pair.start(undefined, undefined, { cluster: { ...cluster, get } })
  const reportedAt = (config: KubeObject) => at(config.status, 'lastSyncerHeartbeatTime')
  const isNews = (config: KubeObject) => reportedAt(config) !== reportedAt(before) && left({ leftOut: 1 })(config)
  await c.up('syncerconfigs.edge.kubestellar.io the-one', isNews)
  await c.pair.settled()
  const { items } = await c.pair.mailbox.list(PODS)
  t.strictSame(
    items.map(({ metadata }) => [metadata.name, metadata.uid]),
    ['a', 'b'].map((name, i) => [name, uids[i]]),
  )
})

t.test('over a restart the count of what has no room stays until all was looked at, and counts anew then', async t => {
  const c = await clusterFor(t, [{ placement: 'p', kinds: ['pods'], full: true }])
  const syncer = c.pair.start()
  const set = await c.set('web-1', await c.deployment('web'))
  for (const name of ['a', 'b', 'c', 'd']) await c.large(name, set)
  await c.up('syncerconfigs.edge.kubestellar.io the-one', left({ leftOut: 2 }))
  await syncer.stop()
  const after = await center.settled()
  // lists take their time
  c.pair.start(undefined, systemClock)
  await c.pair.cluster.delete(PODS, { namespace: 'app', name: 'd' })
  await c.up('syncerconfigs.edge.kubestellar.io the-one', left({ leftOut: 1 }))
  const end = await center.settled()
  const counts: unknown[] = []
  const changes = center.client.stream({ space: c.pair.mailboxId, after, signal: AbortSignal.timeout(FILE_LIMIT_MS) })
  for await (const batch of changes) {
    for (const { resource, object } of batch.events)
      if (resource.resource === CONFIGS.resource) counts.push(associatedStatus(object).leftOut[0]?.leftOut)
    if (batch.revision >= end) break
  }
  t.notOk(counts.includes(undefined), JSON.stringify(counts))
})

t.test(
  'Pods of an upsync set are whole, belong to their Deployment, and become summaries when the set goes',
  async t => {
    const c = await clusterFor(t)
    const setUpsync = async (upsync: object[]) =>
      await c.pair.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { upsync } })
    const upsync = { apiGroup: '', resources: ['pods'], namespaces: ['app'], names: ['*'] }
    await setUpsync([upsync])
    const syncer = c.pair.start()
    const web = await c.deployment('web')
    const set = await c.set('web-1', web)
    const pod = await c.pod('a', set)
    const isOf = (object: KubeObject) => associatedWith(object)?.root === 'apps|deployments|app|web'
    const isWhole = (object: KubeObject) => JSON.stringify(object).includes('hunter2')
    const whole = await c.up('pods app/a', object => isOf(object) && isWhole(object))
    t.match(associatedWith(whole), { uid: pod.metadata.uid!, rootUid: web.metadata.uid!, placement: 'p' })
    await syncer.stop()
    const { cluster } = c.pair
    const listed = Promise.withResolvers<void>()
    const list: SpaceClient['list'] = async (resource, options) => {
      if (resource.resource === 'replicasets') await listed.promise
      return await cluster.list(resource, options)
    }
    c.pair.start(undefined, undefined, { cluster: { ...cluster, list } })
    const labels = { metadata: { labels: { later: 'yes' } } }
    await cluster.patch(PODS, { namespace: 'app', name: 'a' }, 'merge', labels)
    const later = await c.up('pods app/a', ({ metadata }) => metadata.labels?.later === 'yes')
    t.ok(isOf(later), 'over a restart it belongs to its Deployment, before all owners are listed')
    listed.resolve()
    await setUpsync([])
    await c.up('pods app/a', object => isOf(object) && !isWhole(object))
    await setUpsync([upsync])
    const again = await c.up('pods app/a', object => isOf(object) && isWhole(object))
    await c.pair.mailbox.patch(DEPLOYMENTS, { namespace: 'app', name: 'web' }, 'merge', {
      metadata: { annotations: { [ASSOCIATED_ANNOTATION]: null } },
    })
    const alone = await c.up('pods app/a', object => !isOf(object) && isWhole(object))
    t.equal(alone.metadata.uid, again.metadata.uid, 'it stays when its copy asks for nothing')
  },
)

t.test(
  'a whole Pod stays in the mailbox when the server takes its later state neither as an update nor anew',
  async t => {
    const c = await clusterFor(t)
    const upsync = [{ apiGroup: '', resources: ['pods'], namespaces: ['app'], names: ['*'] }]
    await c.pair.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { upsync } })
    c.pair.start()
    const set = await c.set('web-1', await c.deployment('web'))
    await c.pod('a', set)
    const before = await c.up('pods app/a', object => associatedWith(object) !== undefined)
    const place = { namespace: 'app', name: 'a' }
    const ephemeralContainers = [{ name: 'debug', image: 'i' }]
    const more = { spec: { ephemeralContainers } }
    await c.pair.cluster.patch(PODS, place, 'merge', more, { subresource: 'ephemeralcontainers' })
    // behind it
    await c.pod('b', set)
    await c.up('pods app/b')
    await c.pair.settled()
    t.equal((await c.pair.mailbox.get(PODS, place)).metadata.uid, before.metadata.uid)
  },
)

t.test('objects of namespaces that flags leave out are counted apart from those without room', async t => {
  const c = await clusterFor(t, [{ placement: 'p', kinds: ['pods'], full: false }])
  const syncer = c.pair.start()
  await c.pod('a', await c.set('web-1', await c.deployment('web')))
  await c.up('pods app/a')
  await syncer.stop()
  c.pair.start(undefined, undefined, { allowance: new ClusterAllowance({ namespaces: ['other'], kinds: ['*'] }) })
  await c.down('pods app/a')
  t.match(await c.up('syncerconfigs.edge.kubestellar.io the-one', left({ notAllowed: 1 })), { kind: 'SyncerConfig' })
})

t.test('a Pod that restarts each second is reported ever more slowly, and its last state arrives', async t => {
  const c = await clusterFor(t, [{ placement: 'p', kinds: ['pods'], full: false }])
  const clock = new FakeClock()
  c.pair.start(undefined, clock)
  let isBegun = false
  const begin = (async () => {
    while (!isBegun) {
      await clock.advance(1000)
      await new Promise(resolve => setImmediate(resolve))
    }
  })()
  await c.pod('a', await c.set('web-1', await c.deployment('web')))
  await c.up('pods app/a')
  isBegun = true
  await begin
  const restartsOf = ({ status }: KubeObject): unknown => at(status, 'containerStatuses', 0, 'restartCount')
  const reported = new Set<unknown>()
  const restart = async (restartCount: number): Promise<void> => {
    const status = { containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount }] }
    await c.pair.cluster.patch(PODS, { namespace: 'app', name: 'a' }, 'merge', { status }, { subresource: 'status' })
    await c.pair.settled()
    await clock.advance(1000)
    await c.pair.settled()
    reported.add(restartsOf(await c.pair.mailbox.get(PODS, { namespace: 'app', name: 'a' })))
  }
  const SECONDS = 100
  for (let i = 1; i <= SECONDS; i++) await restart(i)
  t.ok(reported.size > 5, `${reported.size} states came up`)
  t.ok(reported.size < 20, `${reported.size} states came up`)
  await clock.advance(300_000)
  t.equal(restartsOf(await c.up('pods app/a', object => restartsOf(object) === SECONDS)), SECONDS)
})
