/** Connections before a credential, on a real server: short, few, and no way to keep others out. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import type { StrangerLimits } from '../../src/apiserver/connections/strangerLimits.ts'
import { OPEN_REQUESTS } from '../../src/apiserver/http/requestLines.ts'
import { ALICE, startTestServer } from '../support/server.ts'

async function serve(t: Test, strangers: Partial<StrangerLimits>) {
  const { api, server, faults } = await startTestServer(t, { more: { strangers } })
  t.after(() => {
    if (faults.length > 0) throw new Error(faults.join('\n'))
  })
  const port = Number(new URL(server.url).port)
  const open = async (localAddress = '127.0.0.1', allowHalfOpen = false): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port, ca: server.caPem, ...{ localAddress, allowHalfOpen } })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    return socket
  }
  return { api, open }
}

const get = (path: string, token?: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\n${token === undefined ? '' : `Authorization: Bearer ${token}\r\n`}\r\n`

/** The head of the answer to one request. */
async function ask(socket: TLSSocket, request: string): Promise<string> {
  socket.write(request)
  let answer = ''
  do answer += String((await once(socket, 'data'))[0])
  while (!answer.includes('\r\n\r\n'))
  return answer
}

/** Reads until the server ends the connection. */
async function rest(socket: TLSSocket): Promise<string> {
  const parts: string[] = []
  socket.on('data', part => parts.push(String(part)))
  await new Promise(resolve => socket.once('close', resolve))
  return parts.join('')
}

t.test('who sends no request, or only a piece of one, has to go; who showed a credential stays', async t => {
  const { open } = await serve(t, { patienceMs: 1000 })
  const known = await open()
  t.match(await ask(known, get('/version', ALICE)), /^HTTP\/1.1 200/)
  const silent = await open()
  const dripping = await open()
  dripping.write('GET /version HTTP/1.1\r\n')
  const drip = setInterval(() => dripping.writable && dripping.write('X: y\r\n'), 20)
  t.teardown(() => clearInterval(drip))
  const probing = await open()
  t.match(await ask(probing, get('/livez')), /^HTTP\/1.1 200/, 'needs no credential, and shows none')
  await Promise.all([rest(silent), rest(dripping), rest(probing)])
  t.match(await ask(known, get('/version', ALICE)), /^HTTP\/1.1 200/)
})

t.test('at the bound of an address its oldest goes; other addresses do not feel it', async t => {
  const { api, open } = await serve(t, { total: 8, perAddress: 3 })
  const elsewhere = await open('127.0.0.2')
  const first = await open()
  const ended = rest(first)
  for (let n = 0; n < 3; n++) await open()
  await ended
  t.match(await ask(elsewhere, get('/version', ALICE)), /^HTTP\/1.1 200/)
  t.equal((await api.get('/version')).code, 200)
  const { text } = await api.get('/metrics')
  t.match(text, /^orrery_connections_ended_total\{bound="perAddress"\} [1-9]/m)
  t.match(text, /^orrery_connections\{authenticated="yes"\} 2$/m)
})

t.test('when all connections are taken, one that is idle makes room, and none that is in use', async t => {
  const { api, open } = await serve(t, { connections: 4 })
  const watch = await api.watch('/api/v1/namespaces?watch=1')
  const idle: TLSSocket[] = []
  for (let n = 0; n < 3; n++) {
    const socket = await open()
    t.match(await ask(socket, get('/version', ALICE)), /^HTTP\/1.1 200/)
    idle.push(socket)
  }
  const ended = Promise.all(idle.map(rest))
  const newcomer = await open()
  t.match(await ask(newcomer, get('/version', ALICE)), /^HTTP\/1.1 200/)
  await ended
  await api.ok(api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'seen' } }))
  t.ok(await watch.until(event => JSON.stringify(event).includes('"seen"')), 'the watch goes on')
  watch.close()
})

t.test('after some wrong credentials the connection ends with the answer', async t => {
  const { open } = await serve(t, { refusals: 3 })
  const socket = await open()
  t.match(await ask(socket, get('/version', ALICE)), /^HTTP\/1.1 200/)
  for (let n = 0; n < 2; n++) t.match(await ask(socket, get('/api', 'wrong')), /^HTTP\/1.1 401[\s\S]*keep-alive/i)
  const ended = once(socket, 'close')
  t.match(await ask(socket, get('/api', 'wrong')), /^HTTP\/1.1 401[\s\S]*connection: close/i)
  await ended
})

t.test('so it ends after some requests that cannot be read', async t => {
  const { open } = await serve(t, { refusals: 3 })
  const socket = await open()
  const unreadable = [get('/clusters/Root/api'), get('/%zz'), get('/clusters/root:/api')]
  const ended = once(socket, 'close')
  for (const [n, request] of unreadable.entries()) {
    const end = n < 2 ? 'keep-alive' : 'close'
    t.match(await ask(socket, request), new RegExp(`^HTTP/1.1 400[\\s\\S]*connection: ${end}`, 'i'), request)
  }
  await ended
  const expecting = await open()
  const answer = ask(expecting, get('/livez').replace('Host: x', 'Host: x\r\nExpect: everything'))
  t.match(await answer, /^HTTP\/1.1 417[\s\S]*connection: close/i)
  await once(expecting, 'close')
})

t.test('a connection that is ended for what came on it ends, though its client holds on', async t => {
  const { api, open } = await serve(t, {})
  const socket = await open('127.0.0.1', true)
  t.match(await ask(socket, get('/version', ALICE)), /^HTTP\/1.1 200/)
  t.match(await ask(socket, 'no HTTP\r\n\r\n'), /^HTTP\/1.1 400/)
  // The client's half stays open, so that only the server knows: the connection that asks is the only one left.
  const connections = async () =>
    /_connections\{authenticated="yes"\} (\d+)/.exec((await api.get('/metrics')).text)?.[1]
  let left = await connections()
  while (left !== '1') left = await connections()
  t.notOk(socket.writableEnded)
})

t.test('a flood of requests without a credential in one piece is cut off', async t => {
  const { api, open } = await serve(t, {})
  const socket = await open()
  const answers = rest(socket)
  socket.write(get('/api/v1/namespaces').repeat(2000))
  const count = (await answers).match(/HTTP\/1.1 401/g)?.length ?? 0
  t.ok(count <= 10, `${count} answers`)
  t.equal((await api.get('/version')).code, 200)
})

t.test('requests of one piece are each answered, and one more than a connection may have ends it', async t => {
  const { api, open } = await serve(t, {})
  const last = get('/livez?last=1').replace('Host: x', 'Host: x\r\nConnection: close')
  for (const [requests, answers] of [
    [OPEN_REQUESTS, OPEN_REQUESTS],
    [OPEN_REQUESTS + 1, 0],
  ] as const) {
    const socket = await open()
    socket.write(get('/livez').repeat(requests - 1) + last)
    t.equal((await rest(socket)).match(/HTTP\/1.1 200/g)?.length ?? 0, answers)
  }
  t.equal((await api.get('/version')).code, 200)
})

t.test('requests behind one that is the last of its connection are not begun', async t => {
  const { api, open } = await serve(t, {})
  const socket = await open()
  const last = get('/livez').replace('Host: x', 'Host: x\r\nConnection: close')
  socket.write(last + get('/readyz').repeat(2000))
  t.equal((await rest(socket)).match(/HTTP\/1.1/g)?.length, 1)
  t.equal((await api.get('/version')).code, 200)
})

t.test('whoever leaves while requests wait behind a watch is noticed', async t => {
  const { api, open: connectAgain } = await serve(t, {})
  const socket = await connectAgain()
  await api.ok(
    api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'alice' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    }),
  )
  const all = get('/api/v1/configmaps?watch=1', ALICE) + get('/livez').repeat(OPEN_REQUESTS - 1)
  t.match(await ask(socket, all), /^HTTP\/1.1 200/)
  const { text } = await api.get('/metrics')
  t.match(text, /_current_inflight_requests\{request_kind="readOnly"\} 1$/m, 'this one')
  socket.destroy()
  const open = async () => /_longrunning_requests\{verb="WATCH"\} (\d+)/.exec((await api.get('/metrics')).text)?.[1]
  let left = await open()
  while (left !== '0') left = await open()
  t.pass('the watch has ended')
})
