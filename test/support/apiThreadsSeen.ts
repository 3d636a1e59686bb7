/** The API threads of servers in the test's process, which a test may end, or tell what keeps them from everything else. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import type { Test } from 'tap'

const CHANNEL = 'worker_threads'

/** The latest are the last. Those that have ended are not among them. */
export function apiThreadsSeen(t: Test): readonly Worker[] {
  const seen: Worker[] = []
  const begun = (message: unknown): void => {
    const { worker } = message as { worker: Worker }
    if (worker.threadName !== 'api') return
    seen.push(worker)
    worker.once('exit', () => seen.splice(seen.indexOf(worker), 1))
  }
  subscribe(CHANNEL, begun)
  t.teardown(() => unsubscribe(CHANNEL, begun))
  return seen
}
