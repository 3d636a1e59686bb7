/** Pods as objects: what may change, what is refused, what a budget holds back, what a LimitRange adds. */
import t from 'tap'
import { goes, pod, reaches, startCluster } from './cluster.ts'
import { edit } from './operations.ts'

const { api, namespace, faults } = await startCluster(t)
const path = await namespace('pods')
const pods = `${path}/pods`
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }

// Pods should be submitted and removed; should run through the lifecycle of Pods and PodStatus
t.test('a Pod is seen by those who watch, from its creation to its end', async t => {
  const watch = await api.watch(`${pods}?watch=1&labelSelector=test-pod-static%3Dtrue`)
  await api.ok(api.post(pods, pod('lifecycle', {}, { labels: { 'test-pod-static': 'true' } })))
  const image = { spec: { containers: [{ name: 'main', image: 'other:2' }] } }
  const patched = await api.ok(api.patch(`${pods}/lifecycle`, 'strategic-merge', image))
  t.match(patched.spec, { containers: [{ image: 'other:2' }] }, 'the image may change')
  const status = await api.ok(api.patch(`${pods}/lifecycle/status`, 'strategic-merge', { status: ready }))
  t.match(status.status, ready)
  await api.ok(api.delete(`${pods}?labelSelector=test-pod-static%3Dtrue&gracePeriodSeconds=0`))
  const seen = await watch.until(({ type }) => type === 'DELETED')
  t.same([seen[0]!.type, seen.some(({ type }) => type === 'MODIFIED'), seen.at(-1)!.type], ['ADDED', true, 'DELETED'])
  watch.close()
})

// Pods should be updated; should allow activeDeadlineSeconds to be updated
t.test('labels and the deadline may change, most of the rest may not', async t => {
  await api.ok(api.post(pods, pod('updated', {}, { labels: { time: 'old' } })))
  const labelled = await edit(api, `${pods}/updated`, object => ({
    ...object,
    metadata: { ...object.metadata, labels: { time: 'new' } },
  }))
  t.equal(labelled.metadata.labels?.time, 'new')
  const deadline = (activeDeadlineSeconds: number) =>
    api.patch(`${pods}/updated`, 'merge', { spec: { activeDeadlineSeconds } })
  t.match((await api.ok(deadline(5))).spec, { activeDeadlineSeconds: 5 })
  t.equal((await deadline(6)).code, 422, 'it only comes down')
  t.equal((await api.patch(`${pods}/updated`, 'merge', { spec: { restartPolicy: 'Never' } })).code, 422)
})

// Pods Extended Pods Set QOS Class should be set on Pods with matching resource requests and limits for memory and cpu
t.test('the quality class follows from requests and limits', async t => {
  const amounts = { cpu: '100m', memory: '100Mi' }
  const cases = {
    Guaranteed: { requests: amounts, limits: amounts },
    Burstable: { requests: amounts },
    BestEffort: {},
  }
  for (const [qosClass, resources] of Object.entries(cases)) {
    const containers = [{ name: 'main', image: 'i', resources }]
    t.match((await api.ok(api.post(pods, pod(`qos-${qosClass.toLowerCase()}`, { containers })))).status, { qosClass })
  }
})

// Sysctls should reject invalid sysctls; Secrets / ConfigMap should fail to create due to empty key
t.test('what cannot be is refused, with every mistake named', async t => {
  const sysctls = ['foo-', 'kernel.shmmax', 'safe-and-unsafe', 'bar..'].map(name => ({ name, value: 'bar' }))
  const answer = await api.post(pods, pod('sysctls', { securityContext: { sysctls } }))
  t.equal(answer.code, 422)
  for (const name of ['"foo-"', '"bar.."']) t.match(answer.body.message, `Invalid value: ${name}`)
  t.notMatch(answer.body.message, 'Invalid value: "kernel.shmmax"')
  const empty = { metadata: { name: 'empty-key' }, data: { '': 'dmFsdWU=' } }
  t.equal((await api.post(`${path}/secrets`, { apiVersion: 'v1', kind: 'Secret', ...empty })).code, 422)
  t.equal((await api.post(`${path}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', ...empty })).code, 422)
})

// ConfigMap should be immutable if `immutable` field is set; Secrets should be immutable if `immutable` field is set
t.test('what is immutable stays as it is, and immutable', async t => {
  for (const [kind, resource] of Object.entries({ ConfigMap: 'configmaps', Secret: 'secrets' })) {
    const at = `${path}/${resource}/fixed`
    const data = { key: 'dmFsdWU=' }
    await api.ok(api.post(`${path}/${resource}`, { apiVersion: 'v1', kind, metadata: { name: 'fixed' }, data }))
    await api.ok(api.patch(at, 'merge', { data: { more: 'dmFsdWU=' } }))
    await api.ok(api.patch(at, 'merge', { immutable: true }))
    const changed = await api.patch(at, 'merge', { data: { key: 'b3RoZXI=' } })
    t.equal(changed.code, 422)
    t.match(changed.body.message, 'field is immutable when `immutable` is set')
    t.equal((await api.patch(at, 'merge', { immutable: false })).code, 422, 'there is no way back')
    t.equal((await api.patch(at, 'merge', { metadata: { labels: { a: 'b' } } })).code, 200, 'labels may change')
    t.equal((await api.delete(at)).code, 200)
  }
})

// LimitRange should create a LimitRange with defaults and ensure pod has those defaults applied
t.test('a LimitRange gives what was not said, and bounds what was', async t => {
  const inside = await namespace('limited')
  const limits = [
    {
      type: 'Container',
      min: { cpu: '50m', memory: '100Mi' },
      max: { cpu: '500m', memory: '500Mi' },
      default: { cpu: '500m', memory: '500Mi' },
      defaultRequest: { cpu: '100m', memory: '200Mi' },
    },
  ]
  const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'limits' }, spec: { limits } }
  await api.ok(api.post(`${inside}/limitranges`, range))
  const resources = async (name: string, said: object): Promise<object> => {
    const containers = [{ name: 'main', image: 'i', resources: said }]
    const { spec } = await api.ok(api.post(`${inside}/pods`, pod(name, { containers })))
    return (spec as { containers: { resources: object }[] }).containers[0]!.resources
  }
  t.same(await resources('none', {}), {
    limits: { cpu: '500m', memory: '500Mi' },
    requests: { cpu: '100m', memory: '200Mi' },
  })
  t.match(await resources('partial', { requests: { cpu: '300m' } }), { requests: { cpu: '300m', memory: '200Mi' } })
  const asking = (name: string, cpu: string) =>
    api.post(
      `${inside}/pods`,
      pod(name, { containers: [{ name: 'main', image: 'i', resources: { limits: { cpu }, requests: { cpu } } }] }),
    )
  t.equal((await asking('little', '10m')).code, 403)
  t.equal((await asking('much', '600m')).code, 403)
  await edit(api, `${inside}/limitranges/limits`, object => ({
    ...object,
    spec: { limits: [{ ...limits[0], min: { cpu: '9m' } }] },
  }))
  t.equal((await asking('little', '10m')).code, 201, 'the new bounds count at once')
})

// RuntimeClass should reject a Pod requesting a non-existent / deleted RuntimeClass; schedule a Pod and initialize its Overhead
t.test('a RuntimeClass must exist, and brings its overhead', async t => {
  const classes = '/apis/node.k8s.io/v1/runtimeclasses'
  const asking = (name: string) => api.post(pods, pod(name, { runtimeClassName: 'heavy' }))
  t.equal((await asking('too-early')).code, 403)
  const overhead = { podFixed: { cpu: '10m', memory: '1Mi' } }
  const object = {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'heavy' },
    handler: 'h',
    overhead,
  }
  await api.ok(api.post(classes, object))
  t.match((await api.ok(asking('fits'))).spec, { overhead: overhead.podFixed })
  await api.ok(api.delete(`${classes}/heavy`))
  t.equal((await asking('too-late')).code, 403)
})

// DisruptionController should block an eviction until the PDB is updated to allow it; should observe PDB status updated
t.test('an eviction waits for what the budget allows', async t => {
  const budgets = '/apis/policy/v1/namespaces/pods/poddisruptionbudgets'
  await api.ok(api.post(pods, pod('evicted', {}, { labels: { foo: 'bar' } })))
  await api.ok(api.patch(`${pods}/evicted/status`, 'merge', { status: ready }))
  const spec = { minAvailable: 1, selector: { matchLabels: { foo: 'bar' } } }
  await api.ok(
    api.post(budgets, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'budget' }, spec }),
  )
  const allow = (disruptionsAllowed: number): Promise<unknown> =>
    edit(api, `${budgets}/budget/status`, object => ({
      ...object,
      status: {
        observedGeneration: object.metadata.generation,
        disruptionsAllowed,
        currentHealthy: 1,
        desiredHealthy: 1 - disruptionsAllowed,
        expectedPods: 1,
      },
    }))
  await allow(0)
  const evict = () =>
    api.post(`${pods}/evicted/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } })
  const blocked = await evict()
  t.equal(blocked.code, 429)
  t.match(blocked.body.details?.causes, [{ reason: 'DisruptionBudget' }])
  await api.ok(api.patch(`${budgets}/budget`, 'merge', { spec: { minAvailable: 0 } }))
  await allow(1)
  t.equal((await evict()).code, 201)
  await goes(api, `${pods}/evicted`)
})

// Ephemeral Containers should update the ephemeral containers in an existing pod; Pod InPlace Resize: the API
t.test('ephemeral containers and new sizes have sub-resources of their own', async t => {
  const resources = { requests: { cpu: '100m' }, limits: { cpu: '200m' } }
  await api.ok(api.post(pods, pod('running', { containers: [{ name: 'main', image: 'i', resources }] })))
  const debuggers = { spec: { ephemeralContainers: [{ name: 'debugger', image: 'busybox' }] } }
  const added = await api.ok(api.patch(`${pods}/running/ephemeralcontainers`, 'strategic-merge', debuggers))
  t.match(added.spec, { ephemeralContainers: [{ name: 'debugger', image: 'busybox' }] })
  t.equal(
    (
      await api.patch(`${pods}/running`, 'strategic-merge', {
        spec: { ephemeralContainers: [{ name: 'x', image: 'y' }] },
      })
    ).code,
    422,
  )
  const size = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '150m' } } }] } }
  t.match((await api.ok(api.patch(`${pods}/running/resize`, 'strategic-merge', size))).spec, {
    containers: [{ resources: { requests: { cpu: '150m' }, limits: { cpu: '200m' } } }],
  })
})

// Services: the type and the ports may change; Endpoints and EndpointSlices are those that are written
t.test('a Service changes its type', async t => {
  const services = `${path}/services`
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
  await api.ok(api.post(services, { apiVersion: 'v1', kind: 'Service', metadata: { name: 'moves' }, spec: { ports } }))
  const external = { type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null }
  t.match((await api.ok(api.patch(`${services}/moves`, 'merge', { spec: external }))).spec, { type: 'ExternalName' })
  const back = { type: 'ClusterIP', externalName: null, ports }
  const internal = await api.ok(api.patch(`${services}/moves`, 'merge', { spec: back }))
  t.match(internal.spec, { type: 'ClusterIP', ports })
  t.notOk((internal.spec as { externalName?: string }).externalName)
  await reaches(api, `${services}/moves`)
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
