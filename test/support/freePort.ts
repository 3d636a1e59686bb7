/**
 * Ports for servers that start again at the same address, or whose address a page names: they cannot leave the choice to the
 * system. A port is reserved by a UDP socket of the same number, kept until the process ends: servers of TCP do not notice it.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Linux deals out ports from 32768 on to connections: none of these is taken by one before a server listens, or while it restarts. */
const [FIRST, COUNT] = [10_240, 20_000]
/** Processes that run at the same time have neighbouring ids: each begins so far behind the one before. */
const EACH = 64
let tried = 0

/** A port on which no program listens, and which no other call gets, here or in another process of these tests. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + ((process.pid * EACH + tried++) % COUNT)
    if ((await isReserved(port)) && (await isFree(port))) return port
  }
}

/** False where another process has reserved it. */
async function isReserved(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  socket.bind({ port, address: '127.0.0.1', exclusive: true })
  return await isListening(socket)
}

/** On all addresses. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port)
  if (!(await isListening(server))) return false
  server.close()
  await once(server, 'close')
  return true
}

async function isListening(socket: NodeJS.EventEmitter): Promise<boolean> {
  try {
    await once(socket, 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}
