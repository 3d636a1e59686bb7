/**
 * A request gives up its seat for waits that the server cannot shorten: a webhook that hangs delays its own users only. (The context of the
 * request hands it on. To find it by the asynchronous context of the code would cost every write a quarter of its time.)
 */
import type { Pausable } from './context.ts'

/**
 * Absent: it is the server's own work.
 * @throws StatusError TooManyRequests before it waits; what `wait` throws
 */
export async function waitApart<T>(request: Pausable | undefined, wait: () => Promise<T>): Promise<T> {
  if (request === undefined) return wait()
  request.pause()
  try {
    return await wait()
  } finally {
    request.resume()
  }
}
