/**
 * Node cuts short buffers from pools of 64 KiB, and a pool stays whole as long as anybody keeps one piece of it. A cache keeps some hundred
 * bytes of an object, cut between buffers that are gone a moment later. After a crowd has left, caches would hold a hundred times their
 * count. Smaller pools hold less, and to begin one costs a microsecond.
 */
export const POOL_BYTES = 8 * 1024

/** For the thread that calls it, from the next pool on. */
export function keepPoolsSmall(): void {
  Buffer.poolSize = POOL_BYTES
}
