/** A server with API threads answers as one without, whichever thread a connection comes to. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { Api } from '../../support/api.ts'
import { ALICE, configMap, createSpace, startTestServer } from '../../support/server.ts'

const THREADS = 2
/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const RBAC = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'

const MEMBER = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'alice' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }],
}

const { api, server, faults } = await startTestServer(t, { more: { apiThreads: THREADS } })

/** Clients with a connection each. */
function clients(of: Api, token?: string): Api[] {
  const all = Array.from({ length: CONNECTIONS }, () => of.as(token ?? ALICE))
  t.teardown(() => {
    for (const client of all) client.close()
  })
  return all
}

t.test('who was refused or let in by one thread is so by all, with the writer’s answer', async t => {
  const at = api.in(await createSpace(api, 'rights'))
  const all = clients(at)
  const codes = async (): Promise<number[]> => {
    const answers = await Promise.all(all.map(client => client.get('/api/v1/secrets')))
    return [...new Set(answers.map(({ code }) => code))]
  }
  t.same(await codes(), [403])
  for (let round = 0; round < 8; round++) {
    await api.ok(at.post(RBAC, MEMBER))
    t.same(await codes(), [200])
    await api.ok(at.delete(`${RBAC}/alice`))
    t.same(await codes(), [403])
  }
})

t.test('what was written by one connection is read by all others at once, and what was deleted by none', async t => {
  const at = api.in(await createSpace(api, 'writes'))
  await api.ok(at.post(RBAC, MEMBER))
  const all = clients(at)
  for (const [i, writer] of all.slice(0, 6).entries()) {
    const made = await api.ok(writer.post(CONFIGMAPS, configMap(`c${i}`)))
    for (const reader of all) {
      const read = await reader.get(`${CONFIGMAPS}/c${i}`)
      if (read.code !== 200 || !read.text.includes(made.metadata.uid!)) t.fail(`${i}: ${read.text}`)
    }
    await api.ok(writer.delete(`${CONFIGMAPS}/c${i}`))
    const left = await Promise.all(all.map(reader => reader.get(CONFIGMAPS)))
    if (left.some(({ text }) => text.includes(`"c${i}"`))) t.fail(`${i} is still listed`)
  }
  t.pass('so it is')
})

t.test('requests and watches that cross are answered as they are asked', async t => {
  const watches = await Promise.all(
    Array.from({ length: 6 }, () => api.watch(`${CONFIGMAPS}?watch=1&fieldSelector=metadata.name=watched`)),
  )
  await api.ok(api.post(CONFIGMAPS, configMap('watched', { text: 'x'.repeat(700_000) })))
  for (const watch of watches) {
    t.match(await watch.take(1), [{ type: 'ADDED' }])
    watch.close()
  }
  const [version, missing, wrong] = await Promise.all([
    api.get('/version'),
    api.get(`${CONFIGMAPS}/none`),
    api.post(CONFIGMAPS, { kind: 'ConfigMap' }),
  ])
  t.match(version, { code: 200, body: { gitVersion: /^v/ } })
  t.match(missing, { code: 404, body: { reason: 'NotFound' } })
  t.match(wrong, { code: 422, body: { kind: 'Status', reason: 'Invalid' } })
})

t.test('a client is who its certificate says, also over a resumed session', async t => {
  const { ca, cert, key } = api.access
  const { hostname, port } = new URL(server.url)
  const ask = (socket: TLSSocket): Promise<string> => {
    socket.write('GET /api/v1/services?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.write(`GET ${CONFIGMAPS}?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    return textOf(socket)
  }
  const to = { host: hostname, port: Number(port), ca: ca! }
  for (let i = 0; i < 6; i++) {
    const first = connect({ ...to, cert: cert!, key: key! })
    const session = once(first, 'session').then(([given]) => given as Buffer)
    t.match(await ask(first), /HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /)
    const again = await ask(connect({ ...to, cert: cert!, key: key!, session: await session }))
    t.match(again, /HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /)
    t.match(await ask(connect(to)), /HTTP\/1\.1 401 /, 'a stranger is nobody')
  }
})

t.test('what threads answered is counted with the rest', async t => {
  const before = await counted()
  const all = Array.from({ length: CONNECTIONS }, () => new Api(api.access))
  await Promise.all(all.map(client => client.get(`${CONFIGMAPS}/none`)))
  for (const client of all) client.close()
  while ((await counted()) < before + CONNECTIONS);
  t.pass('all of them')

  async function counted(): Promise<number> {
    const { text } = await api.get('/metrics')
    const line = /apiserver_request_total\{verb="GET",group="",resource="configmaps",code="404"\} (\d+)/g
    return [...text.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0)
  }
})

t.test('nothing of it was a fault of the server', async t => {
  t.same(faults, [])
})

async function textOf(socket: TLSSocket): Promise<string> {
  let text = ''
  for await (const part of socket) text += part
  return text
}
