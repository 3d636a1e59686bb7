/** Time as the client code sees it: injected, so that tests decide when it passes. */
export interface Clock {
  /** Milliseconds since the epoch. Somebody may set it, forward or back. */
  now(): number
  /** Milliseconds since any moment, of a clock that nobody sets; it may stand still while the machine sleeps. Default: `now`. */
  steadyMs?(): number
  /** Calls `run` once, `delayMs` from now. The answer cancels the call; cancelling twice or too late does nothing. */
  after(delayMs: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  steadyMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_MS))
    return () => clearTimeout(timer)
  },
}

/** Its timers keep no process alive. */
export const idleClock: Clock = {
  ...systemClock,
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_MS)).unref()
    return () => clearTimeout(timer)
  },
}

/** Bound on a timer of Node, 24 days: it would turn a longer one into one millisecond. */
const LONGEST_MS = 2 ** 31 - 1

/** By which to tell how long something takes or has to wait: a clock that is set must not make hours of seconds. */
export function steadyMs(clock: Clock): number {
  return clock.steadyMs?.() ?? clock.now()
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
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
