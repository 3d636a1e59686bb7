/** Connections without a request, with half a one, and with more than one wants to answer. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { type Attack, attack } from '../attack.ts'
import { crowd, type Ground } from '../ground.ts'

const HOLD_MS = 4000

/** Opens so many, and lets `use` do something with each; all are closed at the end. Those that are ended by the server count. */
async function sockets(ground: Ground, count: number, use: (socket: TLSSocket) => void): Promise<void> {
  const open: TLSSocket[] = []
  await crowd(count, 64, async () => {
    const socket = connect({ host: '127.0.0.1', port: ground.port, rejectUnauthorized: false })
    open.push(socket)
    socket.on('error', () => {})
    socket.resume()
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => {})
    if (!socket.destroyed) use(socket)
  })
  await pause(ground.size(HOLD_MS, 0))
  for (const socket of open) socket.destroy()
}

const BODY = 'Content-Type: application/json\r\nContent-Length: 3000000\r\n'
const head = (path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-alice\r\n${more}\r\n`

export const connections: readonly Attack[] = [
  attack('idle-connections', {
    does: 'more connections without a request than there are descriptors',
    run: async ground => await sockets(ground, ground.size(4500, 30), () => {}),
    keepsMb: 60,
  }),
  attack('raw-connections', {
    does: '3,000 requests of which the headers never end',
    run: async ground => await sockets(ground, ground.size(3000, 30), socket => socket.write('GET / HTTP/1.1\r\nX: ')),
    keepsMb: 60,
  }),
  attack('slow-bodies', {
    does: '600 POSTs with a credential of which the body never comes',
    run: async ground =>
      await sockets(ground, ground.size(600, 20), socket =>
        socket.write(`${head(ground.space.maps, BODY).replace('GET', 'POST')}{"a":`),
      ),
  }),
  attack('pipelined', {
    does: '50 connections with 2,000 requests each in one piece, answers unread',
    run: async ground =>
      await sockets(ground, ground.size(50, 4), socket => {
        socket.pause()
        socket.write(head(`${ground.space.prefix}/api/v1/namespaces`).repeat(ground.size(2000, 50)))
      }),
    keepsMb: 60,
  }),
  attack('handshakes', {
    does: 'TLS handshakes as fast as they go',
    run: async ground => {
      await crowd(ground.size(1500, 30), 32, async () => {
        const socket = connect({ host: '127.0.0.1', port: ground.port, rejectUnauthorized: false })
        socket.on('error', () => {})
        await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => {})
        socket.destroy()
      })
    },
  }),
]
