/** Requests that once were faults of the server, or made it break a promise: each is named after what one saw. */
import { connect } from 'node:tls'
import t from 'tap'
import { createSpace, startTestServer } from '../support/server.ts'
import { DEPLOYMENTS, deployment } from './badInput/badCase.ts'

const { api, server, faults } = await startTestServer(t)
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const THINGS = '/apis/hostile.example.com/v1/namespaces/default/things'

function definition(openAPIV3Schema: object): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.hostile.example.com' },
    spec: {
      group: 'hostile.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}
const within = (inner: object): object => definition({ type: 'object', properties: { a: inner } })

t.test('500 for schemas of wrong types below items and additionalProperties', async t => {
  const wrong = { type: 'string', 'x-kubernetes-validations': {} }
  for (const [name, inner] of Object.entries({
    items: { type: 'array', items: wrong },
    additionalProperties: { type: 'object', additionalProperties: wrong },
    deeper: { type: 'array', items: { type: 'object', properties: { b: wrong } } },
    'a text': { type: 'array', items: 'x' },
    'a number': { type: 'object', additionalProperties: 1 },
    'a pattern that is none': { type: 'array', items: { type: 'string', pattern: 1 } },
  })) {
    const answer = await api.post(DEFINITIONS, within(inner))
    t.match(answer, { code: 400, body: { reason: 'BadRequest' } }, name)
  }
  const nulls = { type: 'array', items: { type: 'string', pattern: null, 'x-kubernetes-validations': null } }
  t.equal((await api.post(`${DEFINITIONS}?dryRun=All`, within(nulls))).code, 201, 'null is nothing')
})

t.test('500 for labels of custom resources that are no texts', async t => {
  await api.ok(api.post(DEFINITIONS, definition({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })))
  const watch = await api.watch(
    `${DEFINITIONS}?watch=1&resourceVersion=0&fieldSelector=metadata.name=things.hostile.example.com`,
  )
  await watch.until(({ object }) => JSON.stringify(object.status ?? {}).includes('"Established","status":"True"'))
  watch.close()
  const thing = (metadata: object): object => ({
    apiVersion: 'hostile.example.com/v1',
    kind: 'Thing',
    metadata: { name: 'thing', ...metadata },
  })
  for (const metadata of [
    { labels: { a: true } },
    { labels: [] },
    { annotations: { a: 1 } },
    { finalizers: 'x' },
    { finalizers: [1] },
    { ownerReferences: {} },
    { managedFields: 'x' },
    { managedFields: [{ manager: 1 }] },
    { generateName: 1 },
  ]) {
    const answer = await api.post(THINGS, thing(metadata))
    t.match(answer, { code: 400, body: { reason: 'BadRequest' } }, JSON.stringify(metadata))
    t.match(answer.body.message, /^Thing in version "v1" cannot be handled as a Thing: json: cannot unmarshal/)
  }
  await api.ok(api.post(THINGS, thing({ labels: null, annotations: { a: null } })))
  const patch = await api.patch(`${THINGS}/thing`, 'merge', { metadata: { labels: { a: true } } })
  t.match(patch, { code: 422, body: { reason: 'Invalid' } })
})

t.test('500 for a null in a list of texts', async t => {
  const deployments = await api.post(DEPLOYMENTS, { ...deployment('x'), metadata: { name: 'x', finalizers: [null] } })
  const causes = [{ field: 'metadata.finalizers', reason: 'FieldValueInvalid' }]
  t.match(deployments, { code: 422, body: { details: { causes } } }, 'it is the empty text')
  const metadata = { name: 'x', finalizers: [null], ownerReferences: [null] }
  const things = await api.post(THINGS, { apiVersion: 'hostile.example.com/v1', kind: 'Thing', metadata })
  t.equal(things.code, 422)
})

t.test('500 for objects that cannot be made a text', async t => {
  const odd = { toString: 1, valueOf: 2 }
  const path = `${DEPLOYMENTS}/any?fieldManager=a`
  await api.ok(api.post(DEPLOYMENTS, deployment('any')))
  t.equal((await api.patch(path, 'apply', { ...deployment('any'), apiVersion: odd })).code, 400)
  t.equal((await api.patch(path, 'strategic-merge', { spec: { $patch: odd } })).code, 400)
  const containers = [{ name: 'c', $patch: odd }]
  t.equal((await api.patch(path, 'strategic-merge', { spec: { template: { spec: { containers } } } })).code, 400)
})

t.test('500 for reviews of wrong types, asked for in protobuf', async t => {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews'
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: {} } }
  const headers = { accept: 'application/vnd.kubernetes.protobuf' }
  t.equal((await api.post(path, review, { headers })).code, 400)
  t.match(await api.post(path, { ...review, spec: { token: 'x', audiences: 'y' } }), {
    code: 400,
    body: { message: /^TokenReview in version "v1" cannot be handled as a TokenReview: json: cannot unmarshal string/ },
  })
})

t.test('minutes for a patch of a long list', async t => {
  const env = (count: number, first: string) => Array.from({ length: count }, (_, i) => ({ name: `${first}${i}` }))
  const spec = (of: object[]) => ({ template: { spec: { containers: [{ name: 'c', image: 'i', env: of }] } } })
  await api.ok(api.post(DEPLOYMENTS, deployment('long')))
  for (const first of ['A', 'B']) {
    await api.ok(api.patch(`${DEPLOYMENTS}/long`, 'strategic-merge', { spec: spec(env(15_000, first)) }))
  }
  const gone = env(15_000, 'A').map(item => ({ ...item, $patch: 'delete' }))
  const left = await api.ok(api.patch(`${DEPLOYMENTS}/long`, 'strategic-merge', { spec: spec(gone) }))
  const { template } = left.spec as { template: { spec: { containers: { env: object[] }[] } } }
  t.equal(template.spec.containers[0]!.env.length, 15_000)
  const ports = Array.from({ length: 15_000 }, (_, i) => ({ name: `p${i}`, port: i + 1 }))
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'long' }, spec: { ports } }
  t.equal((await api.post('/api/v1/namespaces/default/services?dryRun=All', service)).code, 201)
})

t.test('500 for protobuf metadata of what is no resource', async t => {
  const accept = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
  for (const path of ['/version', '/']) t.equal((await api.get(path, { accept })).code, 406, path)
  t.equal((await api.get('/version', { accept: `${accept},application/json` })).code, 200)
})

t.test('500 for a method of HTTP that wants a content type', async t => {
  t.match(await api.send('QUERY', DEPLOYMENTS), { code: 405, body: { kind: 'Status', reason: 'MethodNotAllowed' } })
})

t.test('a new generation for a replacement that changes nothing', async t => {
  const space = api.in(await createSpace(api, 'generations'))
  const made = await space.ok(space.post(DEPLOYMENTS, deployment('same')))
  const again = await space.ok(space.put(`${DEPLOYMENTS}/same`, deployment('same')))
  t.strictSame(again.metadata, made.metadata)
})

t.test('connections of refused WebSockets that nobody ever closed', async t => {
  const { hostname, port } = new URL(server.url)
  const { ca, cert, key } = api.access
  const socket = connect({ host: hostname, port: Number(port), ca, cert, key })
  const ended = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.write(
    'GET /api/v1/nonsense?watch=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  )
  const text = await new Promise<string>(resolve => socket.once('data', data => resolve(data.toString())))
  t.match(text, /^HTTP\/1\.1 404 Not Found\r\n/)
  // Unread bytes stand before the news that this side is gone.
  socket.on('error', () => {})
  socket.end(Buffer.alloc(200_000, 0x81))
  await ended
  await server.close()
  t.pass('a server that closes waits for no such connection')
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
