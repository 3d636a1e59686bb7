/** A crowd of connections that ends at once is seen off little by little, and each hears its end whole and in order. */
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as listener, type Socket } from 'node:net'
import t from 'tap'
import { LoopGate } from '../../../src/apiserver/flowcontrol/loopGate.ts'
import { type EndingServer, paceEnds } from '../../../src/apiserver/server/paceEnds.ts'

/** Connections over a gate that begins so many in a turn. */
function serve(most: number, count: number) {
  const server = new EventEmitter()
  paceEnds(server as unknown as EndingServer, new LoopGate({ most }))
  const heard: string[] = []
  const sockets = Array.from({ length: count }, (_, i) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress: '127.0.0.1' })
    server.emit('secureConnection', socket)
    for (const event of ['data', 'end', 'close']) socket.on(event, told => heard.push(`${event} ${i} ${told ?? ''}`))
    return socket
  })
  return { heard, sockets }
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('a connection that ends alone is told at once', async t => {
  const { heard, sockets } = serve(4, 1)
  sockets[0]!.emit('data', 'x')
  sockets[0]!.emit('end')
  sockets[0]!.emit('close', false)
  t.strictSame(heard, ['data 0 x', 'end 0 ', 'close 0 false'])
})

t.test('of a crowd that ends at once only some are told in a turn of the loop, all in order', async t => {
  const { heard, sockets } = serve(4, 20)
  for (const socket of sockets) socket.emit('end')
  for (const socket of sockets) socket.emit('close', false)
  t.equal(heard.length, 4, 'what comes first has no reason to wait')
  let longest = 0
  for (let turns = 0; heard.length < 40 && turns < 40; turns++) {
    const before = heard.length
    await turn()
    longest = Math.max(longest, heard.length - before)
  }
  t.equal(heard.length, 40)
  // a turn of this loop may see the end of one of theirs and the whole of the next
  t.ok(longest <= 8, `${longest} in a turn`)
  for (const [i] of sockets.entries()) {
    const own = heard.filter(told => told.split(' ')[1] === `${i}`)
    t.strictSame(own, [`end ${i} `, `close ${i} false`])
  }
})

t.test('what goes on is not held up by those that end', async t => {
  const { heard, sockets } = serve(1, 10)
  const [first, ...others] = sockets
  for (const socket of others) socket.emit('end')
  first!.emit('data', 'x')
  t.strictSame(heard, ['end 1 ', 'data 0 x'])
})

t.test('requests of a crowd that leaves are all broken off', async t => {
  const server = createServer()
  const asked: Promise<unknown>[] = []
  const twenty = Promise.withResolvers<void>()
  server.on('connection', (socket: Socket) => server.emit('secureConnection', socket))
  server.on('request', (_, response) => {
    asked.push(once(response, 'close'))
    response.writeHead(200).flushHeaders()
    if (asked.length === 20) twenty.resolve()
  })
  paceEnds(server as unknown as EndingServer, new LoopGate({ most: 1 }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clients = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  for (const client of clients) client.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await twenty.promise
  for (const client of clients) client.destroy()
  await Promise.all(asked)
  server.close()
  await once(server, 'close')
  t.equal(asked.length, 20)
})

t.test('nor is a connection answered its end before that was told', async t => {
  const told = new Set<Socket>()
  const sockets: Socket[] = []
  const server = listener(socket => {
    sockets.push(socket)
    server.emit('secureConnection', socket)
    socket.on('end', () => {
      for (const other of sockets) if (other.writableEnded && !told.has(other)) t.fail('it is over already')
      told.add(socket)
    })
    socket.resume()
  })
  paceEnds(server as unknown as EndingServer, new LoopGate({ most: 1 }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clients = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  for (const client of clients) client.resume().end()
  await Promise.all(clients.map(client => once(client, 'close')))
  t.equal(told.size, 20)
  server.close()
})
