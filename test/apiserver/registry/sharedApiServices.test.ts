/** `kubectl get apiservices` shows what a space serves, its custom resources included. */
import t from 'tap'
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
