/** `kubectl get apiservices` shows what a space serves, its custom resources included. */
import t from 'tap'
import { resourceTypesOf } from '../../../src/apimachinery/crd/crd.ts'
import { groupResourceName, type KubeObject } from '../../../src/apimachinery/object.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { decodeObject } from '../../../src/apiserver/registry/codec.ts'
import { API_SERVICES, sharedApiServices } from '../../../src/apiserver/registry/sharedApiServices.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const PATH = '/apis/apiregistration.k8s.io/v1/apiservices'

t.test('every group and version that a space serves has its APIService', async t => {
  const { api, faults } = await startTestServer(t)
  const space = await createSpace(api, 'one')
  const at = api.in(space)
  const list = await api.ok(at.get(PATH))
  const names = list.items.map(item => item.metadata.name!)
  const groups = await api.ok(at.get('/apis'))
  const served = (groups.groups as { versions: { groupVersion: string }[] }[])
    .flatMap(group => group.versions.map(({ groupVersion }) => groupVersion.split('/').reverse().join('.')))
    .concat('v1.')
  t.strictSame(names, served.sort())
  const apps = await api.ok(at.get(`${PATH}/v1.apps`))
  t.match(apps, {
    kind: 'APIService',
    metadata: { name: 'v1.apps', annotations: { 'kcp.io/cluster': space } },
    spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17800 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
  })
  const table = await at.get(PATH, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  const rows = (table.body as unknown as { rows: { cells: unknown[] }[] }).rows
  t.strictSame(rows.find(row => row.cells[0] === 'v1.apps')?.cells.slice(1, 3), ['Local', 'True'])
  t.strictSame(faults, [])
})

t.test('a custom resource brings its own, in its space only; what is served cannot be redefined', async t => {
  const { api } = await startTestServer(t)
  const [one, two] = [await createSpace(api, 'one'), await createSpace(api, 'two')]
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }
  const at = api.in(one)
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const made = await api.ok(at.post(crds, crd))
  const watch = await at.watch(`${crds}?watch=1&resourceVersion=${made.metadata.resourceVersion}`)
  await watch.until(({ object }) => JSON.stringify(object.status ?? {}).includes('"Established"'))
  watch.close()
  t.equal((await at.get(`${PATH}/v1.example.com`)).code, 200)
  t.equal((await api.in(two).get(`${PATH}/v1.example.com`)).code, 404)
  const apps = (await at.get(`${PATH}/v1.apps`)).body
  const { resourceVersion: _, uid: __, ...metadata } = apps.metadata
  t.equal((await at.post(PATH, { ...apps, metadata })).code, 409)
})

t.test('a watch tells what definitions add and take away, and is resumed like any other', async t => {
  const { api, server, faults } = await startTestServer(t)
  const at = api.in(await createSpace(api, 'one'))
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const version = (name: string, served = true) => ({
    name,
    served,
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object' } },
  })
  const crd = (plural: string, ...versions: object[]) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: { group: 'example.com', scope: 'Cluster', names: { plural, kind: `Kind${plural}` }, versions },
  })
  const { resourceVersion = '' } = (await api.ok(at.get(PATH))).metadata
  const shown = ({ type, object }: { type: string; object: KubeObject }): string => `${type} ${object.metadata.name}`

  const all = await at.watch(`${PATH}?watch=1`)
  const first = await all.take(2)
  t.ok(
    first.every(event => event.type === 'ADDED'),
    'without a version it begins with what there is',
  )
  all.close()

  const live = await at.watch(`${PATH}?watch=1&resourceVersion=${resourceVersion}`)
  await api.ok(at.post(crds, crd('as', version('v1'), version('v2'))))
  const [one, two] = await live.take(2)
  t.strictSame([shown(one!), shown(two!)], ['ADDED v1.example.com', 'ADDED v2.example.com'])
  t.match(one!.object, {
    kind: 'APIService',
    metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
    spec: { group: 'example.com', version: 'v1' },
  })
  await api.ok(at.post(crds, crd('bs', version('v1'), version('v3', false))))
  await api.ok(
    at.patch(`${crds}/as.example.com`, 'merge', { spec: { versions: [version('v1'), version('v2', false)] } }),
  )
  t.strictSame((await live.take(1)).map(shown), ['DELETED v2.example.com'], 'v1 was there already, v3 is not served')
  await api.ok(at.delete(`${crds}/as.example.com`))
  await api.ok(at.delete(`${crds}/bs.example.com`))
  t.strictSame((await live.take(1)).map(shown), ['DELETED v1.example.com'], 'it goes with the last that served it')
  live.close()

  const again = await at.watch(`${PATH}?watch=1&resourceVersion=${one!.object.metadata.resourceVersion}`)
  t.strictSame((await again.take(2)).map(shown), ['DELETED v2.example.com', 'DELETED v1.example.com'])
  again.close()
  const named = await at.watch(
    `${PATH}?watch=1&resourceVersion=${resourceVersion}&fieldSelector=metadata.name%3Dv2.example.com`,
  )
  t.strictSame((await named.take(2)).map(shown), ['ADDED v2.example.com', 'DELETED v2.example.com'])
  named.close()
  await server.store.compact(server.store.revision)
  const late = await at.watch(`${PATH}?watch=1&resourceVersion=${resourceVersion}`)
  t.match(await late.rest(), [{ type: 'ERROR', object: { reason: 'Expired', code: 410 } }])
  t.strictSame(faults, [])
})

t.test('one is as old as the server or, of custom kinds, as the oldest definition', async t => {
  const since = '2020-01-01T00:00:00Z'
  const types = new TypeRegistry(loadCatalog().types)
  const layer = sharedApiServices(types, since, {
    list: async () => ({ items: [], revision: 1, more: false, remaining: 0 }),
  }).get(groupResourceName(API_SERVICES))!
  const define = (space: string, plural: string, creationTimestamp: string): void => {
    const names = { plural, kind: plural }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.ex.io`, creationTimestamp },
      spec: { group: 'ex.io', scope: 'Cluster', names, versions },
      status: { acceptedNames: names },
    }
    types.define(space, definition.metadata.name, resourceTypesOf(definition))
  }
  define('one', 'as', '2022-02-02T00:00:00Z')
  define('one', 'bs', '2021-01-01T00:00:00Z')
  define('two', 'as', '2023-03-03T00:00:00Z')
  const created = async (space: string, name: string): Promise<unknown> => {
    const stored = await layer.get(space, API_SERVICES, name)
    return stored && decodeObject(stored).metadata.creationTimestamp
  }
  t.equal(await created('one', 'v1.ex.io'), '2021-01-01T00:00:00Z')
  t.equal(await created('two', 'v1.ex.io'), '2023-03-03T00:00:00Z')
  t.equal(await created('one', 'v1.apps'), since)
})
