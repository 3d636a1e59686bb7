/** One address, several sockets: newcomers come in together, the port is nobody else's, and the end is one. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { type ListenOptions, listenWide, MOST_SOCKETS, SOCKETS } from '../../../src/apiserver/server/listenWide.ts'

const linux = process.platform === 'linux' ? {} : { skip: 'one socket only' }

function wide() {
  const server = createServer({ noDelay: true })
  const listen = async (options: ListenOptions): Promise<void> => {
    server.listen(options)
    await once(server, 'listening')
  }
  return { server, listen } as Parameters<typeof listenWide>[0] & { server: typeof server }
}

t.test('several come in within a turn of the loop', linux, async t => {
  const { server, listen } = wide()
  const come: Socket[] = []
  let [turns, inTurn] = [0, false]
  server.on('connection', (socket: Socket) => {
    come.push(socket)
    if (inTurn) return
    inTurn = true
    turns++
    setImmediate(() => {
      inTurn = false
    })
  })
  const stop = await listenWide({ server, listen }, '127.0.0.1', 0)
  const { port } = server.address() as { port: number }
  const clients = Array.from({ length: 64 }, () => connect({ host: '127.0.0.1', port }))
  t.teardown(() => {
    for (const socket of [...clients, ...come]) socket.destroy()
  })
  while (come.length < 64) await new Promise(resolve => setImmediate(resolve))
  t.ok(turns < 64, `${turns} turns`)
  stop()
  server.close()
})

t.test('what is sent in pieces waits for no acknowledgement, whichever socket a client came to', linux, async t => {
  const { server, listen } = wide()
  const come: Socket[] = []
  server.on('connection', (socket: Socket) => come.push(socket))
  const stop = await listenWide({ server, listen }, '127.0.0.1', 0)
  const { port } = server.address() as { port: number }
  const clients = Array.from({ length: 64 }, () => connect({ host: '127.0.0.1', port }))
  t.teardown(() => {
    for (const socket of [...clients, ...come]) socket.destroy()
  })
  while (come.length < 64) await new Promise(resolve => setImmediate(resolve))
  t.same(new Set(come.map(sendsAtOnce)), new Set([true]))
  stop()
  server.close()
})

t.test('behind a crowd that waits at all of them there are more of them, to a bound', linux, async t => {
  const { server, listen } = wide()
  const [clients, come]: [Socket[], Socket[]] = [[], []]
  let [inTurn, most] = [0, 0]
  server.on('connection', (socket: Socket) => {
    come.push(socket)
    if (inTurn++ > 0) return
    setImmediate(() => {
      most = Math.max(most, inTurn)
      inTurn = 0
    })
  })
  const stop = await listenWide({ server, listen }, '127.0.0.1', 0, 2 * SOCKETS)
  const { port } = server.address() as { port: number }
  const leave = (): void => {
    for (const socket of [...clients.splice(0), ...come.splice(0)]) socket.destroy()
  }
  const crowd = async (): Promise<void> => {
    for (let i = 0; i < 8 * SOCKETS; i++) clients.push(connect({ host: '127.0.0.1', port }))
    while (come.length < 8 * SOCKETS) await new Promise(resolve => setImmediate(resolve))
    leave()
  }
  t.teardown(leave)
  // each lets in one in a turn, so who lets in more has more of them
  for (let crowds = 0; crowds < 20 && most <= SOCKETS; crowds++) await crowd()
  t.ok(most > SOCKETS, `${most} in a turn, with ${SOCKETS} sockets at first`)
  for (let crowds = 0; crowds < 5; crowds++) await crowd()
  t.ok(most <= 2 * SOCKETS, `${most} in a turn`)
  t.ok(MOST_SOCKETS >= 4 * SOCKETS)
  stop()
  server.close()
  await once(server, 'close')
})

t.test('a port that somebody has is refused, and one that is had by this is not given to others', linux, async t => {
  const first = wide()
  const stop = await listenWide(first, '127.0.0.1', 0)
  const { port } = first.server.address() as { port: number }
  await t.rejects(listenWide(wide(), '127.0.0.1', port), { code: 'EADDRINUSE' })
  stop()
  first.server.close()
  await once(first.server, 'close')
  const again = wide()
  const stopAgain = await listenWide(again, '127.0.0.1', port)
  t.equal((again.server.address() as { port: number }).port, port)
  stopAgain()
  again.server.close()
})

/** As Node remembers it of each socket: nothing else tells of TCP_NODELAY. */
function sendsAtOnce(socket: Socket): boolean {
  const known = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'kSetNoDelay')
  return known !== undefined && (socket as unknown as Record<symbol, unknown>)[known] === true
}
