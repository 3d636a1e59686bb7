/**
 * Blocks of memory for large answers. Fresh memory of that size comes from the operating system page by page, which costs
 * more than filling and encrypting it; a few blocks that go round do not.
 */

/** Large enough to make system calls rare, small enough to stay in the processor's cache. */
const BLOCK_BYTES = 128 * 1024
/** Kept for the next answer; more come and go. */
const KEPT_BLOCKS = 16

export class BlockPool {
  readonly #free: Buffer[] = []

  /** A block for the caller alone, with anything in it. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
  }

  /** Only when nothing reads the block any more; one that is not given back is collected like any garbage. */
  give(block: Buffer): void {
    if (this.#free.length < KEPT_BLOCKS) this.#free.push(block)
  }
}
