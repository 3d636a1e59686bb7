/**
 * Gives back to the system what malloc keeps of a crowd that has left. The heap returns by itself; what stands outside of it
 * (TLS, buffers that were read) is freed among what is in use, and glibc gives back only what is free at the end of an arena:
 * 3,000 watches left 160 MB behind, with nobody in them.
 *
 * To give back costs the loop 0.2 ms for each MB, once. So that is done when there is much more than there was, and no more
 * comes. What stays all the same is in use, and counts as there from then on; but a crowd that came to rest before it left stayed, too:
 * as long as there is much more than the least that there was it is tried again, after longer and longer rests.
 */
export interface MemoryReturnDeps {
  residentBytes(): number
  /** Gives back what can be. */
  trim(): void
  /** Calls `run` again and again; the answer ends that. */
  every(periodMs: number, run: () => void): () => void
}

const MIB = 1024 ** 2
const LOOK_EVERY_MS = 5000
/** More than what was there when all had been given back. */
export const GROWN_BYTES = 64 * MIB
/** Since the look before: who is at work takes some and leaves some. */
export const CALM_BYTES = 4 * MIB
/** Looks from one return to the next: whoever takes it again and again shall find it. */
export const REST_LOOKS = 4
/** So many tries in a row that leave too much rest no longer than others; then each rests twice as long, up to an hour. */
export const VAIN_RETURNS = 4
export const MOST_REST_LOOKS = 720

/** Until what it returns is called. */
export function returnMemory(deps: MemoryReturnDeps): () => void {
  let leastBytes = deps.residentBytes()
  /** What stayed when it was given back last. */
  let stayedBytes = leastBytes
  let lastBytes = leastBytes
  let rests = 0
  /** Looks until what stayed is tried again, and how often it was since it came. */
  let retryIn = 0
  let vain = 0
  return deps.every(LOOK_EVERY_MS, () => {
    const beforeBytes = lastBytes
    lastBytes = deps.residentBytes()
    leastBytes = Math.min(leastBytes, lastBytes)
    stayedBytes = Math.min(stayedBytes, lastBytes)
    if (rests > 0) rests--
    if (retryIn > 0) retryIn--
    const hasGrown = lastBytes >= stayedBytes + GROWN_BYTES
    const isTriedAgain = retryIn === 0 && lastBytes >= leastBytes + GROWN_BYTES
    if (rests > 0 || !(hasGrown || isTriedAgain) || lastBytes > beforeBytes + CALM_BYTES) return
    deps.trim()
    lastBytes = deps.residentBytes()
    stayedBytes = lastBytes
    rests = REST_LOOKS
    if (lastBytes < leastBytes + GROWN_BYTES) vain = 0
    else vain = hasGrown ? 1 : vain + 1
    retryIn = Math.min(REST_LOOKS * 2 ** Math.max(0, vain - VAIN_RETURNS), MOST_REST_LOOKS)
  })
}

/** For this process; `undefined` where the system's malloc cannot be asked: it is glibc's own. */
export function systemMemory(): MemoryReturnDeps | undefined {
  const trim = mallocTrim()
  return (
    trim && {
      residentBytes: () => process.memoryUsage.rss(),
      trim,
      every(periodMs, run) {
        const timer = setInterval(run, periodMs).unref()
        return () => clearInterval(timer)
      },
    }
  )
}

function mallocTrim(): (() => void) | undefined {
  // Not imported: Node tells with each load that it is an experiment, and builds without it know no such module.
  const ffi = process.platform === 'linux' && process.getBuiltinModule('node:ffi')
  if (!ffi) return undefined
  try {
    const { functions } = ffi.dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } })
    return () => void functions.malloc_trim(0n)
  } catch {
    // another libc
    return undefined
  }
}
