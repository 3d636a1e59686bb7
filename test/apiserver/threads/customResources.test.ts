/** Custom resources are read and watched in API threads, from the answer to their definition until it is gone. */
import t from 'tap'
import { Api } from '../../support/api.ts'
import { crdsIn } from '../../support/crds.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12
const GROUP = 'shop.example.com'
const WIDGETS = `/apis/${GROUP}/v1/namespaces/default/widgets`
const LATER = WIDGETS.replace('v1', 'v2')

const version = (name: string, storage: boolean, properties: object): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
  additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
  selectableFields: [{ jsonPath: '.spec.size' }],
})
const SIZE = { size: { type: 'integer' } }
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [version('v1', true, SIZE)],
  },
}
const widget = (name: string, size: number): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { name },
  spec: { size, color: 'red' },
})

const { api, faults } = await startTestServer(t, { more: { apiThreads: 2 } })
const at = api.in(await createSpace(api, 'shop'))
const elsewhere = api.in(await createSpace(api, 'other'))
const crds = crdsIn(at)
const all = Array.from({ length: CONNECTIONS }, () => new Api(api.access).in('root:shop'))
t.teardown(() => {
  for (const client of all) client.close()
})
const eachGets = async (path: string, headers?: Record<string, string>) =>
  await Promise.all(all.map(client => client.get(path, headers)))
const codesOf = async (path: string): Promise<number[]> => [...new Set((await eachGets(path)).map(({ code }) => code))]

t.test('they are served by all when their definition says so, in their space alone', async t => {
  t.same(await codesOf(WIDGETS), [404])
  await crds.define(DEFINITION)
  t.same(await codesOf(WIDGETS), [200])
  t.equal((await elsewhere.get(WIDGETS)).code, 404)
  await api.ok(at.post(WIDGETS, widget('small', 1)))
  await api.ok(at.post(WIDGETS, widget('large', 9)))
  for (const { body } of await eachGets(`${WIDGETS}/small`)) t.match(body, { kind: 'Widget', spec: { size: 1 } })
  for (const { body } of await eachGets(`${WIDGETS}?fieldSelector=spec.size=9`))
    t.match(body, { items: [{ metadata: { name: 'large' } }] })
  const asTable = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  for (const { body } of await eachGets(WIDGETS, asTable))
    t.match(body, { columnDefinitions: [{ name: 'Name' }, { name: 'Size' }], rows: [{ cells: ['large', 9] }, {}] })
})

t.test('another version, and what a newer schema leaves out, are seen by all with the answer', async t => {
  t.same(await codesOf(LATER), [404])
  await crds.change({
    ...DEFINITION,
    spec: { ...DEFINITION.spec, versions: [version('v1', true, SIZE), version('v2', false, {})] } as never,
  })
  t.same(await codesOf(LATER), [200])
  for (const { body } of await eachGets(`${LATER}/small`)) {
    t.equal(body.apiVersion, `${GROUP}/v2`)
    t.same(body.spec, {})
  }
})

t.test('a watch is told all, the last of it included, and ends with the definition', async t => {
  const watches = await Promise.all(all.map(client => client.watch(`${WIDGETS}?watch=1`)))
  const ended = Promise.all(watches.map(watch => watch.rest()))
  await api.ok(at.patch(`${WIDGETS}/small`, 'merge', { spec: { size: 2 } }))
  await api.ok(at.delete(crds.path(DEFINITION.metadata.name)))
  for (const events of await ended) {
    const told = events.map(({ type, object }) => `${type} ${object.metadata.name}`)
    t.strictSame(told.slice(0, 3), ['ADDED large', 'ADDED small', 'MODIFIED small'])
    t.strictSame(told.slice(3).sort(), ['DELETED large', 'DELETED small'])
  }
  t.same(await codesOf(WIDGETS), [404])
})

t.test('no name that a user chose makes a series', async t => {
  let text = ''
  while (!/apiserver_request_total\{verb="LIST",group="",resource="custom",code="200"\} \d+\n/.test(text))
    text = (await api.get('/metrics')).text
  t.notMatch(text, /widgets|shop/)
})

t.test('nothing of it was a fault of the server', async t => t.same(faults, []))
