/**
 * Sees from a thread of its own that the event loop stands still, prints the last request, and ends the process. Nothing on the loop itself
 * could.
 */
import { Worker } from 'node:worker_threads'

export interface Watchdog {
  /** The present request. */
  note(what: string): void
  stop(): Promise<void>
}

const NOTE_BYTES = 8192
const TICK_MS = 200

const SOURCE = `
const { workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { shared, limitMs } = workerData
const beat = new Int32Array(shared, 0, 2)
let last = -1
let since = Date.now()
setInterval(() => {
  const now = Atomics.load(beat, 0)
  if (now !== last) { last = now; since = Date.now(); return }
  if (Date.now() - since < limitMs) return
  const length = Atomics.load(beat, 1)
  const text = Buffer.from(Buffer.from(shared, 8, length))
  writeSync(2, 'HANG: the event loop stood still for ' + limitMs + ' ms after\\n' + text + '\\n')
  process.kill(process.pid, 'SIGKILL')
}, 250)
`

export function startWatchdog(limitMs: number): Watchdog {
  const shared = new SharedArrayBuffer(8 + NOTE_BYTES)
  const beat = new Int32Array(shared, 0, 2)
  const note = Buffer.from(shared, 8)
  const worker = new Worker(SOURCE, { eval: true, workerData: { shared, limitMs } })
  const ticker = setInterval(() => Atomics.add(beat, 0, 1), TICK_MS)
  return {
    note(what) {
      Atomics.store(beat, 1, note.write(what.slice(0, NOTE_BYTES / 4)))
    },
    async stop() {
      clearInterval(ticker)
      await worker.terminate()
    },
  }
}
