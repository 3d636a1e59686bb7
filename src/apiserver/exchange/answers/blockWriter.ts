/**
 * Large answers, written block by block so that one LIST never holds the loop. Blocks of memory are kept and used again. Fresh memory of
 * that size comes from the operating system page by page, which costs more than filling and encrypting it.
 */
import type { Writable } from 'node:stream'
import type { Work } from '../../../program/workTurns.ts'
import { written } from '../../http/answer.ts'

/** Large enough to make system calls rare, small enough to stay in the processor's cache. */
const BLOCK_BYTES = 128 * 1024
/** Kept for the next answer; more come and go. */
const KEPT_BLOCKS = 16

export interface BlockSink {
  /** Resolves when the block is read no more; false when nobody will ever want another. One at a time. */
  write(block: Buffer): Promise<boolean>
  end(): void
}

/** Sends blocks as they are. */
export function plainSink(out: Writable): BlockSink {
  return { write: block => written(out, block), end: () => void out.end() }
}

export class BlockWriter {
  readonly #free: Buffer[] = []

  /**
   * Writes pieces one behind the other, without ending `out`. They may be made on demand, some at a time: a client that reads no more costs
   * no more. Resolves when it has taken them all; false once it is gone.
   * @throws Abandoned, and what making the pieces throws
   */
  async write(out: Pick<BlockSink, 'write'>, batches: Iterable<readonly Buffer[]>, work?: Work): Promise<boolean> {
    const block = this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
    let used = 0
    for (const pieces of batches) {
      for (const piece of pieces) {
        let from = 0
        while (from < piece.length) {
          const copied = piece.copy(block, used, from)
          from += copied
          used += copied
          if (used < BLOCK_BYTES) continue
          // The rest of a broken stream may still read the block, so that one is left to the collector.
          if (!(await out.write(block))) return false
          used = 0
          // A client that reads fast takes block after block without a turn of the loop, and each is encrypted.
          if (work?.due) await work.rest()
        }
      }
      if (work?.due) await work.rest()
    }
    if (used > 0 && !(await out.write(block.subarray(0, used)))) return false
    this.#keep(block)
    return true
  }

  /**
   * The same where somebody fills the blocks themselves: `fill` says how many bytes it put into one, and 0 when there are no more.
   * @throws Abandoned
   */
  async writeFilled(out: Pick<BlockSink, 'write'>, fill: (block: Buffer) => number, work?: Work): Promise<boolean> {
    const block = this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
    let used = fill(block)
    while (used > 0) {
      if (!(await out.write(used === BLOCK_BYTES ? block : block.subarray(0, used)))) return false
      used = fill(block)
      // The end of an answer waits for nobody's turn.
      if (used > 0 && work?.due) await work.rest()
    }
    this.#keep(block)
    return true
  }

  #keep(block: Buffer): void {
    if (this.#free.length < KEPT_BLOCKS) this.#free.push(block)
  }
}
