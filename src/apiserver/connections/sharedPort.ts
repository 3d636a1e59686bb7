/** A port on which API threads of one server listen, too. The kernel divides connections among threads. No other server gets the port. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

// Not imported, as in request.ts.
const { createServer } = process.getBuiltinModule('node:net')

const BACKLOG = 1024

/** An HTTP server, as Fastify has one. */
export interface ListeningServer {
  listen(options: { host: string; port: number; backlog: number; reusePort: boolean }): Promise<unknown>
}

/**
 * A port that may be shared could be shared by another server, too. A socket that does not share it says whether it is free.
 * @param port 0: any
 * @throws Error of the system
 */
export async function listenFirst(server: ListeningServer, host: string, port: number): Promise<void> {
  await joinPort(server, host, await freePort(host, port))
}

/** Listens where another thread of this process does. @throws Error of the system */
export async function joinPort(server: ListeningServer, host: string, port: number): Promise<void> {
  // elsewhere the system knows no such port, and there are no API threads
  await server.listen({ host, port, backlog: BACKLOG, reusePort: process.platform === 'linux' })
}

async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer()
  probe.listen({ host, port, backlog: 1 })
  await once(probe, 'listening')
  const free = (probe.address() as AddressInfo).port
  probe.close()
  await once(probe, 'close')
  return free
}
