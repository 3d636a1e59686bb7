/** A write goes over its object many times in one turn of the loop: what has too many fields is refused before, and says so. */
import t from 'tap'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { startTestServer } from '../support/server.ts'

// large objects wait for turns: longer than the default on a busy machine
t.setTimeout(FILE_LIMIT_MS)
const { api } = await startTestServer(t)
const group = 'sizes.example.org'
const list = (type: string, items: object) => ({ type: 'array', 'x-kubernetes-list-type': type, items })
const properties = {
  keyed: {
    ...list('map', { type: 'object', required: ['n'], properties: { n: { type: 'string' } } }),
    'x-kubernetes-list-map-keys': ['n'],
  },
  set: list('set', { type: 'string' }),
  map: { type: 'object', additionalProperties: { type: 'string' } },
}
const spec = {
  group,
  names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
  scope: 'Namespaced',
  versions: [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
    },
  ],
}
const things = `/apis/${group}/v1/namespaces/default/things`
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
await api.ok(api.post(definitions, { ...definition, metadata: { name: `things.${group}` }, spec }))
const watch = await api.watch(`${definitions}?watch=1&resourceVersion=0&fieldSelector=metadata.name=things.${group}`)
await watch.until(({ object }) => JSON.stringify(object.status ?? {}).includes('"Established","status":"True"'))
watch.close()

const names = (count: number, prefix = 'k') => Array.from({ length: count }, (_, i) => prefix + i)
const mapOf = (count: number, prefix?: string) => Object.fromEntries(names(count, prefix).map(name => [name, '']))
const thing = (name: string, spec: object) => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, spec })
const apply = (name: string, spec: object, manager = 'x') =>
  api.patch(`${things}/${name}?fieldManager=${manager}&force=true`, 'apply', thing(name, spec))
const merge = (name: string, spec: object) => api.patch(`${things}/${name}`, 'merge', { spec })
const tooLarge = (message: RegExp) => ({ code: 413, body: { reason: 'RequestEntityTooLarge', message } })

t.test('an apply claims a bounded number of fields', async t => {
  const keyed = names(15_000).map(n => ({ n }))
  const answer = await apply('applied', { keyed, set: names(25_000) })
  t.match(answer, tooLarge(/^an apply may claim 40000 fields at most: split the object/))
  t.equal((await apply('applied', { map: mapOf(30_000) })).code, 201)
})

t.test('managers claim a bounded number of fields together', async t => {
  const map = mapOf(38_000)
  for (const manager of ['a', 'b', 'c']) t.ok((await apply('claimed', { map }, manager)).code < 300, manager)
  t.match(await apply('claimed', { map }, 'd'), tooLarge(/claim more than 150000 fields together/))
})

t.test('a body has a bounded number of fields', async t => {
  const answer = await api.post(things, thing('posted', { map: mapOf(100_001) }))
  t.match(answer, tooLarge(/^the request body has more than 100000 fields and elements/))
})

t.test('patches do not make more of it', async t => {
  const set = names(65_000)
  await api.ok(api.post(things, thing('patched', { set, map: mapOf(30_000) })))
  t.match(await merge('patched', { map: mapOf(30_000, 'more') }), tooLarge(/^the object would have more than 100000 f/))
  t.match(
    await merge('patched', { set: [], map: mapOf(30_000, 'more') }),
    tooLarge(/more than 40000 fields in one map/),
  )
  await api.ok(merge('patched', { map: { k1: null } }))
})

t.test('nor of its text', async t => {
  const text = 'x'.repeat(2_900_000)
  await api.ok(api.post(things, thing('long', { map: { a: text } })))
  await api.ok(merge('long', { map: { b: text } }))
  t.match(await merge('long', { map: { c: text } }), tooLarge(/characters long, and may be 8388608/))
})
