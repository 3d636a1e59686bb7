/** HTTP/2 towards a cluster: few connections for everything, and all goes on when one ends, whichever way. */
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import type { HttpClientOptions, TlsMaterial } from '../../../src/client/http/options.ts'
import { HttpSpaceClient } from '../../../src/client/http/spaceClient.ts'
import { HttpTransport } from '../../../src/client/http/transport.ts'
import { FakeClock, until } from '../support/fakeClock.ts'

const lifetime = { nowMs: Date.now(), days: 1 }
const ca = await issueCa({ ...lifetime, commonName: 'test' })
const { certPem: cert, keyPem: key } = await issueServing({
  ...lifetime,
  ca,
  dnsNames: ['localhost'],
  ips: ['127.0.0.1'],
})
const GET = { method: 'GET' as const, path: '/a' }

async function portOf(t: Test, server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Says which request it was; a watch (`/watch…`) says a line at once and is left open. */
async function serverOf(t: Test, options: http2.SecureServerOptions = {}) {
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true, ...options })
  const sessions: http2.ServerHttp2Session[] = []
  const watches: http2.ServerHttp2Stream[] = []
  const asked: string[] = []
  let answer: ((stream: http2.ServerHttp2Stream) => void) | undefined
  server.on('session', session => {
    sessions.push(session)
    session.on('error', () => {})
    t.teardown(() => session.destroy())
  })
  server.on('stream', (given, headers) => {
    const stream = given as http2.ServerHttp2Stream
    const path = headers[':path'] ?? ''
    asked.push(`${headers[':method']} ${path} ${headers['impersonate-user'] ?? ''}`.trim())
    stream.on('error', () => {})
    if (answer) {
      answer(stream)
      return
    }
    stream.respond({ ':status': 200, 'content-type': 'application/json' })
    if (path.startsWith('/api')) return
    if (path.startsWith('/watch')) {
      watches.push(stream)
      stream.write(`{"n":${watches.length}}\n`)
      return
    }
    let body = ''
    stream.on('data', chunk => {
      body += chunk
    })
    stream.on('end', () => stream.end(JSON.stringify({ n: asked.length, body })))
  })
  const port = await portOf(t, server)
  return {
    server,
    port,
    sessions,
    watches,
    asked,
    answering(how: typeof answer): void {
      answer = how
    },
  }
}

function clientOf(t: Test, port: number, options: Partial<HttpClientOptions> = {}, clock = new FakeClock()) {
  const server = `https://127.0.0.1:${port}`
  const client = new HttpTransport({ server, caPem: ca.certPem, http2: true, ...options }, clock)
  t.teardown(() => client.close())
  return client
}

/** A watch that was begun, with what it says until it ends. */
function watching(client: HttpTransport, path = '/watch') {
  const stop = new AbortController()
  const lines: string[] = []
  const run = async (): Promise<'ended' | Error> => {
    try {
      for await (const batch of client.lines({ method: 'GET', path, signal: stop.signal })) lines.push(...batch)
      return 'ended'
    } catch (error) {
      return error as Error
    }
  }
  return { lines, over: run(), stop: () => stop.abort() }
}

/** Passes bytes on until it is stopped. */
async function relayTo(t: Test, port: number) {
  const near = new Set<Socket>()
  const far = new Set<Socket>()
  const state = { isMute: false, opened: 0, bytes: 0 }
  const server = createServer(socket => {
    state.opened++
    const onward = connect(port, '127.0.0.1')
    near.add(socket)
    far.add(onward)
    const isNew = !state.isMute
    for (const end of [socket, onward])
      end.on('data', data => {
        state.bytes += data.length
      })
    socket.on('data', data => isNew && !state.isMute && onward.write(data))
    onward.on('data', data => isNew && !state.isMute && socket.write(data))
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  })
  t.teardown(() => {
    for (const socket of [...near, ...far]) socket.destroy()
  })
  return { port: await portOf(t, server), state, cut: () => [...near].map(socket => socket.destroy()) }
}

t.test('requests and watches share one connection', async t => {
  const { port, sessions, watches, asked } = await serverOf(t)
  const client = clientOf(t, port)
  const many = Array.from({ length: 5 }, () => watching(client))
  const answers = Array.from({ length: 20 }, () => client.json({ method: 'POST', path: '/a', body: { x: 'ü' } }))
  for (const answer of await Promise.all(answers)) t.match(answer, { body: '{"x":"ü"}' })
  await until(() => many.every(({ lines }) => lines.length === 1), 'all watches began')
  await client.json({ ...GET, headers: { 'impersonate-user': 'somebody' } })
  t.equal(asked.at(-1), 'GET /a somebody')
  t.equal(sessions.length, 1)
  watches[0]!.end('{"n":9}\n')
  const ended = await Promise.race(many.map(({ over }) => over))
  t.equal(ended, 'ended', 'as the server ends a watch')
  for (const { stop } of many) stop()
  for (const { over } of many) t.equal(await over, 'ended')
  await until(() => watches.every(({ closed }) => closed), 'the server hears of it')
})

t.test('a server that has only HTTP/1.1 is asked in that, and so is one that wants it', async t => {
  const plain = https.createServer({ cert, key }, (request, response) => response.end(`"${request.httpVersion}"`))
  const first = clientOf(t, await portOf(t, plain))
  t.equal(await first.json(GET), '1.1')
  t.equal(await first.json(GET), '1.1')
  t.teardown(() => plain.closeAllConnections())
  const { server, port, answering } = await serverOf(t)
  server.on('request', (request, response) => {
    if (request.httpVersion === '1.1') response.end('"1.1"')
  })
  answering(stream => stream.close(http2.constants.NGHTTP2_HTTP_1_1_REQUIRED))
  t.equal(await clientOf(t, port).json({ method: 'POST', path: '/a', body: {} }), '1.1')
})

t.test('through a proxy that tunnels', async t => {
  const { port, sessions } = await serverOf(t)
  const asked: string[] = []
  const proxy = http.createServer()
  proxy.on('connect', (request, near) => {
    asked.push(request.url ?? '')
    const far = connect(port, '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n')
      near.pipe(far).pipe(near)
    })
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  const proxyUrl = `http://127.0.0.1:${await portOf(t, proxy)}`
  const named = { server: 'https://cluster.invalid:6443', tlsServerName: 'localhost', proxyUrl }
  const client = clientOf(t, port, named)
  const watch = watching(client)
  t.match(await client.json(GET), { n: Number })
  await until(() => watch.lines.length === 1, 'it watches')
  t.same([asked, sessions.length], [['cluster.invalid:6443'], 1])
  const refusing = http.createServer()
  refusing.on('connect', (_, near) => near.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
  const refused = clientOf(t, port, { ...named, proxyUrl: `http://127.0.0.1:${await portOf(t, refusing)}` })
  await t.rejects(refused.json(GET), { reason: 'ServiceUnavailable', message: /cluster\.invalid.*403/ })
})

t.test('after a GOAWAY what is under way goes on, and all else goes over another connection', async t => {
  const { port, sessions, watches } = await serverOf(t)
  const client = clientOf(t, port)
  const watch = watching(client)
  await until(() => watch.lines.length === 1, 'it watches')
  // as servers do that would serve elsewhere what is new
  sessions[0]!.goaway(http2.constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1)
  let asked = 0
  while (sessions.length < 2 && asked++ < 100) await client.json(GET)
  t.equal(sessions.length, 2)
  watches[0]!.write('{"n":2}\n')
  await until(() => watch.lines.length === 2, 'the watch goes on')
  watches[0]!.end()
  t.equal(await watch.over, 'ended')
  await until(() => sessions[0]!.destroyed, 'its connection is closed')
})

t.test('a connection that breaks is one failure of all that was under way, and the next one serves', async t => {
  const { port } = await serverOf(t)
  const relay = await relayTo(t, port)
  const client = clientOf(t, relay.port)
  const many = [watching(client), watching(client), watching(client)]
  await until(() => many.every(({ lines }) => lines.length === 1), 'they watch')
  relay.cut()
  const errors = (await Promise.all(many.map(({ over }) => over))) as Error[]
  for (const error of errors) t.match(error, { reason: 'ServiceUnavailable', message: /the connection was lost/ })
  t.equal(new Set(errors.map(({ cause }) => cause)).size, 1)
  t.match(await client.json(GET), { n: Number })
})

t.test('a connection that answers no ping is given up', async t => {
  const { port } = await serverOf(t)
  const relay = await relayTo(t, port)
  const clock = new FakeClock()
  const client = clientOf(t, relay.port, {}, clock)
  const watch = watching(client)
  await until(() => watch.lines.length === 1, 'it watches')
  await clock.advance(60_000)
  await until(() => clock.pending === 1, 'the ping was answered')
  relay.state.isMute = true
  await clock.advance(60_000 + 15_000)
  t.match(await watch.over, { reason: 'ServiceUnavailable', message: /the connection was lost/ })
  relay.state.isMute = false
  t.match(await client.json(GET), { n: Number })
  t.equal(relay.state.opened, 2)
})

t.test('an idle day with six watches is little traffic', async t => {
  const { port, asked } = await serverOf(t)
  const relay = await relayTo(t, port)
  const clock = new FakeClock()
  const client = clientOf(t, relay.port, {}, clock)
  const space = new HttpSpaceClient(client, '')
  const stop = new AbortController()
  const watch = async (bookmarks: boolean): Promise<void> => {
    const resource = { group: '', version: 'v1', resource: 'configmaps' }
    const options = { resourceVersion: '7', bookmarks, signal: stop.signal }
    for await (const _ of space.watch(resource, options));
  }
  const first = watching(client)
  await until(() => first.lines.length === 1, 'it is known how the server is spoken to')
  const all = [watch(true), ...Array.from({ length: 4 }, () => watch(false))]
  await until(() => asked.length === 6, 'they watch')
  t.same(asked.filter(path => path.includes('allowWatchBookmarks')).length, 1, 'where a word is wanted')
  const before = relay.state.bytes
  for (let minute = 1; minute <= 60; minute++) {
    await clock.advance(60_000)
    await until(() => clock.pending === 1, 'the ping was answered')
  }
  const day = (relay.state.bytes - before) * 24
  t.ok(day > 0 && day < 250_000, `${day} bytes`)
  stop.abort()
  await Promise.all(all)
})

t.test('a connection on which nothing waits is closed after a while', async t => {
  const { port, sessions } = await serverOf(t)
  const clock = new FakeClock()
  const client = clientOf(t, port, {}, clock)
  await client.json(GET)
  // what the answer was read from may end a moment later, and be pinged once
  while (!sessions[0]!.destroyed) await clock.advance(60_000)
  t.match(await client.json(GET), { n: 2 })
})

t.test('no more streams than the server takes', async t => {
  const { port, sessions } = await serverOf(t, { settings: { maxConcurrentStreams: 2 } })
  const client = clientOf(t, port)
  await client.json(GET)
  const many = [watching(client), watching(client), watching(client)]
  await until(() => many.every(({ lines }) => lines.length === 1), 'they watch')
  t.match(await client.json(GET), { n: Number })
  t.equal(sessions.length, 2)
})

t.test('what a server did not begin is sent again, whatever it is; what breaks off is an error', async t => {
  const { port, asked, sessions, answering } = await serverOf(t)
  const client = clientOf(t, port)
  answering(stream => {
    stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
    answering(undefined)
  })
  t.match(await client.json({ method: 'POST', path: '/a', body: {} }), { n: 2 })
  t.same(asked, ['POST /a', 'POST /a'])
  answering(stream => {
    stream.respond({ ':status': 200 })
    stream.write('{"n":')
    setImmediate(() => sessions[0]!.destroy())
  })
  await t.rejects(client.json({ method: 'POST', path: '/a', body: {} }), { message: /the connection was lost/ })
  answering(undefined)
  t.match(await client.json(GET), { n: 4 })
})

t.test('a request that is not answered fails in its time', async t => {
  const { port, answering } = await serverOf(t)
  answering(() => {})
  await t.rejects(clientOf(t, port, { timeoutMs: 50 }).json(GET), { message: /no word from .* for 50 ms/ })
})

t.test('a new authority counts for the next connection, and the former one takes nothing new', async t => {
  const { server, port, sessions } = await serverOf(t)
  const other = await issueCa({ ...lifetime, commonName: 'other' })
  const serving = await issueServing({ ...lifetime, ca: other, dnsNames: [], ips: ['127.0.0.1'] })
  let tls: TlsMaterial = { caPem: ca.certPem }
  const client = clientOf(t, port, { tls: () => tls })
  const watch = watching(client)
  t.match(await client.json(GET), { n: Number })
  server.setSecureContext({ cert: serving.certPem, key: serving.keyPem })
  t.match(await client.json(GET), { n: Number }, 'the connection is there')
  tls = { caPem: ca.certPem }
  await t.rejects(client.json(GET), /certificate/)
  tls = { caPem: other.certPem }
  t.match(await client.json(GET), { n: Number })
  t.equal(sessions.length, 2)
  watch.stop()
  t.equal(await watch.over, 'ended')
  await until(() => sessions[0]!.destroyed, 'the former one is closed')
})
