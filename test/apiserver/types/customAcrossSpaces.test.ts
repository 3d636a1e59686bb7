/** `/clusters/*` serves a custom kind where all spaces with a definition of it define it alike, in API threads as on the main one. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { planOf, runWatch, type WatchTarget } from '../../../src/apiserver/endpoints/watch.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import type { WatchEvent } from '../../support/api.ts'
import { crdsIn } from '../../support/crds.ts'
import { ALICE, createSpace, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'

const GROUP = 'shop.example.com'
const WIDGETS = `/apis/${GROUP}/v1/widgets`
const IN_DEFAULT = `/apis/${GROUP}/v1/namespaces/default/widgets`
const SIZE = { size: { type: 'integer' } }
const OTHER = { size: { type: 'string' } }

const definition = (properties: object, names = { plural: 'widgets', kind: 'Widget' }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${names.plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
    ],
  },
})
const widget = (name: string, size: number): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { name },
  spec: { size },
})
const told = (events: readonly WatchEvent[]): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name}`)

async function attempt(t: Test, apiThreads: number): Promise<void> {
  const { api, faults } = await startTestServer(t, { more: { apiThreads } })
  const [one, two] = [await createSpace(api, 'one'), await createSpace(api, 'two')]
  const all = api.in('*')
  const crds = { one: crdsIn(api.in(one)), two: crdsIn(api.in(two)) }
  const name = definition(SIZE).metadata.name
  const create = async (space: string, object: object) => await api.ok(api.in(space).post(IN_DEFAULT, object))
  const listed = async (): Promise<string[]> => {
    const { items } = (await api.ok(all.get(WIDGETS))) as unknown as { items: KubeObject[] }
    return items.map(({ metadata }) => `${metadata.annotations?.['kcp.io/cluster']} ${metadata.name}`).sort()
  }
  const plain = async (): Promise<void> => {
    t.match((await all.get(WIDGETS)).body, { code: 404, message: 'the server could not find the requested resource' })
  }

  await plain()
  await crds.one.define(definition(SIZE))
  await create(one, widget('a', 1))
  t.same(await listed(), [`${one} a`], 'of the one space that defines it')
  const watch = await all.watch(`${WIDGETS}?watch=1`)
  t.same(told(await watch.take(1)), ['ADDED a'])

  await crds.two.define(definition(SIZE))
  await create(two, widget('a', 2))
  await create(two, widget('b', 3))
  t.same(told(await watch.take(2)), ['ADDED a', 'ADDED b'], 'an equal definition joins what is watched')
  t.same(await listed(), [`${one} a`, `${two} a`, `${two} b`].sort())
  const page = await all.get(`${WIDGETS}?limit=2`)
  t.match(page.body, { items: [{}, {}], metadata: { remainingItemCount: 1 } })
  const rest = await all.get(`${WIDGETS}?limit=2&continue=${(page.body.metadata as { continue?: string }).continue}`)
  t.match(rest.body, { items: [{}], metadata: { continue: undefined } })
  const asTable = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  t.match((await all.get(`${WIDGETS}?fieldSelector=metadata.name=b`, asTable)).body, {
    columnDefinitions: [{ name: 'Space' }, { name: 'Name' }, { name: 'Size' }],
    rows: [{ cells: ['root:two', 'b', 3] }],
  })
  t.match((await all.get(`/apis/${GROUP}/v1`)).body, { resources: [{ name: 'widgets' }] }, 'discovery offers it')
  t.equal((await all.get(`${IN_DEFAULT}/a`)).code, 405)
  t.equal((await all.post(IN_DEFAULT, widget('c', 1))).code, 405)
  const alice = api.as(ALICE)
  t.equal((await alice.in('*').get(WIDGETS)).code, 403, 'administrators alone')
  alice.close()

  const before = (await all.get(WIDGETS)).body.metadata.resourceVersion
  await crds.two.change(definition(OTHER))
  t.same(told(await watch.rest()), [], 'a definition that becomes another one ends the watch')
  t.match((await all.get(WIDGETS)).body, {
    code: 404,
    reason: 'NotFound',
    message: `spaces define version v1 of ${name} otherwise: root:one; root:two. Read each at /clusters/<space>`,
  })
  t.equal((await all.get(`${WIDGETS}?watch=1`)).code, 404)
  t.equal((await all.get(`/apis/${GROUP}/v1`)).code, 404, 'nor does discovery offer it')
  t.match((await all.get(WIDGETS.replace('v1', 'v9'))).body.message, /^the server could not find/)
  t.equal((await api.in(one).get(IN_DEFAULT)).code, 200, 'each space serves its own')
  await create(one, widget('meanwhile', 4))

  await crds.two.change(definition(SIZE))
  const later = await all.watch(`${WIDGETS}?watch=1&resourceVersion=${before}`)
  t.same(told(await later.take(1)), ['ADDED meanwhile'], 'alike again, a watch misses nothing')
  await api.ok(api.in(two).delete(crds.two.path(name)))
  t.same(told(await later.take(2)).sort(), ['DELETED a', 'DELETED b'], 'a space leaves what is watched')
  await create(one, widget('last', 5))
  t.same(told(await later.take(1)), ['ADDED last'])
  await api.ok(api.in(one).delete(crds.one.path(name)))
  t.same(told(await later.rest()).sort(), ['DELETED a', 'DELETED last', 'DELETED meanwhile'])
  await plain()

  await crds.one.define(definition(SIZE))
  await crds.two.define(definition(SIZE, { plural: 'gadgets', kind: 'Widget' }))
  t.equal((await all.get('/openapi/v2')).code, 200, 'one Kind of two resources')
  t.equal((await all.get(`/openapi/v3/apis/${GROUP}/v1`)).code, 200)
  t.same(faults, [])
}

for (const apiThreads of [0, 2]) t.test(`with ${apiThreads} API threads`, t => attempt(t, apiThreads))

t.test('a watch that begins amid a change of definitions shows no object in the form of another one', async t => {
  const { api, server } = await startTestServer(t, ON_MAIN_THREAD)
  const { services } = server
  const [one, two] = [await createSpace(api, 'one'), await createSpace(api, 'two')]
  await crdsIn(api.in(one)).define(definition(SIZE))
  const info = parseRequest('GET', `${WIDGETS}?watch=1&resourceVersion=${services.reader.revision}`)
  const target: WatchTarget = {
    info,
    resource: info.resource!,
    space: '*',
    type: services.types.in('*').find(GROUP, 'v1', 'widgets')!,
    form: { format: 'json' } as WatchTarget['form'],
    user: { name: 'u', groups: [] },
  }
  const plan = await planOf(services, target)
  await crdsIn(api.in(two)).define(definition(OTHER))
  await api.ok(api.in(two).post(IN_DEFAULT, { ...widget('b', 0), spec: { size: 'large' } }))
  const frames: string[] = []
  const sink = {
    busy: false,
    async write(some: readonly Buffer[]) {
      frames.push(...some.map(String))
      return true
    },
    end() {},
  }
  const permission = { space: '*', identity: { user: target.user }, judge: () => {} }
  await runWatch(services, target, plan, sink, { gone: new AbortController().signal, permission })
  t.same(frames, [], 'it ends')
})
