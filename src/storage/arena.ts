/**
 * Memory for objects' texts: slabs of the store's own. An object in its own ArrayBuffer costs 300 bytes more. A slab shared with the rest
 * of the process would be kept alive by one object and full of foreign garbage. Content of a slab never changes, and a slab is never used
 * again: other threads may read the content of shared ones.
 */
import type { Memory } from './objectSlots.ts'
import type { Encoded, Revision, Stored } from './store.ts'

type Text = Pick<Stored, 'bytes' | 'headBytes'>

const SLAB_BYTES = 64 * 1024
/** Longer texts get memory of their own. */
const LONG_BYTES = 8 * 1024

/** Memory of this thread alone. */
export function ownMemory(bytes: number): Memory {
  return Buffer.allocUnsafeSlow(bytes).buffer
}

export class Arena {
  readonly #make: (bytes: number) => Memory
  #slab: Memory
  #view: Uint8Array
  #used = 0
  #allocatedBytes = 0

  /** @param make new memory, whatever is in it; default: of this thread alone */
  constructor(make: (bytes: number) => Memory = ownMemory) {
    this.#make = make
    this.#slab = make(0)
    this.#view = new Uint8Array(this.#slab)
  }

  /** Bytes handed out since the last {@link restart}. */
  get allocatedBytes(): number {
    return this.#allocatedBytes
  }

  /** The text of an object with its revision in place. */
  encode(text: Encoded, revision: Revision): Text {
    const digits = String(revision)
    const headBytes = Buffer.byteLength(text.head)
    const tailBytes = Buffer.byteLength(text.tail)
    const bytes = this.#allocate(headBytes + digits.length + tailBytes)
    write(bytes, text.head, { at: 0, size: headBytes })
    bytes.write(digits, headBytes, 'latin1')
    write(bytes, text.tail, { at: headBytes + digits.length, size: tailBytes })
    return { bytes, headBytes }
  }

  /** The text of a version under another revision. */
  rewrite({ bytes: old, headBytes, revision: was }: Stored, revision: Revision): Text {
    const digits = String(revision)
    const tail = headBytes + String(was).length
    const bytes = this.#allocate(old.length - tail + headBytes + digits.length)
    old.copy(bytes, 0, 0, headBytes)
    bytes.write(digits, headBytes, 'latin1')
    old.copy(bytes, headBytes + digits.length, tail)
    return { bytes, headBytes }
  }

  /** Where a copy lies: as many bytes from `at`. */
  place(bytes: Uint8Array): { memory: Memory; at: number } {
    const place = this.#room(bytes.length)
    const slab = place.memory === this.#slab ? this.#view : new Uint8Array(place.memory)
    slab.set(bytes, place.at)
    return place
  }

  /** Bytes of objects that lie in memory which another one shared out count as handed out here. */
  adopted(bytes: number): void {
    this.#allocatedBytes += bytes
  }

  /** Starts a new slab and counts from zero: whoever copies all living texts from here on leaves the old slabs to die. */
  restart(): void {
    this.#begin(this.#make(0))
    this.#allocatedBytes = 0
  }

  #allocate(size: number): Buffer {
    const { memory, at } = this.#room(size)
    return Buffer.from(memory, at, size)
  }

  #room(size: number): { memory: Memory; at: number } {
    this.#allocatedBytes += size
    if (size > LONG_BYTES) return { memory: this.#make(size), at: 0 }
    if (this.#used + size > this.#slab.byteLength) this.#begin(this.#make(SLAB_BYTES))
    const at = this.#used
    this.#used += size
    return { memory: this.#slab, at }
  }

  #begin(slab: Memory): void {
    this.#slab = slab
    this.#view = new Uint8Array(slab)
    this.#used = 0
  }
}

/** `size`: of the text in bytes. Where each character is one, as in nearly all texts, it is copied and nothing has to be encoded. */
function write(bytes: Buffer, text: string, { at, size }: { at: number; size: number }): void {
  bytes.write(text, at, size, size === text.length ? 'latin1' : 'utf8')
}
