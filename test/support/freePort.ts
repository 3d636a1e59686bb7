/** Ports for servers that are started again at the same address, and so cannot ask the system for any port. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Linux deals out ports from 32768 on to connections: none of these is taken by one before a server listens, or while it restarts. */
const [FIRST, COUNT] = [10_240, 20_000]
/** Processes that run at the same time have neighbouring ids: each begins so far behind the one before. */
const EACH = 64
let given = 0

/** A port on which nobody listens, and which no other call gets, here or in another process of these tests. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + ((process.pid * EACH + given++) % COUNT)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}
