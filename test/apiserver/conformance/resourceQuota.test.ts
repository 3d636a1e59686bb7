/** ResourceQuotas: the use of a namespace is reported promptly, held to its bounds, and given back. */
import t, { type Test } from 'tap'
import { goes, pod, podTemplate, reaches, startCluster } from './cluster.ts'
import { edit } from './operations.ts'

const { api, namespace, faults } = await startCluster(t)

type Amounts = Record<string, string>
interface Status {
  hard?: Amounts
  used?: Amounts
}

async function quota(path: string, name: string, hard: Amounts, spec: object = {}): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard, ...spec } }
  await api.ok(api.post(`${path}/resourcequotas`, object))
  await uses(path, name, Object.fromEntries(Object.keys(hard).map(key => [key, '0'])))
}

/** Waits until the quota tells these amounts; others may be there beside them. */
async function uses(path: string, name: string, used: Amounts): Promise<void> {
  await reaches(api, `${path}/resourcequotas/${name}`, object => {
    const status = (object.status ?? {}) as Status
    return Object.entries(used).every(([key, amount]) => status.used?.[key] === amount)
  })
}

const requests = (cpu: string, memory: string, more: object = {}): object => {
  const amounts = { cpu, memory }
  return { containers: [{ name: 'main', image: 'i', resources: { requests: amounts, limits: amounts } }], ...more }
}

// ResourceQuota should create a ResourceQuota and ensure its status is promptly calculated
t.test('a new quota says what is used', async t => {
  const path = await namespace('quota-new')
  const hard = { pods: '5', services: '10', secrets: '10', configmaps: '2', 'requests.cpu': '1' }
  const object = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'new' }, spec: { hard } }
  await api.ok(api.post(`${path}/resourcequotas`, object))
  await reaches(api, `${path}/resourcequotas/new`, ({ status }) => {
    const { hard: told = {}, used = {} } = (status ?? {}) as Status
    return told.pods === '5' && used.pods === '0' && used.configmaps === '1' && used['requests.cpu'] === '0'
  })
  t.pass('the ConfigMap with the root certificate is counted')
})

interface Life {
  what: string
  collection: (namespace: string) => string
  object: object
  hard: Amounts
  used: Amounts
}
const metadata = { name: 'counted' }
const labels = { app: 'counted' }
const lives: Life[] = [
  // ResourceQuota should create a ResourceQuota and capture the life of a secret
  {
    what: 'secret',
    collection: ns => `/api/v1/namespaces/${ns}/secrets`,
    object: { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { top: 'secret' } },
    hard: { secrets: '1' },
    used: { secrets: '1' },
  },
  // ResourceQuota should create a ResourceQuota and capture the life of a service
  {
    what: 'service',
    collection: ns => `/api/v1/namespaces/${ns}/services`,
    object: { apiVersion: 'v1', kind: 'Service', metadata, spec: { type: 'NodePort', ports: [{ port: 80 }] } },
    hard: { services: '10', 'services.nodeports': '1' },
    used: { services: '1', 'services.nodeports': '1' },
  },
  // ResourceQuota should create a ResourceQuota and capture the life of a replica set
  {
    what: 'replica set',
    collection: ns => `/apis/apps/v1/namespaces/${ns}/replicasets`,
    object: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata,
      spec: { replicas: 0, selector: { matchLabels: labels }, template: podTemplate(labels) },
    },
    hard: { 'count/replicasets.apps': '1' },
    used: { 'count/replicasets.apps': '1' },
  },
  // ResourceQuota should create a ResourceQuota and capture the life of a replication controller
  {
    what: 'replication controller',
    collection: ns => `/api/v1/namespaces/${ns}/replicationcontrollers`,
    object: {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata,
      spec: { replicas: 0, selector: labels, template: podTemplate(labels) },
    },
    hard: { replicationcontrollers: '1' },
    used: { replicationcontrollers: '1' },
  },
  // ResourceQuota should create a ResourceQuota and capture the life of a persistent volume claim with a storage class
  {
    what: 'claim',
    collection: ns => `/api/v1/namespaces/${ns}/persistentvolumeclaims`,
    object: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'gold', resources: { requests: { storage: '1Gi' } } },
    },
    hard: {
      persistentvolumeclaims: '1',
      'requests.storage': '10Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '10',
      'gold.storageclass.storage.k8s.io/requests.storage': '10Gi',
    },
    used: {
      persistentvolumeclaims: '1',
      'requests.storage': '1Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
    },
  },
]

for (const { what, collection, object, hard, used } of lives) {
  t.test(`the life of a ${what} is captured`, async t => {
    const name = `quota-${what.replaceAll(' ', '-')}`
    const path = await namespace(name)
    await quota(path, 'life', hard)
    await api.ok(api.post(collection(name), object))
    await uses(path, 'life', used)
    const [key = ''] = Object.keys(used).filter(each => hard[each] === used[each])
    const second = await api.post(collection(name), { ...object, metadata: { name: 'second' } })
    t.equal(second.code, 403)
    t.match(second.body.message, `exceeded quota: life, requested: ${key}=1, used: ${key}=1, limited: ${key}=1`)
    await api.ok(api.delete(`${collection(name)}/counted`))
    await uses(path, 'life', Object.fromEntries(Object.keys(hard).map(each => [each, '0'])))
  })
}

// ResourceQuota should create a ResourceQuota and capture the life of a configMap
t.test('the life of a configMap is captured', async () => {
  const path = await namespace('quota-configmap')
  await reaches(api, `${path}/configmaps/kube-root-ca.crt`)
  const object = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard: { configmaps: '2' } },
  }
  await api.ok(api.post(`${path}/resourcequotas`, object))
  await uses(path, 'q', { configmaps: '1' })
  await api.ok(api.post(`${path}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } }))
  await uses(path, 'q', { configmaps: '2' })
  await api.ok(api.delete(`${path}/configmaps/one`))
  await uses(path, 'q', { configmaps: '1' })
})

// ResourceQuota should create a ResourceQuota and capture the life of a custom resource
t.test('the life of a custom resource is captured', async t => {
  const name = 'gadgets.quota.example.com'
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await api.ok(
    api.post(definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: 'quota.example.com',
        scope: 'Namespaced',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }),
  )
  await reaches(api, `${definitions}/${name}`, ({ status }) => JSON.stringify(status).includes('"Established"'))
  const path = await namespace('quota-custom')
  await quota(path, 'custom', { [`count/${name}`]: '1' })
  const collection = '/apis/quota.example.com/v1/namespaces/quota-custom/gadgets'
  const gadget = (gadgetName: string): object => ({
    apiVersion: 'quota.example.com/v1',
    kind: 'Gadget',
    metadata: { name: gadgetName },
  })
  await api.ok(api.post(collection, gadget('one')))
  await uses(path, 'custom', { [`count/${name}`]: '1' })
  t.equal((await api.post(collection, gadget('two'))).code, 403)
  await api.ok(api.delete(`${collection}/one`))
  await uses(path, 'custom', { [`count/${name}`]: '0' })
})

// ResourceQuota should create a ResourceQuota and capture the life of a pod
t.test('the life of a Pod is captured, with all that it asks for', async t => {
  const path = await namespace('quota-pod')
  const extended = 'requests.example.com/dongle'
  await quota(path, 'pods', {
    pods: '5',
    cpu: '1',
    memory: '500Mi',
    'requests.ephemeral-storage': '50Gi',
    [extended]: '3',
  })
  const asking = (name: string, amounts: Amounts): object =>
    pod(name, {
      containers: [
        { name: 'main', image: 'i', resources: { requests: amounts, limits: { 'example.com/dongle': '2' } } },
      ],
    })
  const fits = { cpu: '500m', memory: '252Mi', 'ephemeral-storage': '30Gi', 'example.com/dongle': '2' }
  await api.ok(api.post(`${path}/pods`, asking('fits', fits)))
  const used = { pods: '1', cpu: '500m', memory: '252Mi', 'requests.ephemeral-storage': '30Gi', [extended]: '2' }
  await uses(path, 'pods', used)
  const tooMuch = await api.post(`${path}/pods`, asking('fails', { ...fits, cpu: '600m', memory: '100Mi' }))
  t.equal(tooMuch.code, 403, 'more than is left is refused')
  t.match(tooMuch.body.message, /exceeded quota: pods, requested: cpu=600m,.* used: cpu=500m,.* limited: cpu=1,/)
  const resize = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '100m' } } }] } }
  t.equal((await api.patch(`${path}/pods/fits`, 'strategic-merge', resize)).code, 422, 'requests cannot be edited')
  await uses(path, 'pods', used)
  await api.ok(api.delete(`${path}/pods/fits?gracePeriodSeconds=0`))
  await goes(api, `${path}/pods/fits`)
  await uses(path, 'pods', { pods: '0', cpu: '0', memory: '0', 'requests.ephemeral-storage': '0', [extended]: '0' })
})

/** Makes a Pod, says which of two quotas counts it, and deletes it again. */
async function counted(
  t: Test,
  path: string,
  o: { pod: object; by: string; notBy: string; amounts: Amounts },
): Promise<void> {
  const { metadata } = await api.ok(api.post(`${path}/pods`, o.pod))
  await uses(path, o.by, o.amounts)
  const other = await api.ok(api.get(`${path}/resourcequotas/${o.notBy}`))
  t.ok(
    Object.values((other.status as Status).used ?? {}).every(amount => amount === '0'),
    `${o.notBy} does not count ${metadata.name}`,
  )
  await api.ok(api.delete(`${path}/pods/${metadata.name}?gracePeriodSeconds=0`))
  await uses(path, o.by, Object.fromEntries(Object.keys(o.amounts).map(key => [key, '0'])))
}

// ResourceQuota should verify ResourceQuota with terminating scopes
t.test('Terminating and NotTerminating part the Pods by their deadline', async t => {
  const path = await namespace('quota-terminating')
  const hard = { pods: '5', 'requests.cpu': '1', 'limits.memory': '500Mi' }
  await quota(path, 'terminating', hard, { scopes: ['Terminating'] })
  await quota(path, 'not-terminating', hard, { scopes: ['NotTerminating'] })
  const amounts = { pods: '1', 'requests.cpu': '500m', 'limits.memory': '200Mi' }
  const long = pod('long', requests('500m', '200Mi'))
  await counted(t, path, { pod: long, by: 'not-terminating', notBy: 'terminating', amounts })
  const ending = pod('ending', requests('500m', '200Mi', { activeDeadlineSeconds: 3600 }))
  await counted(t, path, { pod: ending, by: 'terminating', notBy: 'not-terminating', amounts })
})

// ResourceQuota should verify ResourceQuota with best effort scope
t.test('BestEffort and NotBestEffort part the Pods by their requests', async t => {
  const path = await namespace('quota-effort')
  await quota(path, 'best-effort', { pods: '5' }, { scopes: ['BestEffort'] })
  await quota(path, 'not-best-effort', { pods: '5' }, { scopes: ['NotBestEffort'] })
  const amounts = { pods: '1' }
  await counted(t, path, { pod: pod('plain'), by: 'best-effort', notBy: 'not-best-effort', amounts })
  const burstable = pod('burstable', requests('500m', '200Mi'))
  await counted(t, path, { pod: burstable, by: 'not-best-effort', notBy: 'best-effort', amounts })
})

// ResourceQuota [Feature:ScopeSelectors], PodPriority: should verify ResourceQuota's priority class scope
t.test('a PriorityClass scope counts Pods of that class alone, by every operator', async t => {
  const path = await namespace('quota-priority')
  for (const [name, value] of Object.entries({ pclass1: 1000, pclass2: 2000 })) {
    const object = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value }
    await api.ok(api.post('/apis/scheduling.k8s.io/v1/priorityclasses', object))
  }
  const scoped = (expression: object): object => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', ...expression }] },
  })
  await quota(path, 'in', { pods: '1' }, scoped({ operator: 'In', values: ['pclass1'] }))
  await quota(path, 'not-in', { pods: '5' }, scoped({ operator: 'NotIn', values: ['pclass1'] }))
  const classed = (name: string, priorityClassName: string): object => pod(name, { priorityClassName })
  await counted(t, path, { pod: classed('one', 'pclass1'), by: 'in', notBy: 'not-in', amounts: { pods: '1' } })
  await counted(t, path, { pod: classed('two', 'pclass2'), by: 'not-in', notBy: 'in', amounts: { pods: '1' } })
  await api.ok(api.post(`${path}/pods`, classed('first', 'pclass1')))
  t.equal((await api.post(`${path}/pods`, classed('second', 'pclass1'))).code, 403, 'the bound holds')
})

// ResourceQuota should be able to update and delete ResourceQuota
t.test('bounds can be changed, and a deleted quota is gone', async t => {
  const path = await namespace('quota-update')
  await quota(path, 'changes', { cpu: '1', memory: '500Mi' })
  const hard = { cpu: '2', memory: '1Gi' }
  t.same((await edit(api, `${path}/resourcequotas/changes`, object => ({ ...object, spec: { hard } }))).spec, { hard })
  const kept = await reaches(
    api,
    `${path}/resourcequotas/changes`,
    ({ status }) => (status as Status).hard?.cpu === '2',
  )
  t.same((kept.status as Status).hard, hard, 'the status follows')
  await api.ok(api.delete(`${path}/resourcequotas/changes`))
  t.equal((await api.get(`${path}/resourcequotas/changes`)).code, 404)
})

// ResourceQuota should apply changes to a resourcequota status
t.test('a status written by hand does not touch the spec, and is mended', async t => {
  const path = await namespace('quota-status')
  await quota(path, 'status', { cpu: '500m', memory: '500Mi' })
  const at = `${path}/resourcequotas/status`
  const patched = await api.ok(api.patch(`${at}/status`, 'merge', { status: { hard: { cpu: '1', memory: '1Gi' } } }))
  t.match(patched, { spec: { hard: { cpu: '500m', memory: '500Mi' } }, status: { hard: { cpu: '1', memory: '1Gi' } } })
  await reaches(api, at, ({ status }) => (status as Status).hard?.memory === '500Mi')
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
