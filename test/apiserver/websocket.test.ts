/** Watches and space streams over WebSocket, as browsers and clients behind proxies use them. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { startApiServer } from '../../src/apiserver/apiServer.ts'
import type { ApiServerOptions } from '../../src/apiserver/apiServerOptions.ts'
import { webSocketSink } from '../../src/apiserver/exchange/answers/webSocketSink.ts'
import type { Turns } from '../../src/apiserver/exchange/answers/writeTurns.ts'
import { Api } from '../support/api.ts'
import { accessOf, CONFIGMAPS, configMap, temporaryDir } from '../support/server.ts'

const TOKENS = 'token-of-admin,admin,u-1,system:masters\ntoken-of-alice,alice,u-2\ntoken-of-bob,bob,u-3\n'
const BEARER = 'base64url.bearer.authorization.k8s.io.'

interface Peer {
  socket: WebSocket
  /** The next message; rejects when the connection ends before. */
  next(): Promise<{ type: string; object: { metadata: { name: string } }; [field: string]: unknown }>
  closed: Promise<number>
}

async function serve(t: Test, options: Partial<ApiServerOptions> = {}) {
  const faults: string[] = []
  const quiet = (): void => {}
  const server = await startApiServer({
    dataDir: temporaryDir(t),
    bindAddress: '127.0.0.1',
    securePort: 0,
    externalHostnames: [],
    spaces: true,
    tokenFile: TOKENS,
    log: { info: quiet, warn: quiet, error: (_fields, text) => void faults.push(text) },
    ...options,
  })
  const access = accessOf(server.kubeconfigPath)
  const api = new Api({ ...access, url: server.url })
  t.teardown(async () => {
    api.close()
    await close()
    if (faults.length > 0) throw new Error(`the server blames itself: ${faults.join('; ')}`)
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= server.close())
  const options_ = (token: string | undefined, headers: Record<string, string>) => ({
    ca: access.ca,
    ...(token === undefined && { cert: access.cert, key: access.key }),
    headers: { ...(token && { Authorization: `Bearer ${token}` }), ...headers },
  })
  const connect = (path: string, o: ConnectOptions = {}): WebSocket => {
    const { token, headers = {}, autoPong = true, anonymous = false, line } = o
    const given = anonymous ? { ca: access.ca, headers } : options_(token, headers)
    return new WebSocket(server.url.replace('https', 'wss') + path, o.protocols ?? [], {
      ...given,
      autoPong,
      ...(line && { createConnection: () => line }),
    })
  }
  /** A connection, before any request on it. */
  const dial = async (): Promise<TLSSocket> => {
    const { ca, cert, key } = access
    const { hostname, port } = new URL(server.url)
    const line = tlsConnect({ host: hostname, port: Number(port), ca, cert, key, ALPNProtocols: ['http/1.1'] })
    await once(line, 'secureConnect')
    return line
  }
  return { server, close, api, dial, open: (path: string, o?: ConnectOptions) => opened(connect(path, o)), connect }
}

interface ConnectOptions {
  protocols?: string[]
  token?: string
  headers?: Record<string, string>
  autoPong?: boolean
  /** Brings no credentials but those in its sub-protocols. */
  anonymous?: boolean
  /** A connection that is there already. */
  line?: TLSSocket
}

/** Status of a GET without credentials. */
async function statusOver(line: TLSSocket, path: string): Promise<number> {
  line.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  const [head] = (await once(line, 'data')) as [Buffer]
  return Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString())?.[1])
}

async function opened(socket: WebSocket): Promise<Peer> {
  const waiting: string[] = []
  let wake = (): void => {}
  socket.on('message', (data, binary) => {
    if (binary) throw new Error('a frame came as a binary message')
    waiting.push(String(data))
    wake()
  })
  const closed = new Promise<number>(resolve => socket.on('close', code => resolve(code)))
  await new Promise<void>((resolve, reject) => socket.on('open', resolve).on('error', reject))
  return {
    socket,
    closed,
    async next() {
      while (waiting.length === 0) {
        const message = new Promise<void>(resolve => (wake = resolve))
        const end = closed.then(code => Promise.reject(new Error(`the connection ended with ${code}`)))
        await Promise.race([message, end])
      }
      return JSON.parse(waiting.shift()!)
    },
  }
}

/** The plain answer to a connection that is not upgraded. */
function answer(socket: WebSocket): Promise<{ code: number; body: string; headers: IncomingMessage['headers'] }> {
  return new Promise((resolve, reject) => {
    socket.on('open', () => reject(new Error('the server upgraded the connection')))
    socket.on('error', () => {})
    socket.on('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', part => (body += part))
      response.on('end', () => resolve({ code: response.statusCode ?? 0, body, headers: response.headers }))
    })
  })
}

t.test('one server', async t => {
  const { server, api, open, connect } = await serve(t)
  await api.ok(api.post(CONFIGMAPS, configMap('first')))
  const watch = `${CONFIGMAPS}?watch=1`

  t.test('a watch shows what is there and what changes, one text message each', async t => {
    const peer = await open(watch)
    t.match(await peer.next(), { type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'first' } } })
    await api.ok(api.post(CONFIGMAPS, configMap('second')))
    t.match(await peer.next(), { type: 'ADDED', object: { metadata: { name: 'second' } } })
    await api.ok(api.delete(`${CONFIGMAPS}/second`))
    t.match(await peer.next(), { type: 'DELETED', object: { metadata: { name: 'second' } } })
    peer.socket.close()
    await peer.closed
  })

  t.test('a space stream starts with a snapshot that a bookmark ends', async t => {
    const peer = await open('/services/stream/clusters/root?resources=configmaps')
    t.match(await peer.next(), { type: 'ADDED', resource: 'configmaps', name: 'first' })
    t.match(await peer.next(), { type: 'BOOKMARK', synced: true })
    await api.ok(api.post(CONFIGMAPS, configMap('third')))
    t.match(await peer.next(), { type: 'ADDED', name: 'third' })
    peer.socket.close()
    await peer.closed
  })

  t.test('a watch whose time is over closes in order', async t => {
    const peer = await open(`${watch}&timeoutSeconds=1`)
    t.equal(await peer.closed, 1000)
  })

  t.test('a cursor that is too old is told as an ERROR event, as over HTTP', async t => {
    const old = server.store.revision
    await api.ok(api.post(CONFIGMAPS, configMap('fourth')))
    await server.store.compact(server.store.revision)
    const peer = await open(`${watch}&resourceVersion=${old}`)
    t.match(await peer.next(), { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
    t.equal(await peer.closed, 1000)
  })

  t.test('a cursor of the future is refused before the upgrade', async t => {
    const refused = await answer(connect(`${watch}&resourceVersion=99999999`))
    t.equal(refused.code, 504)
    t.match(refused.body, 'Too large resource version')
  })

  t.test('a browser brings its token as a sub-protocol', async t => {
    const token = BEARER + Buffer.from('token-of-admin').toString('base64url')
    const peer = await open(watch, { anonymous: true, protocols: [token, 'base64.binary.k8s.io'] })
    t.equal(peer.socket.protocol, 'base64.binary.k8s.io', 'the token is not echoed')
    t.equal((await peer.next()).type, 'ADDED')
    peer.socket.close()
    await peer.closed
    const alone = await answer(connect(watch, { anonymous: true, protocols: [token] }))
    t.equal(alone.code, 401, 'there must be a sub-protocol that the server can name')
    const bad = `${BEARER}${Buffer.from('nobody').toString('base64url')}`
    t.equal((await answer(connect(watch, { anonymous: true, protocols: [bad, 'x'] }))).code, 401)
  })

  t.test('who may not watch is refused with the usual Status', async t => {
    t.equal((await answer(connect(watch, { anonymous: true }))).code, 401)
    const stranger = await answer(connect(watch, { token: 'token-of-bob' }))
    t.equal(stranger.code, 403)
    t.match(JSON.parse(stranger.body), { kind: 'Status', reason: 'Forbidden' })
    t.equal((await answer(connect('/api/v1/nothings?watch=1'))).code, 404)
    t.equal((await answer(connect(`${watch}&resourceVersion=x`))).code, 400)
  })

  t.test('a page of another origin cannot use the certificate of the browser', async t => {
    const origin = { Origin: 'https://elsewhere.example' }
    t.equal((await answer(connect(watch, { headers: origin }))).code, 403)
    const own = await open(watch, { headers: { Origin: api.access.url } })
    own.socket.close()
    const madeUp = [`${BEARER}${Buffer.from('junk').toString('base64url')}`, 'x']
    t.equal((await answer(connect(watch, { headers: origin, protocols: madeUp }))).code, 401, 'nor beside a token')
    // as through `kubectl proxy`, whose page it is
    const said = await open(watch, { headers: { ...origin, 'Sec-Fetch-Site': 'same-origin' } })
    said.socket.close()
    t.equal((await answer(connect(watch, { headers: { 'Sec-Fetch-Site': 'same-site' } }))).code, 403)
    const withToken = await open(watch, { headers: origin, token: 'token-of-admin' })
    withToken.socket.close()
    await Promise.all([own.closed, said.closed, withToken.closed])
  })

  t.test('nor write with it, which needs no leave of the server', async t => {
    const post = async (headers: Record<string, string>): Promise<number> => {
      const { url, cert, key } = api.access
      const asking = request(`${url}${CONFIGMAPS}?dryRun=All`, {
        method: 'POST',
        cert,
        key,
        rejectUnauthorized: false,
        headers,
      })
      asking.end(JSON.stringify(configMap('written')))
      const [response] = (await once(asking, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode ?? 0
    }
    const origin = { Origin: 'https://elsewhere.example' }
    t.equal(await post({}), 201)
    t.equal(await post(origin), 403)
    t.equal(await post({ ...origin, 'Sec-Fetch-Site': 'cross-site' }), 403)
    t.equal(await post({ ...origin, Authorization: 'Bearer junk' }), 401)
    t.equal(await post({ ...origin, Authorization: 'Bearer token-of-admin' }), 201)
    t.equal(await post({ ...origin, 'Sec-Fetch-Site': 'same-origin' }), 201)
    t.equal(await post({ Origin: api.access.url }), 201)
    t.equal(await post({ 'Sec-Fetch-Site': 'none' }), 201)
  })

  t.test('an upgrade of what is no watch is answered as if it had not been asked for', async t => {
    const list = await answer(connect(CONFIGMAPS))
    t.equal(list.code, 200)
    t.match(JSON.parse(list.body), { kind: 'ConfigMapList' })
  })

  t.test('messages of a client mean nothing, and large ones end the connection', async t => {
    const peer = await open(watch)
    peer.socket.send('hello')
    await peer.next()
    peer.socket.send('x'.repeat(100_000))
    t.equal(await peer.closed, 1009)
  })
})

t.test('a server that drains closes WebSockets as going away', async t => {
  const { close, open } = await serve(t)
  const watch = await open(`${CONFIGMAPS}?watch=1`)
  const stream = await open('/services/stream/clusters/root')
  await close()
  t.equal(await watch.closed, 1001)
  t.equal(await stream.closed, 1001)
})

t.test('a peer that answers no ping is dropped, one that does stays', async t => {
  const { api, open } = await serve(t, { pingIntervalMs: 500 })
  const dead = await open(`${CONFIGMAPS}?watch=1`, { autoPong: false })
  const alive = await open(`${CONFIGMAPS}?watch=1`)
  t.equal(await dead.closed, 1006)
  await api.ok(api.post(CONFIGMAPS, configMap('still-there')))
  t.equal((await alive.next()).object.metadata.name, 'still-there')
  alive.socket.close()
  await alive.closed
})

t.test('watches beyond the bound are told to come again, and leaving makes room', async t => {
  const inFlight = { reading: 10, mutating: 10, watching: 1 }
  const { api, open, connect } = await serve(t, { inFlight })
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'a' } }
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  await api.ok(api.post(bindings, { ...binding, roleRef: role, subjects }))
  const path = `${CONFIGMAPS}?watch=1`
  const alice = { token: 'token-of-alice' }
  const first = await open(path, alice)
  const second = await answer(connect(path, alice))
  t.equal(second.code, 429)
  t.equal(second.headers['retry-after'], '1')
  const http = await api.as('token-of-alice').get(path)
  t.equal(http.code, 429, 'chunked watches count as well')
  const admin = await open(path)
  t.ok(admin, 'an administrator gets in')
  admin.socket.close()
  first.socket.close()
  await Promise.all([first.closed, admin.closed])
  // The server sees the end of a connection after the client; its own count shows when.
  const running = async (): Promise<string> => (await api.get('/metrics')).text
  while (!(await running()).includes('apiserver_longrunning_requests{verb="WATCH"} 0'));
  const third = await open(path, alice)
  third.socket.close()
  await third.closed
})

t.test('a server that closes takes no more, by whichever way; probes are answered', async t => {
  const { server, close, api, connect, dial } = await serve(t)
  const { registry } = server.services
  const create = registry.create.bind(registry)
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  registry.create = async (...args) => {
    hold()
    await gate
    return await create(...args)
  }
  const running = api.post(CONFIGMAPS, configMap('last'))
  await held
  // a server that closes may accept no connection any more: those that are there ask
  const [toWatch, toStream, toGet] = await Promise.all([dial(), dial(), dial()])
  const closing = close()
  t.ok(server.services.draining.aborted)
  for (const [path, line] of [
    [`${CONFIGMAPS}?watch=1`, toWatch],
    ['/services/stream/clusters/root', toStream],
  ] as const) {
    const refused = await answer(connect(path, { line }))
    t.match(refused, { code: 503, headers: { 'retry-after': '1' } }, path)
    t.match(JSON.parse(refused.body), { kind: 'Status', message: 'the server is shutting down' })
  }
  t.equal(await statusOver(toGet, '/livez'), 200)
  open()
  t.equal((await running).code, 201, 'what runs is finished')
  await closing
})

t.test('a peer that reads too slowly makes its watcher wait until it has caught up', async t => {
  const sent: { data: string; flushed?: () => void }[] = []
  const corks: string[] = []
  const socket = {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send(data: Buffer, _options: object, flushed?: () => void) {
      this.bufferedAmount += data.length
      sent.push({ data: data.toString(), ...(flushed && { flushed }) })
    },
    close(code: number) {
      sent.push({ data: `close ${code}` })
    },
  }
  const transport = { cork: () => corks.push('cork'), uncork: () => corks.push('uncork') }
  const now: Turns = { schedule: write => write() }
  const sink = webSocketSink(socket as never, { transport: transport as never, turns: now, closeCode: () => 1000 })
  t.equal(await sink.write([Buffer.from('a'), Buffer.from('b')]), true)
  t.same(
    sent.map(message => message.data),
    ['a', 'b'],
  )
  t.same(corks, ['cork', 'uncork'], 'one batch leaves together')
  const slow = sink.write([Buffer.alloc(300 * 1024)])
  await new Promise(resolve => setImmediate(resolve))
  t.equal(sink.busy, true)
  t.equal(await Promise.race([slow, Promise.resolve('waits')]), 'waits')
  sent.at(-1)!.flushed!()
  t.equal(await slow, true)
  t.equal(sink.busy, false)
  sink.end()
  t.equal(sent.at(-1)!.data, 'close 1000')
  socket.readyState = 3
  t.equal(await sink.write([Buffer.from('c')]), false, 'a peer that is gone takes no more')
})
