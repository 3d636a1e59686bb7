/** Namespaces: how they are changed, and in which order they are emptied. */
import t from 'tap'
import { goes, pod, reaches, startCluster } from './cluster.ts'
import { annotate, edit } from './operations.ts'

const { api, namespace, faults } = await startCluster(t)

const service = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port: 80 }] },
})

// Namespaces should patch a Namespace; should apply an update to a Namespace
t.test('labels and annotations can be patched and replaced', async t => {
  const path = await namespace('patched')
  const patched = await api.ok(api.patch(path, 'strategic-merge', { metadata: { labels: { testLabel: 'testValue' } } }))
  t.match(patched.metadata.labels, { testLabel: 'testValue', 'kubernetes.io/metadata.name': 'patched' })
  await edit(api, path, object => annotate(object, 'updated'))
  t.match((await api.ok(api.get(path))).metadata, {
    annotations: { updated: 'true' },
    labels: { testLabel: 'testValue' },
  })
})

// Namespaces should apply changes to a namespace status
t.test('the status says Active, and takes conditions', async t => {
  const path = await namespace('status')
  t.equal(((await api.ok(api.get(`${path}/status`))).status as { phase: string }).phase, 'Active')
  const condition = { type: 'StatusPatch', status: 'True', reason: 'E2E', message: 'Patched by the test' }
  const patched = await api.ok(
    api.patch(`${path}/status`, 'merge', {
      metadata: { annotations: { patched: 'true' } },
      status: { conditions: [condition] },
    }),
  )
  t.match(patched, { metadata: { annotations: { patched: 'true' } }, status: { conditions: [condition] } })
  const next = { ...condition, type: 'StatusUpdate' }
  const put = await edit(api, `${path}/status`, object => ({
    ...object,
    status: { phase: 'Active', conditions: [condition, next] },
  }))
  t.match(put.status, { phase: 'Active', conditions: [condition, next] })
})

// Namespaces should apply a finalizer to a Namespace
t.test('/finalize adds and removes finalizers of the spec', async t => {
  const path = await namespace('finalized')
  const finalizers = async (...names: string[]): Promise<unknown> => {
    const current = await api.ok(api.get(path))
    const answer = await api.ok(api.put(`${path}/finalize`, { ...current, spec: { finalizers: names } }))
    return answer.spec
  }
  t.same(await finalizers('e2e.example.com/fakeFinalizer', 'kubernetes'), {
    finalizers: ['e2e.example.com/fakeFinalizer', 'kubernetes'],
  })
  t.same((await api.ok(api.get(path))).spec, { finalizers: ['e2e.example.com/fakeFinalizer', 'kubernetes'] })
  t.same(await finalizers('kubernetes'), { finalizers: ['kubernetes'] })
  await api.ok(api.delete(path))
  await goes(api, path)
})

// Namespaces should ensure that all pods are removed; that all services are removed when a namespace is deleted
t.test('what was in a deleted namespace is not in the next one of that name', async t => {
  const path = await namespace('nsdelete')
  await api.ok(api.post(`${path}/pods`, pod('test-pod')))
  await api.ok(api.post(`${path}/services`, service('test-service')))
  await api.ok(api.delete(path))
  await goes(api, path)
  t.equal((await api.get(`${path}/pods/test-pod`)).code, 404)
  await namespace('nsdelete')
  for (const kind of ['pods', 'services']) t.same((await api.ok(api.get(`${path}/${kind}`))).items, [], kind)
})

// a claim is held by a finalizer of the system: it must not hold its namespace for ever
t.test('a namespace with claims goes too', async t => {
  const path = await namespace('claims')
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
  await api.ok(
    api.post(`${path}/persistentvolumeclaims`, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec,
    }),
  )
  await api.ok(api.post(`${path}/pods`, pod('user', { volumes })))
  await api.ok(api.delete(path))
  await goes(api, path)
  t.pass()
})

// OrderedNamespaceDeletion: namespace deletion should delete pod first
t.test('Pods go first: until the last is gone, nothing else is touched', async t => {
  const path = await namespace('ordered')
  await api.ok(api.post(`${path}/pods`, pod('held', {}, { finalizers: ['e2e.example.com/finalizer'] })))
  await api.ok(api.post(`${path}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later' } }))
  await api.ok(api.delete(path))
  await reaches(api, `${path}/pods/held`, ({ metadata }) => metadata.deletionTimestamp !== undefined)
  const waiting = await reaches(api, path, ({ status }) => {
    const { conditions = [] } = status as { conditions?: { type: string; status: string }[] }
    return conditions.some(({ type, status }) => type === 'NamespaceContentRemaining' && status === 'True')
  })
  t.match(waiting.status, {
    phase: 'Terminating',
    conditions: [
      {},
      {},
      {},
      { type: 'NamespaceContentRemaining', message: 'Some resources are remaining: pods. has 1 resource instances' },
      {
        message:
          'Some content in the namespace has finalizers remaining: e2e.example.com/finalizer in 1 resource instances',
      },
    ],
  })
  const later = await api.ok(api.get(`${path}/configmaps/later`))
  t.equal(later.metadata.deletionTimestamp, undefined, 'the ConfigMap is untouched')
  t.equal((await api.post(`${path}/configmaps`, { metadata: { name: 'new' } })).code, 403, 'nothing new comes in')
  await api.ok(api.patch(`${path}/pods/held`, 'merge', { metadata: { finalizers: null } }))
  await goes(api, path)
  t.equal((await api.get(`${path}/configmaps/later`)).code, 404)
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
