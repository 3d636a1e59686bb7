/**
 * Several sockets that listen on one address. The loop takes one connection of each in a turn; with one socket, and many
 * requests under way, a turn takes some 10 ms, and a crowd of newcomers, or a single address that only connects, would let
 * everybody who comes behind it wait for seconds. The kernel divides newcomers among the sockets.
 *
 * A port that is shared like that could be shared by another server, too. So whether it is free is asked without sharing it.
 */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

// Not imported, as in httpServer.ts.
const { createServer } = process.getBuiltinModule('node:net')

/** Sockets that listen. With 32 a list of 500 costs a fifth more processor time. */
export const SOCKETS = 8
const BACKLOG = 1024

export interface ListenOptions {
  host: string
  /** 0: any. */
  port: number
  backlog: number
  /** Only where there are to be several. */
  reusePort?: boolean
}

/** Where connections go. */
export interface WideServer {
  readonly server: { emit(event: 'connection', socket: Socket): boolean; address(): AddressInfo | string | null }
  listen(options: ListenOptions): Promise<unknown>
}

/** Resolves to what ends the listening beside that of the server itself. @throws Error of the system, as `listen` does */
export async function listenWide(wide: WideServer, host: string, port: number): Promise<() => void> {
  const asked = { host, port, backlog: BACKLOG }
  // elsewhere the kernel gives them all to one
  if (process.platform !== 'linux') {
    await wide.listen(asked)
    return () => {}
  }
  await wide.listen({ ...asked, port: await freePort(host, port), reusePort: true })
  const own = wide.server.address() as AddressInfo
  const others: Server[] = []
  const stop = (): void => {
    for (const other of others) other.close()
  }
  try {
    while (others.length < SOCKETS - 1) {
      const other = createServer(socket => void wide.server.emit('connection', socket))
      await listening(other, { host: own.address, port: own.port, backlog: BACKLOG, reusePort: true })
      others.push(other)
    }
  } catch (error) {
    stop()
    throw error
  }
  return stop
}

async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer()
  await listening(probe, { host, port, backlog: 1 })
  const free = (probe.address() as AddressInfo).port
  probe.close()
  await once(probe, 'close')
  return free
}

async function listening(server: Server, options: ListenOptions): Promise<void> {
  server.listen(options)
  await once(server, 'listening')
}
