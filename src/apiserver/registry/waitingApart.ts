/**
 * What a request waits for that is not the server's to hurry, it waits for without its seat: a webhook that hangs keeps waiting
 * those who use it, and nobody else. (The request is handed on by its context: to find it by the asynchronous context of the code
 * would cost every write a quarter of its time.)
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
