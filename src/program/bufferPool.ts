/**
 * Node cuts short buffers from pools of 64 KiB, and a pool stays whole as long as anybody keeps one piece of it. What caches keep
 * of an object is some hundred bytes, cut between what is gone a moment later: after a crowd has left they would hold a hundred
 * times what they count. Smaller pools hold less, and to begin one costs a microsecond.
 */
export const POOL_BYTES = 8 * 1024

/** For the thread that calls it, from the next pool on. */
export function keepPoolsSmall(): void {
  Buffer.poolSize = POOL_BYTES
}
