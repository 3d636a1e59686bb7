import fastify from 'fastify'
import t from 'tap'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { OpenApiDocuments, openApiOf } from '../../../src/apiserver/openapi/documents.ts'
import { openApiRoutes } from '../../../src/apiserver/openapi/routes.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'

const catalog = loadCatalog()
const foo: ResourceType = {
  group: 'ex.io',
  version: 'v1',
  resource: 'foos',
  singular: 'foo',
  kind: 'Foo',
  listKind: 'FooList',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  storageVersion: 'v1',
  subresources: [],
  schema: { type: 'object' },
  columns: [],
  selectableFields: [],
  form: 'custom',
}
const types = new TypeRegistry(catalog.types)
types.define('teama', 'foos.ex.io', [foo])
let turns = 0
const work = new WorkTurns({
  sliceMs: 0,
  clock: () => 0,
  later: turn => {
    turns++
    setImmediate(turn)
  },
})
const routes = openApiRoutes({ documents: openApiOf(types, new OpenApiDocuments(catalog, work)), work })
const app = fastify()
app.get('/clusters/:space/*', async (request, reply) => {
  const [, space, path] = /^\/clusters\/([^/]+)(\/[^?]*)/.exec(request.url)!
  if (!(await routes.handle(request, reply, path!, space!))) reply.code(404).send()
  return reply
})
t.teardown(() => app.close())

t.test('the index leads to documents that may be kept for good', async t => {
  const index = (await app.inject('/clusters/teama/openapi/v3')).json()
  const url: string = index.paths['apis/ex.io/v1'].serverRelativeURL
  const answer = await app.inject(`/clusters/teama${url}`)
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['cache-control'], 'public, immutable')
  t.ok(answer.json().components.schemas['io.ex.v1.Foo'])
  t.notOk((await app.inject('/clusters/other/openapi/v3')).json().paths['apis/ex.io/v1'], 'other spaces do not see it')
  t.equal((await app.inject(`/clusters/other${url}`)).statusCode, 404)
})

t.test('an old hash leads to the new document in the same space', async t => {
  const answer = await app.inject('/clusters/teama/openapi/v3/apis/ex.io/v1?hash=OLD')
  t.equal(answer.statusCode, 301)
  t.match(answer.headers.location, /^\/clusters\/teama\/openapi\/v3\/apis\/ex\.io\/v1\?hash=[0-9A-F]{64}$/)
})

t.test('nothing is sent again to those who have it', async t => {
  const path = '/clusters/teama/openapi/v3/api/v1'
  const first = await app.inject(path)
  const again = await app.inject({ url: path, headers: { 'if-none-match': first.headers.etag as string } })
  t.equal(again.statusCode, 304)
})

t.test('version 2 in the form that is asked for', async t => {
  const url = '/clusters/teama/openapi/v2'
  const json = await app.inject({ url, headers: { accept: 'application/json, */*' } })
  t.ok(json.json().definitions['io.ex.v1.Foo'])
  const asked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
  const binary = await app.inject({ url, headers: { accept: asked } })
  t.equal(binary.headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
  t.same(binary.rawPayload.subarray(0, 5), Buffer.from([0x0a, 3, ...Buffer.from('2.0')]))
})

t.test('version 2 is whole however it travels, and is not sent again to those who have it', async t => {
  const url = '/clusters/teama/openapi/v2'
  const plain = await app.inject(url)
  const packed = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
  t.equal(plain.headers['content-length'], String(plain.rawPayload.length))
  t.equal(plain.payload, packed.payload, 'this app does not compress')
  const again = await app.inject({ url, headers: { 'if-none-match': plain.headers.etag as string } })
  t.equal(again.statusCode, 304)
  t.equal(again.rawPayload.length, 0)
  const head = await app.inject({ url, method: 'HEAD' })
  t.equal(head.statusCode, 200)
  t.equal(head.rawPayload.length, 0)
})

t.test('a document that is there already leaves with turns for others', async t => {
  const url = '/clusters/teama/openapi/v2'
  await app.inject(url)
  const before = turns
  const { length } = (await app.inject(url)).rawPayload
  t.ok(turns - before >= Math.floor(length / (128 * 1024)), `${turns - before} turns for ${length} bytes`)
})
