/** The first bytes of a connection wait for its turn and are parsed piece by piece; where nothing ends it, none of them is lost. */
import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { paceFirstReads } from '../../../src/apiserver/connections/paceFirstReads.ts'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { CONFIGMAPS, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'
import { get, post, rest, until } from '../http/linesSupport.ts'
import { lineTo } from '../http/rawLine.ts'

const MASKED_PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0])
const PONG = Buffer.from([0x8a, 0x00])

async function serve(t: Test, take: (request: IncomingMessage) => void) {
  const turns: (() => void)[] = []
  let made = 0
  class Counted extends IncomingMessage {
    constructor(socket: TLSSocket) {
      super(socket)
      made++
    }
  }
  const lifetime = { nowMs: Date.now(), days: 1 }
  const ca = await issueCa({ commonName: 'ca', ...lifetime })
  const { certPem: cert, keyPem: key } = await issueServing({ ca, dnsNames: ['localhost'], ips: [], ...lifetime })
  const server = createServer({ cert, key, IncomingMessage: Counted as never }, (request, answer) => {
    take(request)
    answer.end()
  })
  paceFirstReads(server, { enter: (_path, run) => void turns.push(run) })
  /** How many connections ended in each turn. */
  const ended: number[] = []
  let now = 0
  server.on('secureConnection', socket =>
    socket.once('end', () => {
      if (now++ > 0) return
      setImmediate(() => {
        ended.push(now)
        now = 0
      })
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const open = async (): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    return socket.resume()
  }
  return { server, turns, open, ended, made: () => made }
}

t.test(
  'a read full of requests waits for its turn, and a piece behind the end of its connection is parsed',
  async t => {
    let taken = 0
    const { turns, open, made } = await serve(t, ({ socket }) => {
      if (++taken === 17) socket.destroy()
    })
    const socket = await open()
    socket.write(get('/a').repeat(2000))
    await until(() => turns.length === 1)
    t.equal(made(), 0)
    turns[0]!()
    t.equal(taken, made())
    await new Promise(resolve => socket.once('close', resolve))
    t.ok(made() < 100, `${made()} of 2000`)
  },
)

t.test('a connection that leaves before its turn, or brings nothing, ends in order', async t => {
  const { turns, open } = await serve(t, () => {})
  const [left, silent] = [await open(), await open()]
  const over = once(silent, 'close')
  left.write(get('/a', `X: ${'x'.repeat(5000)}\r\n`))
  await until(() => turns.length === 1)
  left.destroy()
  silent.end()
  await over
  turns[0]!()
  t.equal(turns.length, 1)
})

t.test('connections that end at once end a few in a turn', async t => {
  const { open, ended } = await serve(t, () => {})
  const sockets = await Promise.all(Array.from({ length: 120 }, open))
  for (const socket of sockets) socket.write(get('/a'))
  await Promise.all(sockets.map(socket => once(socket, 'data')))
  for (const socket of sockets) socket.end()
  await Promise.all(sockets.map(socket => once(socket, 'close')))
  const most = Math.max(...ended)
  t.equal(
    ended.reduce((sum, each) => sum + each, 0),
    120,
  )
  // a turn of the gate begins between two of the loop
  t.ok(most <= 48, `${most} in one turn`)
})

t.test('connections that nobody reads tell of their ends, also those that wait for a turn', async t => {
  const { open, server } = await serve(t, () => {})
  const over: Promise<unknown>[] = []
  const { promise: upgraded, resolve } = Promise.withResolvers<void>()
  server.on('upgrade', (_request, socket) => {
    if (over.push(once(socket, 'end')) === 60) resolve()
  })
  const sockets = await Promise.all(Array.from({ length: 60 }, open))
  for (const socket of sockets) socket.write(get('/a', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'))
  await upgraded
  for (const socket of sockets) socket.end()
  t.equal((await Promise.all(over)).length, 60)
})

t.test('a connection that brings little is read at once', async t => {
  const { turns, open, made } = await serve(t, () => {})
  const socket = await open()
  socket.write(get('/a'))
  await once(socket, 'data')
  t.equal(made(), 1)
  t.equal(turns.length, 0)
})

t.test('on a server', async t => {
  const { api, server } = await startTestServer(t, ON_MAIN_THREAD)
  const data = { a: 'x'.repeat(60_000) }
  for (const name of ['a', 'b', 'c']) await api.ok(api.post(CONFIGMAPS, { metadata: { name }, data }))

  await t.test('a request in records of one byte each is read', async t => {
    const { socket } = await lineTo(t, api, false)
    for (const char of get('/livez', 'Connection: close\r\n')) socket.write(char)
    t.match(await rest(socket), /^HTTP\/1\.1 200 /)
  })

  await t.test('a refusal of what cannot be read comes whole, however much stands behind', async t => {
    const { socket } = await lineTo(t, api, false)
    socket.write(`no HTTP\r\n\r\n${'x'.repeat(10_000)}`)
    t.match(await rest(socket), /^HTTP\/1\.1 400 /)
    t.ok(socket.readableEnded, 'it ends in order')
  })

  await t.test('a long body comes whole', async t => {
    const line = await lineTo(t, api)
    const body = JSON.stringify({ metadata: { name: 'long' }, data: { a: 'y'.repeat(300_000) } })
    t.match(await line.send('POST', CONFIGMAPS, body, 'Content-Type: application/json\r\n'), /^HTTP\/1\.1 201 /)
  })

  await t.test('what comes behind long answers that are not read yet is answered in order', async t => {
    const { socket } = await lineTo(t, api)
    const body = JSON.stringify({ metadata: { name: 'behind' }, data: { a: 'y'.repeat(30_000) } })
    socket.pause()
    socket.write(get(CONFIGMAPS).repeat(8) + post(CONFIGMAPS, body) + get('/version', 'Connection: close\r\n'))
    for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
    const answers = rest(socket)
    socket.resume()
    t.same(
      (await answers).match(/HTTP\/1\.1 \d+/g),
      [...Array(8).fill(200), 201, 200].map(code => `HTTP/1.1 ${code}`),
    )
  })

  await t.test('a frame right behind the request for a WebSocket is the WebSocket’s', async t => {
    const { socket } = await lineTo(t, api)
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
    socket.write(Buffer.concat([Buffer.from(get(`${CONFIGMAPS}?watch=1`, upgrade + key)), MASKED_PING]))
    let heard = ''
    socket.on('data', (part: string) => (heard += part))
    await until(() => heard.includes(PONG.toString('latin1')))
    t.match(heard, /^HTTP\/1\.1 101 /)
  })

  await t.test('a server that closes does not wait for who brings nothing', async t => {
    const { socket } = await lineTo(t, api, false)
    const over = once(socket, 'close')
    await server.close()
    await over
    t.pass('it has ended')
  })
})
