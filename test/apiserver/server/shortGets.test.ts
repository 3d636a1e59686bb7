/** What is answered the short way is what the long way answers, to the byte; and whatever has a say about a request has it there, too. */
import t from 'tap'
import { CONFIGMAPS, configMap, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'
import { ACCESS, AS_ALICE, codeOf, defineWidgets, grant, lineTo, parsedBy, withoutDate } from './shortSupport.ts'

const READS = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }

t.test('both ways answer the same', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  await api.ok(api.post(CONFIGMAPS, configMap('plain')))
  await api.ok(api.post(CONFIGMAPS, { ...configMap('text'), data: { a: 'ä€😀\u0000' } }))
  await api.ok(api.post(CONFIGMAPS, { ...configMap('large'), data: { a: 'x'.repeat(40_000) } }))
  await defineWidgets(api, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  await grant(api, 'reader', [ACCESS, READS])
  const short = [
    `${CONFIGMAPS}/plain`,
    `${CONFIGMAPS}/text`,
    '/api/v1/namespaces/default',
    '/clusters/root/api/v1/namespaces/default',
  ]
  const admin = [
    ...['/apis/apps/v1/namespaces/default/deployments/nope', '/apis/rbac.authorization.k8s.io/v1/clusterroles/reader'],
    ...[
      `${CONFIGMAPS}/nope`,
      `${CONFIGMAPS}/large`,
      CONFIGMAPS,
      `${CONFIGMAPS}/plain/status`,
      '/api/v1/configmaps/plain',
    ],
    ...['/api/v1/namespaces/default/endpoints/kubernetes', '/api/v1/namespaces/default/services/kubernetes'],
    ...[
      '/api/v1/namespaces/default/namespaces/default',
      '/api/v1/namespaces//configmaps/plain',
      '/api/v2/namespaces/default',
    ],
    ...[
      '/apis/example.com/v1/namespaces/default/widgets/w',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/a',
    ],
    ...['/livez', '/version', '/nowhere', '/api', '/clusters/root:nowhere/api/v1/namespaces/default'],
    ...[
      '/clusters/*/api/v1/namespaces/default',
      '/clusters/-/api',
      '/services/stream/clusters/-',
      '/api/v1/watch/namespaces/../x',
    ],
  ]
  const forms = [
    '',
    'Accept: application/json\r\n',
    'Accept: application/json\r\nConnection: keep-alive\r\n',
    'Accept: application/json, */*\r\n',
    'Accept: application/yaml\r\n',
    'Accept: application/vnd.kubernetes.protobuf\r\n',
    'Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n',
    'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io\r\n',
    'Accept: text/html\r\n',
    'User-Agent: curl/8\r\n',
    'Accept-Encoding: gzip\r\n',
    'Impersonate-User: alice\r\n',
  ]
  const parsed = parsedBy(t)
  for (const asAdmin of [true, false]) {
    for (const form of forms) {
      const headers = asAdmin ? form : `${AS_ALICE}${form}`
      const [same, other] = [await lineTo(t, api, asAdmin), await lineTo(t, api, asAdmin)]
      // nothing is known of a head that never comes again
      let turn = 0
      for (const path of [short[0]!, ...short, ...admin, ...short]) {
        const answer = await same.get(path, headers)
        const expected = await other.get(path, `${headers}X-Turn: ${turn++}\r\n`)
        t.equal(withoutDate(answer), withoutDate(expected), `${path} ${headers}`)
      }
    }
  }
  for (const form of ['', 'Accept: application/vnd.kubernetes.protobuf\r\n', 'Accept: application/json, */*\r\n']) {
    const line = await lineTo(t, api)
    await line.get(short[0]!, form)
    for (const path of short) {
      parsed.length = 0
      t.equal(codeOf(await line.get(path, form)), 200)
      t.strictSame(parsed, [], `${path} ${form} goes the short way`)
    }
  }
})

t.test('rights, credentials and objects that go are gone at once', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  await api.ok(api.post(CONFIGMAPS, configMap('c')))
  await grant(api, 'reader', [ACCESS, READS])
  const line = await lineTo(t, api, false)
  const parsed = parsedBy(t)
  const ask = async (): Promise<number> => codeOf(await line.get(`${CONFIGMAPS}/c`, AS_ALICE))
  t.equal(await ask(), 200)
  parsed.length = 0
  t.equal(await ask(), 200)
  t.strictSame(parsed, [])
  for (let round = 0; round < 20; round++) {
    const binding = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/reader'
    const { metadata: _, ...rest } = await api.ok(api.get(binding))
    await api.ok(api.delete(binding))
    t.equal(await ask(), 403)
    await api.ok(api.post(binding.slice(0, -'/reader'.length), { ...rest, metadata: { name: 'reader' } }))
    t.equal(await ask(), 200)
    const { metadata } = await api.ok(api.put(`${CONFIGMAPS}/c`, { ...configMap('c'), data: { round: `${round}` } }))
    t.match(await line.get(`${CONFIGMAPS}/c`, AS_ALICE), `"resourceVersion":"${metadata.resourceVersion}"`)
  }
  await api.ok(api.delete(`${CONFIGMAPS}/c`))
  t.equal(await ask(), 404)
})

t.test('a token that is forgotten is refused', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await api.ok(api.post(accounts, { metadata: { name: 'a' } }))
  const made = await api.ok(api.post(`${accounts}/a/token`, { spec: {} }))
  const { token } = made.status as { token: string }
  const line = await lineTo(t, api, false)
  const ask = async (): Promise<number> =>
    codeOf(await line.get(CONFIGMAPS.replace(/configmaps$/, 'configmaps/c'), `Authorization: Bearer ${token}\r\n`))
  for (let n = 0; n < 3; n++) t.equal(await ask(), 403)
  await api.ok(api.delete(`${accounts}/a`))
  t.equal(await ask(), 401)
})

t.test('requests that come together are answered in their order, and counted like others', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  for (const name of ['a', 'b', 'c']) await api.ok(api.post(CONFIGMAPS, configMap(name)))
  const line = await lineTo(t, api)
  const counted = async (): Promise<number> => {
    const { text } = await api.get('/metrics')
    return Number(
      /apiserver_request_total\{verb="GET",group="",resource="configmaps",code="200"\} (\d+)/.exec(text)?.[1] ?? 0,
    )
  }
  const before = await counted()
  const names = ['a', 'b', 'c', 'b', 'b', 'a', 'c', 'c']
  line.socket.write(names.map(name => `GET ${CONFIGMAPS}/${name} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  for (const name of names) t.match(await line.answer(), `"name":"${name}"`)
  t.equal((await counted()) - before, names.length)
  const { text } = await api.get('/metrics')
  t.match(text, /apiserver_current_inflight_requests\{request_kind="readOnly"\} 1\n/, 'this one alone')
})

t.test('who does not read is answered no further, and their end leaves nothing behind', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  await api.ok(api.post(CONFIGMAPS, { ...configMap('c'), data: { a: 'x'.repeat(30_000) } }))
  const line = await lineTo(t, api)
  await line.get(`${CONFIGMAPS}/c`)
  line.socket.pause()
  line.socket.write(`GET ${CONFIGMAPS}/c HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(5000))
  const look = async (): Promise<{ running: number; answered: number }> => {
    const { text } = await api.get('/metrics')
    const of = (pattern: RegExp): number => Number(pattern.exec(text)?.[1])
    return {
      running: of(/apiserver_current_inflight_requests\{request_kind="readOnly"\} (\d+)/),
      answered: of(/apiserver_request_total\{verb="GET",group="",resource="configmaps",code="200"\} (\d+)/),
    }
  }
  // one answer is under way beside who looks, and it stays that
  let before = await look()
  for (let same = 0; same < 30; ) {
    const now = await look()
    same = now.running === 2 && now.answered === before.answered ? same + 1 : 0
    before = now
  }
  t.ok(before.answered < 4000, `${before.answered}`)
  line.socket.destroy()
  while ((await look()).running > 1) await new Promise(resolve => setImmediate(resolve))
})

t.test('a server that drains refuses', async t => {
  const { api, server } = await startTestServer(t, ON_MAIN_THREAD)
  await api.ok(api.post(CONFIGMAPS, configMap('c')))
  const line = await lineTo(t, api)
  t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`)), 200)
  t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`)), 200)
  await server.store.close()
  t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`)), 503)
})
