/**
 * Memory for the text of one version at a time. A reader of many texts, each once, joins them into it. Memory of its own for each would
 * outlive the reading, and cost more than the reading itself.
 */
import { SharedStored } from './sharedStored.ts'
import type { Stored } from './store.ts'

/** Longer texts have memory of their own. */
const SCRATCH_BYTES = 64 * 1024

export class Scratch {
  readonly #memory = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

  /** Good until the next call. */
  textOf(stored: Pick<Stored, 'bytes'>): Buffer {
    if (!(stored instanceof SharedStored) || stored.size > SCRATCH_BYTES) return stored.bytes
    stored.write(this.#memory, 0)
    return this.#memory.subarray(0, stored.size)
  }
}
