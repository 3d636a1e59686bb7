/**
 * Texts of {@link SharedStored} versions that were put together not long ago: whoever writes one, tells it to a disk and streams it
 * to watchers asks for it some times in a row, and then nobody does. So many bytes are kept, the newest.
 */
import type { SharedStored } from './sharedStored.ts'

const KEPT_BYTES = 2 * 1024 * 1024
/** Places at the front that are cut off at once. */
const CUT_AT = 1024

export class JoinedTexts {
  readonly #limitBytes: number
  readonly #known = new Map<SharedStored, Buffer>()
  #order: (SharedStored | undefined)[] = []
  #start = 0
  #bytes = 0

  constructor(limitBytes = KEPT_BYTES) {
    this.#limitBytes = limitBytes
  }

  of(stored: SharedStored): Buffer {
    const known = this.#known.get(stored)
    if (known !== undefined) return known
    const bytes = stored.form.text(stored, stored.key.space, stored.revision)
    this.keep(stored, bytes)
    return bytes
  }

  /** `bytes` is its text. */
  keep(stored: SharedStored, bytes: Buffer): void {
    this.#known.set(stored, bytes)
    this.#order.push(stored)
    this.#bytes += bytes.length
    while (this.#bytes > this.#limitBytes && this.#order.length - this.#start > 1) this.#forgetOne()
  }

  #forgetOne(): void {
    const oldest = this.#order[this.#start]!
    this.#order[this.#start++] = undefined
    this.#bytes -= oldest.size
    this.#known.delete(oldest)
    if (this.#start < CUT_AT) return
    this.#order = this.#order.slice(this.#start)
    this.#start = 0
  }
}
