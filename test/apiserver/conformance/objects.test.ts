/** Single promises about single kinds, beside the round that all of them make. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { pod, startCluster } from './cluster.ts'
import { edit } from './operations.ts'

const { api, namespace, faults } = await startCluster(t)
const path = await namespace('objects')

// Lease: lease API should be available
t.test('a Lease keeps its times to the microsecond', async t => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/objects/leases'
  const spec = {
    holderIdentity: 'holder',
    leaseDurationSeconds: 30,
    acquireTime: '2024-05-06T07:08:09.123456Z',
    renewTime: '2024-05-06T07:08:14.654321Z',
    leaseTransitions: 0,
  }
  const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'lease' }, spec }
  t.same((await api.ok(api.post(leases, object))).spec, spec)
  const next = { ...spec, holderIdentity: 'holder2', leaseTransitions: 1, leaseDurationSeconds: 60 }
  t.same((await edit(api, `${leases}/lease`, current => ({ ...current, spec: next }))).spec, next)
  const patch = { spec: { holderIdentity: 'holder3', leaseTransitions: 2 } }
  t.same((await api.ok(api.patch(`${leases}/lease`, 'strategic-merge', patch))).spec, { ...next, ...patch.spec })
})

// SchedulerPreemption PriorityClass endpoints verify PriorityClass endpoints can be operated with different HTTP methods
t.test('the value of a PriorityClass stays, its description may change', async t => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
  for (const [name, value] of Object.entries({ p1: 1, p2: 2 })) {
    await api.ok(
      api.post(classes, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value }),
    )
    const refused = await api.patch(`${classes}/${name}`, 'merge', { value: value * 10 })
    t.equal(refused.code, 422)
    t.match(refused.body.message, 'may not be changed in an update')
    t.match(await api.ok(api.patch(`${classes}/${name}`, 'merge', { description: 'updated' })), {
      value,
      description: 'updated',
    })
  }
})

// CSIInlineVolumes should support CSIVolumeSource in Pod API
t.test('a Pod says its inline volume, and can be found and deleted with it', async t => {
  const csi = { driver: 'e2e.example.com', readOnly: true, fsType: 'ext4', volumeAttributes: { a: 'b' } }
  const labels = { inline: 'yes' }
  await api.ok(api.post(`${path}/pods`, pod('inline', { volumes: [{ name: 'v', csi }] }, { labels })))
  const { items } = await api.ok(api.get(`/api/v1/pods?labelSelector=inline%3Dyes`))
  t.match(
    items.map(({ spec }) => (spec as { volumes: { csi?: object }[] }).volumes.find(v => v.csi)?.csi),
    [csi],
  )
  t.match(
    (await api.ok(api.patch(`${path}/pods/inline`, 'merge', { metadata: { labels: { more: 'yes' } } }))).metadata,
    {
      labels: { inline: 'yes', more: 'yes' },
    },
  )
  await api.ok(api.delete(`${path}/pods/inline?gracePeriodSeconds=0`))
})

// ServiceAccounts no secret-based service account token should be auto-generated
t.test('no Secret is made for a ServiceAccount', async t => {
  t.same((await api.ok(api.get(`${path}/secrets`))).items, [])
  t.notOk('secrets' in (await api.ok(api.get(`${path}/serviceaccounts/default`))))
})

// Events / Events API: manage the lifecycle of an event
t.test('an Event is the same object in both of its groups, and takes a series', async t => {
  const core = `${path}/events`
  const modern = '/apis/events.k8s.io/v1/namespaces/objects/events'
  const object = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'told', labels: { testevent: 'yes' } },
    eventTime: '2024-05-06T07:08:09.000001Z',
    reportingController: 'test-controller',
    reportingInstance: 'test-node',
    action: 'Do',
    reason: 'Test',
    type: 'Normal',
    note: 'This is a test event',
    regarding: { namespace: 'objects', kind: 'Pod', name: 'any' },
  }
  const made = await api.ok(api.post(modern, object))
  const seen = await api.ok(api.get(`${core}/told`))
  t.match(seen, {
    apiVersion: 'v1',
    metadata: { uid: made.metadata.uid },
    message: 'This is a test event',
    reportingComponent: 'test-controller',
    involvedObject: { kind: 'Pod', name: 'any' },
  })
  const changed = await api.patch(`${modern}/told`, 'strategic-merge', { note: 'patched' })
  t.match(changed, { code: 422, body: { message: /message: Invalid value: "patched": field is immutable/ } })
  const series = { count: 100, lastObservedTime: '2024-05-06T07:09:00.000002Z' }
  t.same((await edit(api, `${modern}/told`, event => ({ ...event, series }))).series, series)
  const names = async (url: string): Promise<(string | undefined)[]> =>
    (await api.ok(api.get(url))).items.map(({ metadata }: KubeObject) => metadata.name)
  t.same(await names(`${core}?fieldSelector=involvedObject.name%3Dany`), ['told'])
  t.same(await names('/apis/events.k8s.io/v1/events?labelSelector=testevent%3Dyes'), ['told'])
  await api.ok(api.delete(`${modern}?labelSelector=testevent%3Dyes`))
  t.same(await names(`${core}?labelSelector=testevent%3Dyes`), [])
})

// PersistentVolumes CSI Conformance should run through the lifecycle of a PV and a PVC
t.test('a claim and its volume name each other, and are found by label', async t => {
  const claims = `${path}/persistentvolumeclaims`
  const volumes = '/api/v1/persistentvolumes'
  const size = { storage: '1Gi' }
  const labels = { pair: 'yes' }
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: 'pair' }
  const claimRef = { namespace: 'objects', name: 'pair' }
  await api.ok(
    api.post(volumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pair', labels },
      spec: { ...shared, capacity: size, hostPath: { path: '/tmp/pair' }, claimRef },
    }),
  )
  const spec = { ...shared, resources: { requests: size }, volumeName: 'pair' }
  await api.ok(
    api.post(claims, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'pair', labels }, spec }),
  )
  t.equal((await api.ok(api.get(`/api/v1/persistentvolumeclaims?labelSelector=pair%3Dyes`))).items.length, 1)
  t.match((await api.ok(api.get(`${volumes}/pair`))).spec, { claimRef })
  const moved = await api.patch(`${claims}/pair`, 'merge', { spec: { volumeName: 'other' } })
  t.equal(moved.code, 422, 'a claim keeps its volume')
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
