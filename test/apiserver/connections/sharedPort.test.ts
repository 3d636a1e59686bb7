/** Newcomers come to several sockets of one port: the loop accepts more than one of them in a turn. No other server gets the port. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type ListenOptions, type Server } from 'node:net'
import t, { type Test } from 'tap'
import { joinPort, listenFirst } from '../../../src/apiserver/connections/sharedPort.ts'

const HOST = '127.0.0.1'
const CROWD = 64

/** A server as Fastify has one, and how many connections it accepted in each turn. */
function serve(t: Test) {
  const turns: number[] = []
  let accepted = 0
  const server: Server = createServer(socket => {
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    if (accepted++ === 0)
      setImmediate(() => {
        turns.push(accepted)
        accepted = 0
      })
  })
  t.teardown(() => server.close())
  const listen = async (options: ListenOptions): Promise<void> => {
    server.listen(options)
    await once(server, 'listening')
  }
  const port = (): number => (server.address() as AddressInfo).port
  return { app: { server, listen }, turns, port }
}

const isLinux = process.platform === 'linux' || 'the system gives all connections to one socket'

t.test('a crowd is accepted in a few turns, and none once the port is closed', async t => {
  if (isLinux !== true) return t.pass(isLinux)
  const { app, turns, port } = serve(t)
  const close = await listenFirst(app, HOST, 0)
  for (let i = 0; i < CROWD; i++) {
    const socket = connect(port(), HOST)
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
  }
  while (turns.reduce((sum, each) => sum + each, 0) < CROWD) await new Promise(resolve => setImmediate(resolve))
  t.ok(turns.length < CROWD / 2, `${turns.length} turns`)
  const at = port()
  close()
  app.server.close()
  const [error] = (await once(connect(at, HOST), 'error')) as [NodeJS.ErrnoException]
  t.equal(error.code, 'ECONNREFUSED')
})

t.test('a second thread shares the port, a second server does not get it', async t => {
  const [first, second, other] = [serve(t), serve(t), serve(t)]
  t.teardown(await listenFirst(first.app, HOST, 0))
  if (isLinux === true) t.teardown(await joinPort(second.app, HOST, first.port()))
  await t.rejects(listenFirst(other.app, HOST, first.port()), { code: 'EADDRINUSE' })
})
