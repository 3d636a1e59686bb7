/** Writes: names, concurrency, dry runs, sub-resources and who owns which field. */
import t from 'tap'
import type { KubeObject, ManagedFieldsEntry } from '../../src/apimachinery/object.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../support/server.ts'
import { DEPLOYMENTS, deployment } from './badInput/badCase.ts'

const { api, faults } = await startTestServer(t)
const specOf = (object: KubeObject) => object.spec as { replicas?: number; [field: string]: unknown }
const read = (path: string) => api.ok(api.get(path))

t.test('a new object gets what only the server can say', async t => {
  const made = await api.ok(
    api.post(
      CONFIGMAPS,
      configMap(
        'made',
        { a: 'b' },
        {
          uid: 'mine',
          creationTimestamp: '2001-01-01T00:00:00Z',
          generation: 7,
          selfLink: '/x',
          deletionTimestamp: '2001-01-01T00:00:00Z',
        },
      ),
    ),
  )
  const { uid, creationTimestamp, resourceVersion, namespace, selfLink, deletionTimestamp } = made.metadata
  t.match(uid, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.match(creationTimestamp, /^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.match(resourceVersion, /^\d+$/)
  t.equal(namespace, 'default')
  t.strictSame([selfLink, deletionTimestamp], [undefined, undefined])
  t.equal(made.metadata.annotations?.['kcp.io/cluster'], 'root', 'it says its space')
  t.strictSame(await read(`${CONFIGMAPS}/made`), made)
})

t.test('generateName', async t => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }
  const made = await Promise.all(Array.from({ length: 20 }, () => api.ok(api.post(CONFIGMAPS, body))))
  const names = made.map(object => object.metadata.name!)
  t.equal(new Set(names).size, 20)
  for (const name of names) t.match(name, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
})

t.test('optimistic concurrency: of two writers with the same version one wins', async t => {
  const made = await api.ok(api.post(CONFIGMAPS, configMap('race', { by: 'nobody' })))
  const put = (by: string) => api.put(`${CONFIGMAPS}/race`, { ...made, data: { by } })
  const codes = (await Promise.all([put('a'), put('b'), put('c')])).map(answer => answer.code).sort()
  t.strictSame(codes, [200, 409, 409])
  t.equal(
    (await api.put(`${CONFIGMAPS}/race`, configMap('race', { by: 'force' }))).code,
    200,
    'without a version the last one wins',
  )
  t.strictSame((await read(`${CONFIGMAPS}/race`)).data, { by: 'force' })
})

t.test('patches without a version never conflict', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('counter')))
  const patches = Array.from({ length: 50 }, (_, i) =>
    api.patch(`${CONFIGMAPS}/counter`, 'merge', { data: { [`k${i}`]: '1' } }),
  )
  t.ok((await Promise.all(patches)).every(answer => answer.code === 200))
  t.equal(Object.keys((await read(`${CONFIGMAPS}/counter`)).data as object).length, 50)
})

t.test('a write that changes nothing has no new version', async t => {
  const made = await api.ok(api.post(CONFIGMAPS, configMap('same', { a: 'b' })))
  const put = await api.ok(api.put(`${CONFIGMAPS}/same`, made))
  const merge = await api.ok(api.patch(`${CONFIGMAPS}/same`, 'merge', { data: { a: 'b' } }))
  t.equal(put.metadata.resourceVersion, made.metadata.resourceVersion)
  t.equal(merge.metadata.resourceVersion, made.metadata.resourceVersion)
})

t.test('dry runs tell the outcome and store nothing', async t => {
  const made = await api.ok(api.post(CONFIGMAPS, configMap('dry', { a: 'b' })))
  const path = `${CONFIGMAPS}/dry`
  t.match(await api.post(`${CONFIGMAPS}?dryRun=All`, configMap('dry-new')), {
    code: 201,
    body: { metadata: { uid: String } },
  })
  t.equal((await api.post(`${CONFIGMAPS}?dryRun=All`, configMap('dry'))).code, 409)
  t.strictSame((await api.ok(api.put(`${path}?dryRun=All`, configMap('dry', { a: 'c' })))).data, { a: 'c' })
  t.strictSame((await api.ok(api.patch(`${path}?dryRun=All`, 'merge', { data: { x: 'y' } }))).data, { a: 'b', x: 'y' })
  const applied = await api.patch(`${CONFIGMAPS}/dry-apply?dryRun=All&fieldManager=me`, 'apply', configMap('dry-apply'))
  t.equal(applied.code, 201)
  t.equal((await api.delete(`${path}?dryRun=All`)).code, 200)
  t.equal((await api.delete(path, { dryRun: ['All'] })).code, 200)
  t.strictSame(await read(path), made)
  for (const name of ['dry-new', 'dry-apply']) t.equal((await api.get(`${CONFIGMAPS}/${name}`)).code, 404)
})

t.test('status and spec are written apart', async t => {
  const made = await api.ok(api.post(DEPLOYMENTS, { ...deployment('parts'), status: { replicas: 9 } }))
  t.not((made.status as { replicas?: number }).replicas, 9, 'creation takes no status')
  t.equal(made.metadata.generation, 1)
  const path = `${DEPLOYMENTS}/parts`
  const status = await api.ok(
    api.put(`${path}/status`, {
      ...made,
      spec: { ...specOf(made), replicas: 7 },
      status: { replicas: 3, observedGeneration: 1 },
    }),
  )
  t.match(status.status, { replicas: 3 })
  t.equal(specOf(status).replicas, 1, 'a status update leaves the spec alone')
  t.equal(status.metadata.generation, 1)
  const main = await api.ok(
    api.put(path, { ...status, spec: { ...specOf(status), replicas: 5 }, status: { replicas: 8 } }),
  )
  t.match(main, { status: { replicas: 3 }, spec: { replicas: 5 }, metadata: { generation: 2 } })
  const patched = await api.ok(
    api.patch(`${path}/status`, 'merge', { spec: { replicas: 1 }, status: { readyReplicas: 2 } }),
  )
  t.match(patched, { status: { replicas: 3, readyReplicas: 2 }, spec: { replicas: 5 } })
  const labelled = await api.ok(api.patch(path, 'merge', { metadata: { labels: { a: 'b' } } }))
  t.equal(labelled.metadata.generation, 2, 'labels are not what the generation counts')
})

t.test('scale', async t => {
  const path = `${DEPLOYMENTS}/parts/scale`
  const scale = await read(path)
  t.match(scale, {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'parts', namespace: 'default' },
    spec: { replicas: 5 },
    status: { replicas: 3, selector: 'app=x' },
  })
  t.match(await api.ok(api.put(path, { ...scale, spec: { replicas: 2 } })), { spec: { replicas: 2 } })
  t.equal((await api.put(path, { ...scale, spec: { replicas: 3 } })).code, 409, 'its version counts')
  t.match(await api.ok(api.patch(path, 'merge', { spec: { replicas: 4 } })), { spec: { replicas: 4 } })
  t.match(await read(`${DEPLOYMENTS}/parts`), { spec: { replicas: 4 }, metadata: { generation: 4 } })
})

t.test('four kinds of patches', async t => {
  await api.ok(api.post(DEPLOYMENTS, deployment('patched')))
  const path = `${DEPLOYMENTS}/patched`
  const containers = (object: KubeObject) =>
    (
      specOf(object) as unknown as { template: { spec: { containers: { name: string; image: string }[] } } }
    ).template.spec.containers.map(c => `${c.name}=${c.image}`)
  const side = { spec: { template: { spec: { containers: [{ name: 'side', image: 's' }] } } } }
  t.strictSame(
    containers(await api.ok(api.patch(path, 'strategic-merge', side))).sort(),
    ['c=i', 'side=s'],
    'strategic: by name',
  )
  t.strictSame(containers(await api.ok(api.patch(path, 'merge', side))), ['side=s'], 'merge: the whole list')
  const replace = [
    { op: 'test', path: '/spec/template/spec/containers/0/image', value: 's' },
    { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 't' },
  ]
  t.strictSame(containers(await api.ok(api.patch(path, 'json', replace))), ['side=t'])
  const yaml = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: patched\nspec:\n  replicas: 6\n'
  const applied = await api.ok(
    api.send('PATCH', `${path}?fieldManager=me&force=true`, { body: yaml, type: 'application/apply-patch+yaml' }),
  )
  t.equal(specOf(applied).replicas, 6)
})

t.test('who owns which field', async t => {
  const entry = (object: KubeObject, manager: string): ManagedFieldsEntry | undefined =>
    object.metadata.managedFields?.find(e => e.manager === manager)
  const path = `${CONFIGMAPS}/owned`
  const created = await api.ok(api.post(`${CONFIGMAPS}?fieldManager=creator`, configMap('owned', { a: '1', b: '1' })))
  t.match(entry(created, 'creator'), {
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } },
  })
  const agent = await api.ok(
    api.send('PATCH', path, {
      body: { data: { b: '2' } },
      type: 'application/merge-patch+json',
      headers: { 'User-Agent': 'tool/v1 (linux)' },
    }),
  )
  t.strictSame(
    entry(agent, 'tool')?.fieldsV1,
    { 'f:data': { 'f:b': {} } },
    'named after its program, for what it changed',
  )
  t.notOk(JSON.stringify(entry(agent, 'creator')).includes('f:b'), 'the former owner lost it')
  const apply = (manager: string, data: Record<string, string>, force = false) =>
    api.patch(`${path}?fieldManager=${manager}&force=${force}`, 'apply', configMap('owned', data))
  t.equal((await apply('applier', { a: '9' })).code, 409)
  t.equal((await apply('applier', { a: '1', c: '3' })).code, 200, 'equal values are shared')
  const forced = await api.ok(apply('applier', { a: '9', c: '3' }, true))
  t.match(entry(forced, 'applier'), { operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {}, 'f:c': {} } } })
  t.notOk(JSON.stringify(entry(forced, 'creator') ?? {}).includes('f:a'))
  const dropped = await api.ok(apply('applier', { a: '9' }))
  t.strictSame(dropped.data, { a: '9', b: '2' }, 'what an applier no longer says goes, what is not its own stays')
  t.equal(
    (await apply('other', { b: '3' })).body.message,
    'Apply failed with 1 conflict: conflict with "tool" using v1: .data.b',
  )
})

t.test('apply creates; status is applied apart', async t => {
  const applied = await api.patch(`${DEPLOYMENTS}/applied?fieldManager=me`, 'apply', deployment('applied'))
  t.match(applied, {
    code: 201,
    body: { metadata: { uid: String, resourceVersion: String, creationTimestamp: String } },
  })
  const again = await api.patch(`${DEPLOYMENTS}/applied?fieldManager=me`, 'apply', deployment('applied'))
  t.equal(again.code, 200)
  t.equal(again.body.metadata.resourceVersion, applied.body.metadata.resourceVersion, 'applied twice is applied once')
  const status = await api.ok(
    api.patch(`${DEPLOYMENTS}/applied/status?fieldManager=ctl`, 'apply', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'applied' },
      status: { replicas: 1 },
    }),
  )
  t.match(
    status.metadata.managedFields?.find(e => e.manager === 'ctl'),
    { operation: 'Apply', subresource: 'status' },
  )
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
