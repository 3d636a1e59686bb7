// The generations in a returned status are those of the mailbox: what it says as observed, the cluster has observed. A status is returned
// only to the owner of its object.
import t, { type Test } from 'tap'
import { type GroupVersionResource, isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { OWNED_SINCE_ANNOTATION, OWNER_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { type ReturnStatusDeps, returnStatus } from '../../../src/syncer/up/returnStatus.ts'
import { startCenter } from '../../support/center.ts'
import { CRDS, DEPLOYMENTS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'

const center = await startCenter(t, { expectsTrouble: true })
const { world } = center
const WEB = { namespace: 'app', name: 'web' }
const KEY = 'deployments.apps app/web'
const TOYS: GroupVersionResource = { group: 'play.test', version: 'v1', resource: 'toys' }
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const TOY_DEFINITION: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `toys.${TOYS.group}` },
  spec: {
    group: TOYS.group,
    names: { plural: 'toys', singular: 'toy', kind: 'Toy', listKind: 'ToyList' },
    scope: 'Namespaced',
    versions: [
      { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: open } },
    ],
  },
}
const labels = { app: 'web' }
const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } })
const SENT: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...WEB, labels: PROJECTED },
  spec: { selector: { matchLabels: labels }, template: template('v1') },
}
const says = (image: string) => (object: KubeObject) => JSON.stringify(object.spec).includes(`"image":"${image}"`)

/** A Deployment in a mailbox, and in a cluster whose controllers are the test. */
async function stage(t: Test) {
  const named = { group: 'apps', resource: 'deployments', apiVersion: 'v1' }
  const p = await pairIn(center, t, {
    namespacedObjects: [{ ...named, objectsByNamespace: [{ namespace: 'app', names: ['*'] }] }],
  })
  await p.mailbox.create(DEPLOYMENTS, SENT)
  const generation = () => world.get(p.clusterId, KEY)?.metadata.generation ?? 0
  let reports = 0
  return {
    ...p,
    /** Generation of the cluster's object. */
    generation,
    arrived: async (image: string) => {
      await world.present(p.clusterId, KEY, says(image))
      await p.settled()
    },
    edit: (image: string) => p.mailbox.patch(DEPLOYMENTS, WEB, 'merge', { spec: { template: template(image) } }),
    /** Somebody in the cluster changes what the mailbox does not say. */
    raise: async () => {
      const before = generation()
      const annotations = { local: `${before}` }
      await p.cluster.patch(DEPLOYMENTS, WEB, 'merge', { metadata: { annotations } }, { fieldManager: 'local' })
      await world.present(p.clusterId, KEY, o => (o.metadata.generation ?? 0) > before)
      await p.settled()
    },
    /** The cluster's controllers have seen this generation; what the mailbox says then. */
    observed: async (observedGeneration: number) => {
      const replicas = ++reports
      const body = { status: { observedGeneration, replicas } }
      await p.cluster.patch(DEPLOYMENTS, WEB, 'merge', body, { subresource: 'status' })
      await world.present(p.mailboxId, KEY, o => isRecord(o.status) && o.status.replicas === replicas)
      await p.settled()
      const { metadata, status } = world.get(p.mailboxId, KEY)!
      return [isRecord(status) ? status.observedGeneration : undefined, metadata.generation]
    },
  }
}

t.test('an edit counts as observed when the cluster has observed it, however often it counted itself', async t => {
  const { start, arrived, edit, raise, observed, generation } = await stage(t)
  start()
  await arrived('v1')
  t.same(await observed(generation()), [1, 1])
  for (let n = 0; n < 3; n++) await raise()
  t.same(await observed(generation()), [1, 1])
  const seen = generation()
  await edit('v2')
  await arrived('v2')
  t.same(await observed(seen), [1, 2], 'applied, and not observed')
  await raise()
  t.same(await observed(generation()), [2, 2])
})

t.test('after twenty edits it is the last that counts', async t => {
  const { start, arrived, edit, observed, generation } = await stage(t)
  start()
  await arrived('v1')
  t.same(await observed(1), [1, 1])
  for (let n = 2; n <= 21; n++) await edit(`v${n}`)
  await arrived('v21')
  t.same(await observed(generation() - 1), [1, 21])
  t.same(await observed(generation()), [21, 21])
})

t.test('a restart of the syncer neither forgets what was observed, nor takes for observed what was not', async t => {
  const { start, arrived, edit, raise, observed, generation, settled, mailboxId } = await stage(t)
  const first = start()
  await arrived('v1')
  await raise()
  t.same(await observed(generation()), [1, 1])
  await first.stop()
  const before = world.get(mailboxId, KEY)
  const second = start()
  await second.synced
  await settled()
  t.same(world.get(mailboxId, KEY), before, 'nothing was written')
  const seen = generation()
  await edit('v2')
  await arrived('v2')
  await second.stop()
  start()
  t.same(await observed(seen), [1, 2])
  t.same(await observed(generation()), [2, 2])
})

t.test('a cluster that was built anew counts from one, and is waited for', async t => {
  const { start, arrived, edit, observed, generation, cluster, clusterId } = await stage(t)
  start()
  await arrived('v1')
  for (let n = 2; n <= 5; n++) await edit(`v${n}`)
  await arrived('v5')
  t.same(await observed(generation()), [5, 5])
  const old = world.get(clusterId, KEY)!.metadata.uid
  await cluster.delete(DEPLOYMENTS, WEB)
  await world.present(clusterId, KEY, o => o.metadata.uid !== old)
  t.equal(generation(), 1)
  t.same(await observed(0), [undefined, 5], 'nobody there has seen it')
  t.same(await observed(1), [5, 5])
  await edit('v6')
  await arrived('v6')
  t.same(await observed(1), [5, 6])
  t.same(await observed(2), [6, 6])
})

t.test('a cluster that was set back to what it held, by its own count of then, has observed it', async t => {
  const { start, arrived, edit, observed, generation, cluster } = await stage(t)
  const first = start()
  await arrived('v1')
  for (const image of ['v2', 'v3']) {
    await edit(image)
    await arrived(image)
  }
  t.same(await observed(3), [3, 3])
  await first.stop()
  const second = start(undefined, undefined, { cluster: countingLess(cluster, 2) })
  await second.synced
  t.same(await observed(1), [3, 3])
  await edit('v4')
  await arrived('v4')
  t.same(await observed(1), [3, 4])
  t.equal(generation(), 4)
  t.same(await observed(2), [4, 4])
})

t.test('where somebody else holds the name, nothing is said of generations, and the rest is told', async t => {
  const { start, cluster, observed } = await stage(t)
  await cluster.create(NAMESPACES, namespace('app'))
  const theirs = { ...SENT, spec: { ...(SENT.spec as object), template: template('theirs') } }
  await cluster.create(DEPLOYMENTS, theirs)
  start()
  t.same(await observed(1), [undefined, 1])
})

/** The mailbox's object is another space's from now on, as the center writes it; its version then. */
async function passOn(p: Pair, gvr: GroupVersionResource, name: string, change: object): Promise<string | undefined> {
  const { status: _status, ...copy } = await p.mailbox.get(gvr, { namespace: 'app', name })
  const annotations = { [OWNER_ANNOTATION]: 'b', [OWNED_SINCE_ANNOTATION]: '2026-01-02T00:00:00Z' }
  const body = { ...copy, ...change, metadata: { ...copy.metadata, annotations } }
  return (await p.mailbox.update(gvr, body, { withStatus: true })).metadata.resourceVersion
}

t.test('what passes to another space is told of when the cluster has observed what that asks for', async t => {
  const p = await stage(t)
  p.start()
  await p.arrived('v1')
  t.same(await p.observed(1), [1, 1])
  const version = await passOn(p, DEPLOYMENTS, 'web', { spec: { ...(SENT.spec as object), template: template('v2') } })
  await p.arrived('v2')
  const late = { status: { observedGeneration: 1, replicas: 9 } }
  await p.cluster.patch(DEPLOYMENTS, WEB, 'merge', late, { subresource: 'status' })
  await p.settled()
  t.equal(
    world.get(p.mailboxId, KEY)!.metadata.resourceVersion,
    version,
    'of the former one nothing, also what comes late',
  )
  t.same(await p.observed(p.generation()), [2, 2])
  await p.edit('v3')
  await p.arrived('v3')
  t.same(await p.observed(p.generation() - 1), [2, 3], 'from then on as ever')
})

t.test('a status without generations is told to another space when it has changed', async t => {
  const named = { group: TOYS.group, resource: 'toys', apiVersion: 'v1' }
  const p = await pairIn(center, t, {
    namespacedObjects: [{ ...named, objectsByNamespace: [{ namespace: 'app', names: ['*'] }] }],
  })
  for (const side of ['mailbox', 'cluster'] as const) {
    await p[side].create(CRDS, TOY_DEFINITION)
    await world.present(p[`${side}Id`], `customresourcedefinitions.apiextensions.k8s.io toys.${TOYS.group}`, o =>
      JSON.stringify(o.status ?? {}).includes('Established'),
    )
  }
  const metadata = { namespace: 'app', name: 't1', labels: PROJECTED, annotations: { [OWNER_ANNOTATION]: 'a' } }
  await p.mailbox.create(TOYS, { apiVersion: `${TOYS.group}/v1`, kind: 'Toy', metadata, spec: { size: 1 } })
  const first = p.start()
  const toy = `toys.${TOYS.group} app/t1`
  const has = (text: string) => (object: KubeObject) => JSON.stringify(object).includes(text)
  const operate = (connection: string) =>
    p.cluster.patch(
      TOYS,
      { namespace: 'app', name: 't1' },
      'merge',
      { status: { connection } },
      { subresource: 'status' },
    )
  await world.present(p.clusterId, toy)
  await operate('password-of-a')
  await world.present(p.mailboxId, toy, has('password-of-a'))
  await first.stop()
  const version = await passOn(p, TOYS, 't1', { spec: { size: 2 } })
  const isUntold = () => t.equal(world.get(p.mailboxId, toy)!.metadata.resourceVersion, version, 'nothing is told')
  const second = p.start()
  await world.present(p.clusterId, toy, has('"size":2'))
  await p.settled()
  isUntold()
  const local = { metadata: { annotations: { local: 'yes' } } }
  await p.cluster.patch(TOYS, { namespace: 'app', name: 't1' }, 'merge', local)
  await p.settled()
  isUntold()
  await second.stop()
  const third = p.start()
  await third.synced
  await p.settled()
  isUntold()
  await operate('password-of-b')
  await world.present(p.mailboxId, toy, has('password-of-b'))
  await operate('password-of-a')
  await world.present(p.mailboxId, toy, has('password-of-a'))
})

t.test('a status that is on its way when the object passes on does not arrive', async t => {
  const { mailbox, ...p } = await stage(t)
  await mailbox.patch(DEPLOYMENTS, WEB, 'merge', { metadata: { annotations: { [OWNER_ANNOTATION]: 'a' } } })
  const mirrored = { resource: DEPLOYMENTS, object: await mailbox.get(DEPLOYMENTS, WEB) }
  await passOn({ mailbox, ...p }, DEPLOYMENTS, 'web', {})
  const deps = {
    mailbox,
    mirror: { get: () => mirrored },
    watches: { get: () => ({ ...mirrored.object, status: { replicas: 7 } }) },
    served: { find: () => ({ subresources: ['status'] }) },
    plan: () => ({ wantsDown: () => true }),
    downsync: { isFormers: () => false },
    statusLimit: { allows: () => true },
  }
  const key = { group: 'apps', resource: 'deployments', ...WEB }
  await returnStatus(deps as unknown as ReturnStatusDeps, key)
  t.same((await mailbox.get(DEPLOYMENTS, WEB)).status, {})
})

/** The cluster, as if its objects had not been changed so often. */
function countingLess(cluster: SpaceClient, by: number): SpaceClient {
  const less = <O extends KubeObject>(object: O): O => {
    const { generation } = object.metadata
    return generation === undefined || object.kind !== 'Deployment'
      ? object
      : { ...object, metadata: { ...object.metadata, generation: generation - by } }
  }
  return {
    get: async (...what) => less(await cluster.get(...what)),
    list: async (...what) => {
      const list = await cluster.list(...what)
      return { ...list, items: list.items.map(less) }
    },
    async *watch(...what) {
      for await (const events of cluster.watch(...what))
        yield events.map(event => (event.type === 'BOOKMARK' ? event : { ...event, object: less(event.object) }))
    },
    create: async (...what) => less(await cluster.create(...what)),
    update: async (...what) => less(await cluster.update(...what)),
    patch: async (...what) => less(await cluster.patch(...what)),
    delete: (...what) => cluster.delete(...what),
    discover: () => cluster.discover(),
  }
}
