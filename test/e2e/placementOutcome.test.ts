/** The outcome of a placement in its cluster is reported on it, and never claims an absent object. */
import t from 'tap'
import { at } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { ObjectList, SpaceClient, WatchEvent } from '../../src/client/client.ts'
import { WAVE } from '../../src/placement/words/placement.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { map } from '../syncer/support/installation.ts'
import { MAPS, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { condition, FLORIN, Florin, has } from './support/florin.ts'

const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const STATUSES = { group: 'edge.kubestellar.io', version: 'v1alpha1', resource: 'workstatuses' }
const EVENTS = { group: '', version: 'v1', resource: 'events' }
const EP = { name: 'p' }
const counts = (object: KubeObject | undefined) => at(object, 'status', 'counts') as Record<string, number> | undefined
const rowOf = (name: string) => ({ namespace: 'shop', name: `imw1.florin:configmaps:${name}` })
const is =
  (state: string) =>
  (object: KubeObject | undefined): boolean =>
    at(object, 'status', 'state') === state

const byKind = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  String(at(a, 'involvedObject', 'kind')) < String(at(b, 'involvedObject', 'kind')) ? -1 : 1

async function nextOf(watch: AsyncIterable<readonly WatchEvent[]>): Promise<WatchEvent | undefined> {
  for await (const [event] of watch) if (event) return event
  return undefined
}

/** A refusal gives one Event on the placement and one on the object; they are written one after the other. */
async function bothOf(client: SpaceClient, which: { fieldSelector: string }): Promise<ObjectList> {
  const told = await client.list(EVENTS, which)
  if (told.items.length > 1) return told
  const { resourceVersion } = told
  await nextOf(client.watch(EVENTS, { ...which, resourceVersion, signal: AbortSignal.timeout(PATIENCE_MS) }))
  return await bothOf(client, which)
}

const applied =
  (copies: number) =>
  (object: KubeObject | undefined): boolean =>
    has('Applied', 'True', 'AllApplied')(object) && counts(object)?.applied === copies

t.test('an author sees how far a placement is, what a cluster refuses in its words, and what is not known', async t => {
  const florin = await Florin.begin(t)
  const { wds, cluster, inventory, syncer } = florin
  const placed = await until(wds, PLACEMENTS, EP, applied(1))
  t.match(condition(placed, 'Resolved'), { status: 'True', reason: 'LocationsChosen' })
  t.match(condition(placed, 'Permitted'), { status: 'True' })
  t.match(condition(placed, 'Projected'), { status: 'True' })
  t.match(counts(placed), { clusters: 1, copies: 1, applied: 1, pending: 0, refused: 0, stale: 0 })
  t.equal(at(placed, 'status', 'observedGeneration'), placed?.metadata.generation)

  // each object in each cluster, answered where its author looks
  const { items } = await wds.list(STATUSES, { namespace: 'shop' })
  t.match(items, [
    {
      apiVersion: 'edge.kubestellar.io/v1alpha1',
      kind: 'WorkStatus',
      metadata: { name: 'imw1.florin:configmaps:page', labels: { 'edge.kubestellar.io/location': 'imw1.florin' } },
      spec: {
        sourceRef: {
          group: '',
          version: 'v1',
          kind: 'ConfigMap',
          resource: 'configmaps',
          namespace: 'shop',
          name: 'page',
        },
        location: { cluster: 'root:imw1', name: 'florin' },
        placements: ['p'],
      },
      status: { state: 'Applied', health: 'Healthy' },
    },
  ])
  await t.rejects(wds.create(STATUSES, items[0]!), /does not allow this method/)
  await t.rejects(wds.delete(STATUSES, rowOf('page')), /does not allow this method/)

  // in the cluster before, so the syncer leaves it alone
  await cluster.create(MAPS, map('theirs', { x: 'theirs' }))
  await wds.create(MAPS, map('theirs', { x: 'ours' }))
  const refused = await until(wds, PLACEMENTS, EP, has('Applied', 'False', 'Refused'))
  t.match(counts(refused), { copies: 2, applied: 1, refused: 1 })
  const [broken] = at(refused, 'status', 'broken') as Record<string, string>[]
  t.match(broken, {
    location: 'florin',
    resource: 'configmaps',
    namespace: 'shop',
    name: 'theirs',
    state: 'refused',
    reason: 'AlreadyInCluster',
    message: /was in the cluster before/,
  })
  t.match(condition(refused, 'Applied')?.message, /at florin, configmaps "shop\/theirs": was in the cluster before/)
  const row = await until(wds, STATUSES, rowOf('theirs'), is('Refused'))
  t.match(row?.status, { reason: 'AlreadyInCluster', message: /was in the cluster before/ })
  t.equal(at(row, 'status', 'health'), undefined, 'nobody asks how it is')
  const told = await bothOf(wds, { fieldSelector: 'reason=RefusedByCluster' })
  t.match(told.items.map(({ involvedObject, message, count }) => ({ involvedObject, message, count })).sort(byKind), [
    {
      involvedObject: { kind: 'ConfigMap', name: 'theirs', namespace: 'shop' },
      message: /^at florin: was in/,
      count: 1,
    },
    { involvedObject: { kind: 'EdgePlacement', name: 'p' }, message: /^at florin, configmaps "shop\/theirs": was/ },
  ])
  const selected = await wds.list(STATUSES, { namespace: 'shop', fieldSelector: 'status.state=Refused' })
  t.same(
    selected.items.map(({ metadata }) => metadata.name),
    ['imw1.florin:configmaps:theirs'],
  )
  const first = await wds.list(STATUSES, { limit: 1 })
  t.equal(first.items.length, 1)
  const second = await wds.list(STATUSES, { limit: 1, continue: first.continue! })
  t.equal(second.items.length, 1)
  t.equal(second.continue, undefined)
  const target = await until(
    inventory,
    TARGETS,
    FLORIN,
    object =>
      at(object, 'status', 'outcome', 'failures', 'count') === 1 &&
      at(object, 'status', 'outcome', 'lag', 'objects') === 0 &&
      at(object, 'status', 'versions') !== undefined &&
      at(object, 'status', 'syncedResources') !== undefined,
  )
  t.match(at(target, 'status', 'outcome'), {
    reporting: true,
    lag: { objects: 0 },
    failures: { reasons: { AlreadyInCluster: 1 } },
  })
  t.match(at(target, 'status', 'versions'), { kubernetes: /^v\d/, syncer: /^\d/ })
  const synced = at(target, 'status', 'syncedResources') as { resource: string }[]
  t.same(
    synced.find(({ resource }) => resource === 'configmaps'),
    { group: '', resource: 'configmaps', versions: ['v1'], state: 'Accepted' },
  )
  const refusedNow = { fieldSelector: 'status.state=Refused', resourceVersion: selected.resourceVersion }
  const leaves = nextOf(
    wds.watch(STATUSES, { ...refusedNow, namespace: 'shop', signal: AbortSignal.timeout(PATIENCE_MS) }),
  )
  await wds.delete(MAPS, { namespace: 'shop', name: 'theirs' })
  t.match(await leaves, { type: 'DELETED', object: { metadata: { name: 'imw1.florin:configmaps:theirs' } } })
  await until(wds, PLACEMENTS, EP, applied(1))

  // health is the cluster's word of what is applied
  t.match(condition(placed, 'Healthy'), { status: 'True', reason: 'AllHealthy', message: '1 healthy' })
  const claim = { namespace: 'shop', name: 'disk' }
  const downsync = ['configmaps', 'persistentvolumeclaims'].map(resource => ({
    apiGroup: '',
    resources: [resource],
    namespaces: ['shop'],
    objectNames: ['*'],
  }))
  await wds.patch(PLACEMENTS, EP, 'merge', { spec: { downsync } })
  await wds.create(CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: claim,
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  await until(wds, PLACEMENTS, EP, object => applied(2)(object) && has('Healthy', 'True', 'AllHealthy')(object))
  await cluster.patch(CLAIMS, claim, 'merge', { status: { phase: 'Lost' } }, { subresource: 'status' })
  const ill = await until(wds, PLACEMENTS, EP, has('Healthy', 'False', 'Degraded'))
  t.match(counts(ill), { copies: 2, applied: 2, healthy: 1, degraded: 1, progressing: 0 })
  t.match(at(ill, 'status', 'broken'), [{ name: 'disk', state: 'degraded', location: 'florin' }])
  t.match(condition(ill, 'Healthy')?.message, /at florin, persistentvolumeclaims "shop\/disk": its volume is gone/)
  t.match(condition(ill, 'Applied'), { status: 'True' })
  const disk = await until(
    wds,
    STATUSES,
    { namespace: 'shop', name: 'imw1.florin:persistentvolumeclaims:disk' },
    object => at(object, 'status', 'health') === 'Degraded',
  )
  t.match(disk?.status, { state: 'Applied', healthMessage: 'its volume is gone', reported: { phase: 'Lost' } })

  // a later wave waits for it, and says so
  const late = map('second', {})
  await wds.create(MAPS, { ...late, metadata: { ...late.metadata, annotations: { [WAVE]: '1' } } })
  const waits = await until(wds, STATUSES, rowOf('second'), is('Waiting'))
  t.match(waits?.status, {
    reason: 'EarlierWave',
    message: /^wave 1 waits for .* of wave 0: /,
  })
  await cluster.patch(CLAIMS, claim, 'merge', { status: { phase: 'Bound' } }, { subresource: 'status' })
  await until(wds, STATUSES, rowOf('second'), is('Applied'))
  await wds.delete(MAPS, { namespace: 'shop', name: 'second' })
  await wds.delete(CLAIMS, claim)
  await until(wds, PLACEMENTS, EP, object => applied(1)(object) && has('Healthy', 'True', 'AllHealthy')(object))

  const { mailbox } = florin
  // another reader with the syncer's credential reports nothing
  const other = await (await florin.holder(mailbox)).watch(`/services/stream/clusters/${mailbox}?protocol=2-2`)
  await other.until(({ type }) => type === 'BOOKMARK')
  await syncer.end()
  await until(wds, PLACEMENTS, EP, has('Applied', 'Unknown', 'Stale'))
  await until(wds, PLACEMENTS, EP, has('Healthy', 'Unknown', 'Stale'))
  await until(wds, STATUSES, rowOf('page'), is('Stale'))
  await wds.create(MAPS, map('later', { x: '1' }))
  t.match(counts(await until(wds, PLACEMENTS, EP, object => counts(object)?.copies === 2)), { applied: 0, stale: 2 })
  await florin.serve(mailbox)
  await until(wds, PLACEMENTS, EP, applied(2))
  await until(wds, STATUSES, rowOf('later'), is('Applied'))
  t.match(await cluster.get(MAPS, { namespace: 'shop', name: 'later' }), { data: { x: '1' } })
  other.close()
})
