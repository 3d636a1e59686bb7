/**
 * Garbage that nobody would collect: shared memory does not count when V8 decides whether it is time, as it may be counted in
 * several threads. A thread that has little else to do would hold for ever what others let go of long ago.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects this thread's garbage soon, in a turn of its own: 10 to 20 ms for each 100 MB of what is not garbage. */
export function collectSoon(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'major'; execution: 'async' }) => Promise<void>
  void collect({ type: 'major', execution: 'async' })
}
