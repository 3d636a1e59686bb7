import t from 'tap'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { OpenApiDocuments, openApiOf } from '../../../src/apiserver/openapi/documents.ts'
import { openApiPaths } from '../../../src/apiserver/openapi/routes.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { serving } from '../http/answering.ts'

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
const ask = await serving(t, openApiPaths({ documents: openApiOf(types, new OpenApiDocuments(catalog, work)), work }))

t.test('the index leads to documents that may be kept for good', async t => {
  const index = JSON.parse((await ask('/clusters/teama/openapi/v3')).text)
  const url: string = index.paths['apis/ex.io/v1'].serverRelativeURL
  const answer = await ask(`/clusters/teama${url}`)
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['cache-control'], 'public, immutable')
  t.ok(JSON.parse(answer.text).components.schemas['io.ex.v1.Foo'])
  t.notOk(
    JSON.parse((await ask('/clusters/other/openapi/v3')).text).paths['apis/ex.io/v1'],
    'other spaces do not see it',
  )
  t.equal((await ask(`/clusters/other${url}`)).statusCode, 404)
})

t.test('an old hash leads to the new document in the same space', async t => {
  const answer = await ask('/clusters/teama/openapi/v3/apis/ex.io/v1?hash=OLD')
  t.equal(answer.statusCode, 301)
  t.match(answer.headers.location, /^\/clusters\/teama\/openapi\/v3\/apis\/ex\.io\/v1\?hash=[0-9A-F]{64}$/)
})

t.test('nothing is sent again to those who have it', async t => {
  const path = '/clusters/teama/openapi/v3/api/v1'
  const first = await ask(path)
  const again = await ask(path, { headers: { 'if-none-match': first.headers.etag as string } })
  t.equal(again.statusCode, 304)
})

t.test('version 2 in the form that is asked for', async t => {
  const url = '/clusters/teama/openapi/v2'
  const json = await ask(url, { headers: { accept: 'application/json, */*' } })
  t.ok(JSON.parse(json.text).definitions['io.ex.v1.Foo'])
  const asked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
  const binary = await ask(url, { headers: { accept: asked } })
  t.equal(binary.headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
  t.same(binary.body.subarray(0, 5), Buffer.from([0x0a, 3, ...Buffer.from('2.0')]))
})

t.test('version 2 is whole however it travels, and is not sent again to those who have it', async t => {
  const url = '/clusters/teama/openapi/v2'
  const plain = await ask(url)
  const packed = await ask(url, { headers: { 'accept-encoding': 'gzip' } })
  t.equal(plain.headers['content-length'], String(plain.body.length))
  t.equal(plain.text, packed.text, 'this app does not compress')
  const again = await ask(url, { headers: { 'if-none-match': plain.headers.etag as string } })
  t.equal(again.statusCode, 304)
  t.equal(again.body.length, 0)
  const head = await ask(url, { method: 'HEAD' })
  t.equal(head.statusCode, 200)
  t.equal(head.body.length, 0)
})

t.test('a document that is there already leaves with turns for others', async t => {
  const url = '/clusters/teama/openapi/v2'
  await ask(url)
  const before = turns
  const { length } = (await ask(url)).body
  t.ok(turns - before >= Math.floor(length / (128 * 1024)), `${turns - before} turns for ${length} bytes`)
})
