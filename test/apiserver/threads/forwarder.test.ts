/** Whatever a stranger sends that crosses from an API thread, it is answered there as without one, and the thread lives on. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect as connectPlainly, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { Answer } from '../../../src/apiserver/http/answer.ts'
import { Request } from '../../../src/apiserver/http/request.ts'
import type { Crossing } from '../../../src/apiserver/threads/crossings.ts'
import { Forwarder } from '../../../src/apiserver/threads/forwarder.ts'
import { PortSocket } from '../../../src/apiserver/threads/portSocket.ts'
import { ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'

/** Connections enough that the thread has some: the kernel deals them out. */
const CONNECTIONS = 8
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
const HEADS = [
  'GET /healthz HTTP/1.1\r\nHost: x\r\nTrailer: x\r\n\r\n',
  'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTrailer: x\r\n\r\n',
  'POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n0\r\nx: y\r\n\r\n',
  `GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: x\r\nTrailer: x\r\n${UPGRADE}\r\n`,
  'GET /healthz HTTP/1.0\r\n\r\n',
  'OPTIONS /healthz HTTP/1.0\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: x\r\nX: \x80\xff\r\n\r\n',
  'GET /health\xfcz HTTP/1.1\r\nHost: x\r\n\r\n',
]

/** The first line of what is answered to each, on each of so many connections. */
async function answered(
  t: Test,
  more: object,
): Promise<{ lines: Map<string, Set<string>>; faults: readonly unknown[] }> {
  const { api, faults } = await startTestServer(t, more)
  const { hostname, port } = new URL(api.access.url)
  const lines = new Map<string, Set<string>>()
  for (const head of HEADS) {
    const said = new Set<string>()
    for (let i = 0; i < CONNECTIONS; i++) {
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
      socket.on('error', () => {})
      await once(socket, 'secureConnect')
      const closed = once(socket, 'close').then(() => ['closed'])
      socket.write(Buffer.from(head, 'latin1'))
      const [first] = await Promise.race([once(socket, 'data'), closed])
      said.add(String(first).split('\r\n')[0]!)
      socket.destroy()
    }
    lines.set(head, said)
  }
  return { lines, faults }
}

t.test('what crosses is answered as where nothing does', async t => {
  const [without, across] = [await answered(t, ON_MAIN_THREAD), await answered(t, { more: { apiThreads: 1 } })]
  for (const head of HEADS) t.strictSame(across.lines.get(head), without.lines.get(head), head)
  t.strictSame(across.faults, [])
})

/** A main thread that answers so, a thread beside it, and a client's connection there. */
async function across(t: Test, handle: RequestListener) {
  const main = createServer({ ServerResponse: Answer } as object, handle)
  const asking = { begun: 0, ended: 0 }
  const strangers = {
    knows: () => {},
    requestStarted: () => void asking.begun++,
    requestEnded: () => void asking.ended++,
  }
  const cross = ({ port }: Crossing) => void main.emit('connection', new PortSocket(port))
  const forwarder = new Forwarder({ cross, strangers })
  const thread = createServer({ IncomingMessage: Request, ServerResponse: Answer } as object, (request, answer) =>
    forwarder.forward(request as Request, answer as Answer, () => {}),
  )
  thread.listen(0, '127.0.0.1')
  t.teardown(() => thread.close())
  await once(thread, 'listening')
  const client = connectPlainly((thread.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  t.teardown(() => client.destroy())
  const [connection] = (await once(thread, 'connection')) as [Socket]
  return { client, connection, forwarder, asking }
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

t.test('a refusal of a body is read before its connection ends', async t => {
  const { client, connection } = await across(t, (_request, answer) => {
    answer.writeHead(413, { Connection: 'close' }).end('too large')
  })
  const broken = t.capture(connection, 'destroySoon', connection.destroySoon)
  const ended = once(connection, 'finish')
  client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 26}\r\n\r\n${' '.repeat(2 ** 20)}`)
  await ended
  t.notOk(connection.destroyed, 'it said that it is done, and waits')
  t.equal(broken().length, 0)
  client.resume()
  await once(connection, 'close')
})

t.test('an answer that keeps its connection longer keeps the connection of its client longer', async t => {
  const { client, connection, asking } = await across(t, (_request, answer) => {
    ;(answer as Answer).keep(420_000)
    answer.end('here')
  })
  for (let i = 1; i <= 2; i++) {
    client.write(GET)
    await once(client, 'data')
    while (asking.ended < i) await new Promise(resolve => setImmediate(resolve))
    t.equal(connection.timeout, 420_000)
  }
})

t.test('a client that reads slowly holds a long answer up, and gets all of it', async t => {
  const piece = Buffer.alloc(64 * 1024, 'x')
  const length = 400 * piece.length
  const { client, connection, forwarder } = await across(t, (_request, answer) => {
    answer.setHeader('Content-Length', length)
    Readable.from(Array.from({ length: 400 }, () => piece)).pipe(answer)
  })
  client.pause().write(GET)
  for (let [written, turns] = [0, 0]; turns < 100; turns++) {
    await new Promise(resolve => setImmediate(resolve))
    if (connection.writableLength === 0 || connection.bytesWritten > written) turns = 0
    written = connection.bytesWritten
  }
  let isIdle = false
  const idle = forwarder.idle().then(() => {
    isIdle = true
  })
  t.ok(connection.writableLength < length / 4, 'the rest waits at the main thread')
  t.notOk(isIdle)
  let [head, size] = ['', 0]
  client.resume().on('data', (part: Buffer) => {
    head ||= part.toString('latin1').split('\r\n\r\n')[0]!
    size += part.length
  })
  while (head === '' || size < head.length + 4 + length) await once(client, 'data')
  t.equal(size, head.length + 4 + length)
  await idle
})

t.test('an answer that is broken off there is broken off here', async t => {
  const { client, asking } = await across(t, (_request, answer) => {
    answer.writeHead(200, { 'Content-Length': 10 }).write('half', () => answer.destroy())
  })
  const closed = once(client.resume(), 'close')
  client.write(GET)
  await closed
  while (asking.ended === 0) await new Promise(resolve => setImmediate(resolve))
  t.strictSame(asking, { begun: 1, ended: 1 })
})

t.test('a client that leaves ends what it asked for', async t => {
  const { promise: left, resolve } = Promise.withResolvers<boolean>()
  const { client, forwarder } = await across(t, (_request, answer) => {
    answer.on('close', () => resolve(answer.writableFinished))
    client.destroy()
  })
  client.write(GET)
  t.notOk(await left)
  await forwarder.idle()
})
