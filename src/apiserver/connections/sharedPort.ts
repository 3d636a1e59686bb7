/**
 * A port on which several sockets listen. The loop accepts one connection of each in a turn. With one socket, a crowd of newcomers lets
 * everybody behind it wait in the kernel, which knows no turns. API threads of one server listen there, too; no other server gets the port.
 */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

// Not imported, as in request.ts.
const { createServer } = process.getBuiltinModule('node:net')

const BACKLOG = 1024
/** The server's own and those beside it: each costs a descriptor, and 50 µs to begin. Elsewhere the kernel gives all connections to one. */
export const SOCKETS = process.platform === 'linux' ? 32 : 1

/** An HTTP server, as Fastify has one. */
interface ListeningServer {
  readonly server: { emit(event: 'connection', socket: Socket): boolean; address(): AddressInfo | string | null }
  listen(options: { host: string; port: number; backlog: number; reusePort: boolean }): Promise<unknown>
}

/**
 * A port that may be shared could be shared by another server, too. A socket that does not share it says whether it is free.
 * @param port 0: any
 * @returns closes the sockets beside that of the server itself
 * @throws Error of the system
 */
export async function listenFirst(server: ListeningServer, host: string, port: number): Promise<() => void> {
  return await joinPort(server, host, await freePort(host, port))
}

/** Listens where another thread of this process does. @throws Error of the system */
export async function joinPort(server: ListeningServer, host: string, port: number): Promise<() => void> {
  await server.listen({ host, port, backlog: BACKLOG, reusePort: SOCKETS > 1 })
  // a name may have several addresses
  const { address } = server.server.address() as AddressInfo
  const beside: Server[] = []
  const close = (): void => {
    for (const each of beside) each.close()
  }
  try {
    while (beside.length < SOCKETS - 1) {
      // as Node's HTTP servers do: an answer in several pieces would wait 40 ms for a client that acknowledges late
      const each = createServer({ noDelay: true }, socket => void server.server.emit('connection', socket))
      await listening(each, { host: address, port, reusePort: true })
      beside.push(each)
    }
  } catch (error) {
    close()
    throw error
  }
  return close
}

/** The port itself where no socket of this machine has it; for 0 any. @throws Error of the system */
export async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer()
  await listening(probe, { host, port, reusePort: false })
  const free = (probe.address() as AddressInfo).port
  probe.close()
  await once(probe, 'close')
  return free
}

async function listening(server: Server, at: { host: string; port: number; reusePort: boolean }): Promise<void> {
  server.listen({ ...at, backlog: BACKLOG })
  await once(server, 'listening')
}
