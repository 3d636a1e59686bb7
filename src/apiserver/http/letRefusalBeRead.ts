/**
 * The end of a connection whose request was refused before its body was read. Who still sends would hear of a broken connection
 * instead of the refusal: what comes in at a closed socket is answered by a reset, which takes away what was not read yet. So the
 * server says that it is done, and reads nothing, and closes a moment later.
 */
import type { Socket } from 'node:net'

/** As Go's servers wait. */
const WAIT_MS = 500

/** `after` calls `run` once, `delayMs` from now; what it returns cancels that. */
export function letRefusalBeRead(
  socket: Pick<Socket, 'end' | 'destroy' | 'destroySoon' | 'pause' | 'resume' | 'once'>,
  after: (delayMs: number, run: () => void) => () => void = unrefTimer,
): void {
  socket.destroySoon = () => {
    socket.pause()
    // Whoever is at a request's body wants to read on, to be rid of the rest: megabytes, deciphered for nothing.
    socket.resume = () => socket as Socket
    socket.end()
    const cancel = after(WAIT_MS, () => void socket.destroy())
    socket.once('close', cancel)
  }
}

function unrefTimer(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs).unref()
  return () => clearTimeout(timer)
}
