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

/** Sends `text` on so many new connections, 32 at a time; each ends by the server, or after `holdMs`. */
async function pieces(ground: Ground, count: number, text: string, holdMs = 1000): Promise<void> {
  await crowd(count, 32, async () => {
    const socket = connect({ host: '127.0.0.1', port: ground.port, rejectUnauthorized: false })
    socket.on('error', () => {})
    socket.resume()
    const over = once(socket, 'close').catch(() => {})
    socket.once('secureConnect', () => socket.write(text))
    await Promise.race([over, pause(ground.size(holdMs, 20))])
    socket.destroy()
  })
}

const OPEN = 16
const READ = 64 * 1024
const SHORT = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
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
  attack('pipelined-strangers', {
    does: 'connections without a credential, each with a read full of requests in one piece',
    run: async ground => await pieces(ground, ground.size(500, 8), SHORT.repeat(READ / SHORT.length)),
  }),
  attack('pipelined-volley', {
    does: 'connections that were answered before, which then all bring a read full of requests at once',
    run: async ground => {
      const first = head(ground.space.maps)
      const many = SHORT.repeat(READ / SHORT.length)
      const open: TLSSocket[] = []
      await sockets(ground, ground.size(300, 8), socket => {
        socket.write(first)
        if (open.push(socket) === ground.size(300, 8)) for (const each of open) each.write(many)
      })
    },
  }),
  attack('pipelined-lists', {
    does: 'connections with a credential, each with 16 open lists',
    prepare: async ({ alice, space, size }) => {
      const data = { a: 'x'.repeat(1000) }
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'c-' }, data }
      await crowd(size(500, 5), 8, () => alice.must({ path: space.maps, body }))
    },
    run: async ground => await pieces(ground, ground.size(300, 8), head(ground.space.maps).repeat(OPEN)),
    keepsMb: 60,
  }),
  attack('pipelined-heads', {
    does: 'connections with 16 heads of 60 KB each behind a watch',
    run: async ground => {
      const { maps } = ground.space
      const long = head(maps, `X: ${'x'.repeat(60_000)}\r\n`)
      await pieces(ground, ground.size(300, 4), head(`${maps}?watch=1`) + long.repeat(OPEN - 1), 3000)
    },
    keepsMb: 60,
  }),
  attack('pipelined-bodies', {
    does: 'connections with a body that never ends behind one of a megabyte',
    run: async ground => {
      const post = (length: number): string =>
        head(ground.space.maps, `Content-Type: application/json\r\nContent-Length: ${length}\r\n`).replace(
          'GET',
          'POST',
        )
      const first = `${post(1_000_000)}${' '.repeat(1_000_000)}`
      await pieces(ground, ground.size(200, 4), `${first}${post(3_000_000)}{"a":${' '.repeat(500_000)}`, 3000)
    },
    keepsMb: 60,
  }),
  attack('pipelined-garbage', {
    does: 'connections with garbage without end behind a watch',
    run: async ground =>
      await sockets(ground, ground.size(100, 4), socket => {
        socket.write(`${head(`${ground.space.maps}?watch=1`)}no HTTP\r\n\r\n`)
        const more = setInterval(() => void (socket.writableNeedDrain || socket.write('x'.repeat(20))), 1)
        socket.once('close', () => clearInterval(more))
      }),
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
