/** The limit of silence for a test file in a shared process. A hang fails by the name of its test, and the next file runs. */
import type { Base, Test } from 'tap'

/** Hangs are rare and long: a look each second is soon enough. */
const LOOK_MS = 1000

/**
 * Fails the innermost running test of `file` once `limitMs` pass in which no test begins, asserts or ends, or once the event
 * loop is empty. The tests behind it run. Then it calls `ended`: the handles of such a test may keep the process alive.
 */
export function endWhenSilent(file: Test, limitMs: number, ended: () => void): void {
  let seen = progress(file)
  let sinceMs = performance.now()
  const end = (message: string): void => {
    sinceMs = performance.now()
    ended()
    file.timeout({ message, expired: innermost(file).name })
  }
  const look = (): void => {
    const now = progress(file)
    if (now !== seen) [seen, sinceMs] = [now, performance.now()]
    else if (performance.now() - sinceMs >= limitMs) end(`hangs: no assertion for ${limitMs / 1000} s`)
  }
  const empty = (): void => end('hangs: the event loop is empty')
  // unreferenced, or the loop would never be empty
  const timer = setInterval(look, LOOK_MS).unref()
  process.on('beforeExit', empty)
  file.once('end', () => {
    clearInterval(timer)
    process.off('beforeExit', empty)
  })
}

function progress(test: Base): string {
  return 'activeSubtests' in test ? `${(test as Test).count} ${[...(test as Test).activeSubtests].map(progress)}` : ''
}

function innermost(test: Base): Base {
  const [inner] = 'activeSubtests' in test ? (test as Test).activeSubtests : []
  return inner ? innermost(inner) : test
}
