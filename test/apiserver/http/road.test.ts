/** Whatever has a say about a request has it on its road: rights, credentials, order, the end of its client, the end of the server. */
import t from 'tap'
import { CONFIGMAPS, configMap, createSpace, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'
import { ACCESS, AS_ALICE, codeOf, grant, lineTo } from './rawLine.ts'

const JSON_TYPE = 'Content-Type: application/json\r\n'
const MAY = { verbs: ['get', 'create'], apiGroups: [''], resources: ['configmaps'] }
const BINDING = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/alice'

const text = (value: object): string => JSON.stringify(value)

t.test('rights that are taken are gone at once, for reads and writes on one connection', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  await api.ok(api.post(CONFIGMAPS, configMap('c')))
  await grant(api, 'alice', [ACCESS, MAY])
  const line = await lineTo(t, api, false)
  const read = (): Promise<string> => line.get(`${CONFIGMAPS}/c`, AS_ALICE)
  let n = 0
  const create = async (): Promise<number> =>
    codeOf(await line.send('POST', CONFIGMAPS, text(configMap(`c-${n++}`)), `${AS_ALICE}${JSON_TYPE}`))
  for (let round = 0; round < 20; round++) {
    const { metadata: _, ...rest } = await api.ok(api.get(BINDING))
    await api.ok(api.delete(BINDING))
    t.equal(codeOf(await read()), 403)
    t.equal(await create(), 403)
    await api.ok(api.post(BINDING.slice(0, -'/alice'.length), { ...rest, metadata: { name: 'alice' } }))
    const { metadata } = await api.ok(api.put(`${CONFIGMAPS}/c`, { ...configMap('c'), data: { round: `${round}` } }))
    t.match(await read(), `"resourceVersion":"${metadata.resourceVersion}"`)
    t.equal(await create(), 201)
  }
  await api.ok(api.delete(`${CONFIGMAPS}/c`))
  t.equal(codeOf(await read()), 404)
})

t.test('users that share a connection have each their own rights', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  await api.ok(api.post(CONFIGMAPS, configMap('c')))
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  const headers = []
  for (const name of ['may', 'not']) {
    await api.ok(api.post(accounts, { metadata: { name } }))
    const { status } = await api.ok(api.post(`${accounts}/${name}/token`, { spec: {} }))
    headers.push(`Authorization: Bearer ${(status as { token: string }).token}\r\n`)
  }
  await grant(api, 'alice', [ACCESS, MAY], { kind: 'ServiceAccount', name: 'may', namespace: 'default' })
  const line = await lineTo(t, api, false)
  for (let round = 0; round < 5; round++) {
    t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`, headers[0])), 200)
    t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`, headers[1])), 403)
    t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`)), 401)
  }
  await api.ok(api.delete(`${accounts}/may`))
  t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`, headers[0])), 401, 'its token is forgotten')
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

t.test('writes that come together are carried out in their order, each whole', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  const line = await lineTo(t, api)
  const wire = (method: string, path: string, value: object): string => {
    const body = text(value)
    return `${method} ${path} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const data = (n: number): object => ({ ...configMap('c'), data: { n: `${n}` } })
  const puts = [1, 2, 3, 4, 5].map(n => wire('PUT', `${CONFIGMAPS}/c`, data(n)))
  line.socket.write(wire('POST', CONFIGMAPS, configMap('c')) + puts.join(''))
  t.equal(codeOf(await line.answer()), 201)
  for (let n = 1; n <= 5; n++) t.match(await line.answer(), `"data":{"n":"${n}"}`)
  const late = wire('POST', CONFIGMAPS, configMap('late'))
  for (const at of [1, 20, 120, late.length - 1]) {
    line.socket.write(late.slice(0, at))
    for (let turns = 0; turns < 20; turns++) await new Promise(resolve => setImmediate(resolve))
    line.socket.write(late.slice(at))
    t.equal(codeOf(await line.answer()), at === 1 ? 201 : 409, `cut at ${at}`)
  }
})

t.test('a client that leaves does not take back its write, and leaves nothing behind', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  const line = await lineTo(t, api)
  const running = async (): Promise<string[]> =>
    [...(await api.get('/metrics')).text.matchAll(/apiserver_current_inflight_requests\{.*?\} (\d+)/g)].map(
      ([, count]) => count!,
    )
  const body = text(configMap('last'))
  line.socket.write(
    `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  line.socket.destroySoon()
  while ((await api.get(`${CONFIGMAPS}/last`)).code !== 200) await new Promise(resolve => setImmediate(resolve))
  const other = await lineTo(t, api)
  other.socket.write(
    `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body.slice(1)}`,
  )
  while ((await running()).join() !== '1,1') await new Promise(resolve => setImmediate(resolve))
  other.socket.destroy()
  while ((await running()).join() !== '1,0') await new Promise(resolve => setImmediate(resolve))
})

t.test('a client that leaves before its answer is not counted as served', async t => {
  const { api } = await startTestServer(t, ON_MAIN_THREAD)
  const line = await lineTo(t, api)
  line.socket.write(`POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: 100\r\n\r\n{`)
  const counted = async (code: number): Promise<boolean> =>
    (await api.get('/metrics')).text.includes(`{verb="POST",group="",resource="configmaps",code="${code}"} 1`)
  while (!/inflight_requests\{request_kind="mutating"\} 1/.test((await api.get('/metrics')).text)) {}
  line.socket.destroy()
  while (!(await counted(499))) await new Promise(resolve => setImmediate(resolve))
  t.notOk(await counted(200))
})

t.test('a server whose store has ended refuses reads and writes', async t => {
  const { api, server } = await startTestServer(t, ON_MAIN_THREAD)
  await api.ok(api.post(CONFIGMAPS, configMap('c')))
  const line = await lineTo(t, api)
  t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`)), 200)
  await server.store.close()
  t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`)), 503)
  t.equal(codeOf(await line.send('POST', CONFIGMAPS, text(configMap('d')), JSON_TYPE)), 503)
})

t.test('the connection of a syncer that reports is kept longer, also where its reports cross', async t => {
  for (const more of [ON_MAIN_THREAD, { more: { apiThreads: 1 } }]) {
    const { api } = await startTestServer(t, more)
    const mailbox = await createSpace(api.in('root:espw'), 'abc123-mb-01234567-89ab-cdef-0123-456789abcdef')
    const path = `/clusters/${mailbox}/apis/edge.kubestellar.io/v2alpha1/syncerconfigs/the-one/outcome`
    const form = { kind: 'SyncerOutcome', apiVersion: 'edge.kubestellar.io/v2alpha1', metadata: { name: 'the-one' } }
    const spec = { session: 's', number: 1, whole: true, epoch: '', compared: false, processed: 0 }
    // connections enough that the thread has some
    const lines = await Promise.all(Array.from({ length: 6 }, () => lineTo(t, api)))
    for (const line of lines) {
      for (let time = 0; time < 2; time++)
        t.match(
          await line.send('PUT', path, text({ ...form, spec }), JSON_TYPE),
          /^HTTP\/1.1 200 [^{]*Keep-Alive: timeout=420\r\n/i,
        )
      t.match(await line.get('/livez'), /Keep-Alive: timeout=90\r\n/i)
    }
  }
})
