/** What became of a placement in its cluster is told on it, and never that something is there which is not. */
import t from 'tap'
import { at } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { map } from '../syncer/support/installation.ts'
import { MAPS, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { condition, FLORIN, Florin, has } from './support/florin.ts'

const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const EP = { name: 'p' }
const counts = (object: KubeObject | undefined) => at(object, 'status', 'counts') as Record<string, number> | undefined
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
  const target = await until(
    inventory,
    TARGETS,
    FLORIN,
    object =>
      at(object, 'status', 'outcome', 'failures', 'count') === 1 && at(object, 'status', 'versions') !== undefined,
  )
  t.match(at(target, 'status', 'outcome'), {
    reporting: true,
    lag: { objects: 0 },
    failures: { reasons: { AlreadyInCluster: 1 } },
  })
  t.match(at(target, 'status', 'versions'), { kubernetes: /^v\d/, syncer: /^\d/ })
  await wds.delete(MAPS, { namespace: 'shop', name: 'theirs' })
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
  await wds.delete(CLAIMS, claim)
  await until(wds, PLACEMENTS, EP, object => applied(1)(object) && has('Healthy', 'True', 'AllHealthy')(object))

  const mailbox = await florin.mailboxOf(await inventory.get(TARGETS, FLORIN))
  await syncer.end('SIGTERM')
  await until(wds, PLACEMENTS, EP, has('Applied', 'Unknown', 'Stale'))
  await wds.create(MAPS, map('later', { x: '1' }))
  t.match(counts(await until(wds, PLACEMENTS, EP, object => counts(object)?.copies === 2)), { applied: 0, stale: 2 })
  await florin.serve(mailbox)
  await until(wds, PLACEMENTS, EP, applied(2))
  t.match(await cluster.get(MAPS, { namespace: 'shop', name: 'later' }), { data: { x: '1' } })
})
