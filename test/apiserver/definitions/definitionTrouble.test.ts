// A CRD whose status or cleanup fails is tried again: it is established, or goes, in the end.
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import { crdsIn } from '../../support/crds.ts'
import { startTestServer } from '../../support/server.ts'

const { api, server, faults } = await startTestServer(t)
const crds = crdsIn(api)
const definition = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

/** The next `count` updates of CRDs fail. */
function breakUpdates(count: number): void {
  const { registry } = server.services
  const update = registry.update.bind(registry)
  let left = count
  registry.update = async (context, type, namespace, name, change, options) => {
    if (type.kind !== 'CustomResourceDefinition') return await update(context, type, namespace, name, change, options)
    if (left-- > 0) throw statusError.forbidden(type, name, 'not now')
    registry.update = update
    return await update(context, type, namespace, name, change, options)
  }
}

t.test('a CRD is established although its status could not be written at first', async t => {
  breakUpdates(3)
  await crds.define(definition('tries', 'Try'))
  t.equal((await api.get('/apis/example.com/v1/tries')).code, 200)
  t.equal(faults.length, 1, 'told once')
  t.match(faults.splice(0), [
    /^a custom resource definition could not be brought to its wanted state; it is tried again: .*not now/,
  ])
})

t.test('a deleted CRD goes, with its instances, although its cleanup failed at first', async t => {
  await crds.define(definition('goers', 'Goer'))
  const instance = { apiVersion: 'example.com/v1', kind: 'Goer', metadata: { name: 'one' } }
  await api.ok(api.post('/apis/example.com/v1/goers', instance))
  const { metadata } = await api.ok(api.get(crds.path('goers.example.com')))
  const watch = await api.watch(
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1&fieldSelector=metadata.name=goers.example.com&resourceVersion=${metadata.resourceVersion}`,
  )
  breakUpdates(2)
  await api.ok(api.delete(crds.path('goers.example.com')))
  await watch.until(event => event.type === 'DELETED')
  watch.close()
  t.equal(await server.store.count({ group: 'example.com', resource: 'goers' }), 0)
  t.match(faults.splice(0), [/not now/])
})

t.test('no instance is made by an apply while its CRD goes, and it goes', async t => {
  await crds.define(definition('latecomers', 'Latecomer'))
  const late = (name: string, more: object = {}) => ({
    apiVersion: 'example.com/v1',
    kind: 'Latecomer',
    metadata: { name, ...more },
  })
  const path = '/apis/example.com/v1/latecomers'
  await api.ok(api.post(path, late('held', { finalizers: ['x.io/held'] })))
  await api.ok(api.delete(crds.path('latecomers.example.com')))
  await crds.until('latecomers.example.com', c => JSON.stringify(c.status).includes('InstanceDeletionInProgress'))
  const watch = await api.watch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1')
  t.match(await api.patch(`${path}/late?fieldManager=me`, 'apply', late('late')), {
    code: 405,
    body: { reason: 'MethodNotAllowed' },
  })
  await api.ok(api.patch(`${path}/held`, 'merge', { metadata: { finalizers: null } }))
  await watch.until(event => event.type === 'DELETED' && event.object.metadata.name === 'latecomers.example.com')
  watch.close()
  t.equal(await server.store.count({ group: 'example.com', resource: 'latecomers' }), 0)
})

t.test('an event that throws is told once, and its CRD is served all the same', async t => {
  const { types } = server.services
  const define = types.define.bind(types)
  let left = 3
  types.define = (space, name, served) => {
    if (name === 'odd.example.com' && left-- > 0) throw new Error('a bug')
    define(space, name, served)
  }
  await crds.define(definition('odd', 'Odd'))
  await crds.define(definition('evens', 'Even'))
  t.equal((await api.get('/apis/example.com/v1/odd')).code, 200)
  types.define = define
  t.equal(faults.length, 1)
  t.match(faults.splice(0), [/a bug/])
})

t.test('nothing else of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
