/** Time as the client code sees it: injected, so that tests decide when it passes. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `run` once, `delayMs` from now. The answer cancels the call; cancelling twice or too late does nothing. */
  after(delayMs: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Resolves after `delayMs`, or as soon as `signal` aborts (it never rejects: the caller looks at the signal). */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => {
    const wake = () => {
      cancel()
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(delayMs, wake)
    signal.addEventListener('abort', wake, { once: true })
  })
}
