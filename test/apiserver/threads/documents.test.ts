/**
 * One thread makes the documents about kinds: all send the same bytes, and for a kind that a client knows. Orrery's own kinds are read by
 * all.
 */
import t from 'tap'
import { Api } from '../../support/api.ts'
import { crdsIn } from '../../support/crds.ts'
import { ALICE, createSpace, startTestServer } from '../../support/server.ts'

/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12
const GROUP = 'shop.example.com'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const ASKED: [path: string, headers?: Record<string, string>][] = [
  ['/'],
  ['/api'],
  ['/api?pretty=1'],
  ['/api/v1'],
  ['/apis'],
  ['/apis', { Accept: AGGREGATED }],
  ['/apis', { Accept: AGGREGATED.replace('application/json', PROTOBUF) }],
  ['/apis', { Accept: PROTOBUF }],
  ['/apis', { Accept: 'application/yaml' }],
  [`/apis/${GROUP}/`],
  [`/apis/${GROUP}/v1`],
  ['/openapi/v2'],
  ['/openapi/v2', { Accept: V2_PROTOBUF, 'Accept-Encoding': 'gzip' }],
  ['/openapi/v3'],
  [`/openapi/v3/apis/${GROUP}/v1`],
  [`/openapi/v3/apis/${GROUP}/v1?hash=OLD`],
]

const definition = (plural: string, kind: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

const { api, faults } = await startTestServer(t, { more: { apiThreads: 2 } })
const id = await createSpace(api, 'shop')
const at = api.in(id)
const crds = crdsIn(at)
const all = Array.from({ length: CONNECTIONS }, () => new Api(api.access).in('root:shop'))
t.teardown(() => {
  for (const client of all) client.close()
})
const eachGets = (path: string, headers?: Record<string, string>) =>
  Promise.all(all.map(client => client.get(path, headers)))

t.test('all send the same, and 304 to who has it', async t => {
  await crds.define(definition('widgets', 'Widget'))
  for (const [path, headers] of ASKED) {
    const name = `${path} ${headers?.Accept ?? ''}`
    const answers = await eachGets(path, headers)
    const [{ code, headers: told }] = answers as [(typeof answers)[number]]
    t.equal(new Set(answers.map(({ text }) => text)).size, 1, name)
    t.equal(
      new Set(answers.map(({ headers }) => JSON.stringify([headers.etag, headers['content-type']]))).size,
      1,
      name,
    )
    t.equal(code, path.endsWith('OLD') ? 301 : 200, name)
    if (code !== 200) continue
    const again = await eachGets(path, { ...headers, 'If-None-Match': told.etag as string })
    t.same(new Set(again.map(answer => answer.code)), new Set([304]), name)
  }
})

t.test('a kind is in all of them, or in none, with the answer that says so', async t => {
  const tells = async (isThere: boolean): Promise<void> => {
    const path = `/apis/${GROUP}/v1`
    for (const [asked, headers] of [
      [path],
      ['/apis', { Accept: AGGREGATED }],
      ['/openapi/v2'],
      [`/openapi/v3${path}`],
    ] as const)
      t.same(
        new Set((await eachGets(asked, headers)).map(({ text }) => text.includes('Gadget'))),
        new Set([isThere]),
        asked,
      )
  }
  for (let round = 0; round < 2; round++) {
    await tells(false)
    await crds.define(definition('gadgets', 'Gadget'))
    await tells(true)
    const gone = await at.watch(
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1&fieldSelector=metadata.name=gadgets.${GROUP}`,
    )
    await api.ok(at.delete(crds.path(`gadgets.${GROUP}`)))
    await gone.until(({ type }) => type === 'DELETED')
    gone.close()
  }
})

t.test('nobody is told more than by one thread', async t => {
  for (const [path, code] of [
    ['/apis/none.example.com', 404],
    ['/apis/none.example.com/v1', 404],
    ['/openapi/v3/apis/none.example.com/v1', 404],
    ['/openapi/v4', 404],
    ['/apis/a/b?%', 404],
  ] as const)
    t.same(new Set((await eachGets(path)).map(answer => answer.code)), new Set([code]), path)
  const strangers = Array.from({ length: CONNECTIONS }, () => api.in(id).as(ALICE))
  const refused = await Promise.all(strangers.map(client => client.get('/openapi/v2')))
  t.same(new Set(refused.map(({ code }) => code)), new Set([403]))
  for (const client of strangers) client.close()
  const wrong = await eachGets('/apis', { Accept: 'text/html' })
  t.same(new Set(wrong.map(({ code }) => code)), new Set([406]))
})

t.test('kinds of Orrery’s own are read and watched as they are written', async t => {
  const path = '/apis/edge.kubestellar.io/v2alpha1/locations'
  const from = (await api.ok(at.get(path))).metadata.resourceVersion
  const watches = await Promise.all(all.map(client => client.watch(`${path}?watch=1&resourceVersion=${from}`)))
  const object = {
    metadata: { name: 'here' },
    spec: { resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' } },
  }
  const made = await api.ok(at.post(path, object))
  for (const { body } of await eachGets(`${path}/here`)) t.equal(body.metadata.uid, made.metadata.uid)
  for (const watch of watches) {
    t.match(await watch.take(1), [{ type: 'ADDED', object: { metadata: { name: 'here' } } }])
    watch.close()
  }
  const spaces = await Promise.all(
    all.map(() => new Api(api.access).get('/apis/tenancy.kcp.io/v1alpha1/workspaces/shop')),
  )
  for (const { body } of spaces) t.equal((body.spec as { cluster: string }).cluster, id)
})

t.test('nothing of it was a fault of the server', async t => t.same(faults, []))
