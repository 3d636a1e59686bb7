/**
 * Texts of versions that were recently joined. A write, its disk and its watch streams need the text some times in a row, and then never
 * again. The cache keeps a bounded number of bytes, the newest.
 */
/** A version with a joined text of so many bytes. */
export interface Joinable {
  readonly size: number
  join(): Buffer
}

const KEPT_BYTES = 2 * 1024 * 1024
/** Places at the front that are cut off at once. */
const CUT_AT = 1024

export class JoinedTexts {
  readonly #limitBytes: number
  readonly #known = new Map<Joinable, Buffer>()
  #order: (Joinable | undefined)[] = []
  #start = 0
  #bytes = 0

  constructor(limitBytes = KEPT_BYTES) {
    this.#limitBytes = limitBytes
  }

  of(stored: Joinable): Buffer {
    const known = this.#known.get(stored)
    if (known !== undefined) return known
    const bytes = stored.join()
    this.keep(stored, bytes)
    return bytes
  }

  /** `bytes` is its text. */
  keep(stored: Joinable, bytes: Buffer): void {
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
