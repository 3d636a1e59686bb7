/**
 * Objects by number: an object beside its text has 24 bytes in typed arrays and two strings, and a third where many share the text. A
 * {@link Stored} is made of that on demand, and kept for the next reader, as long as there are not too many such.
 *
 * Numbers of objects that are gone are given again. The typed arrays lie in memory of the caller's choice, so that they can be
 * copied or shared as they are.
 */
import type { Body } from './body.ts'
import type { JoinedTexts } from './joinedTexts.ts'
import { Numbered } from './numbered.ts'
import { SharedStored } from './sharedStored.ts'
import type { Key, Revision, Stored } from './store.ts'

export type Memory = ArrayBuffer | SharedArrayBuffer

/** Common part of the keys of one list. */
export type Kin = Pick<Key, 'space' | 'group' | 'resource'>

/** A version whose text is `length` bytes from `at` of a slab. */
export interface Placed {
  readonly memory: Memory
  readonly at: number
  readonly length: number
  readonly headBytes: number
  readonly revision: Revision
  readonly note: string | undefined
}

/** Objects of one list: `slots` from `start` to before `end`. */
interface Run {
  readonly slots: readonly number[]
  readonly start: number
  readonly end: number
  readonly kin: Kin
  /** Objects that are made for it are the caller's alone: they are too many for any to be reused. */
  readonly isScan?: boolean | undefined
}

export interface ObjectSlotsOptions {
  /** Made objects that are kept. */
  maxMade?: number
  /** Memory of the typed arrays. */
  memory?: (bytes: number) => Memory
}

/** About 16 MiB of objects. */
const MAX_MADE = 65_536
/** Numbers in a block, a power of two. */
const BLOCK = 1024
const BITS = 10
const WORDS = 4
/** The words of an object: the slab of its text, where in it, how long, and how long its head. */
const SLAB = 0
const AT = 1
const LENGTH = 2
const HEAD = 3
/** No slab: there is no object. */
const NONE = -1
/** No slab: the text is shared. Then the next words are the numbers of its body and of what it says beside its own. */
const SHARED = -2
const BODY = AT
const TIMES = LENGTH

class Block {
  readonly names: string[] = new Array<string>(BLOCK).fill('')
  readonly namespaces: string[] = new Array<string>(BLOCK).fill('')
  readonly made: (Stored | undefined)[] = new Array<Stored | undefined>(BLOCK).fill(undefined)
  readonly revisions: Float64Array
  readonly words: Int32Array
  /** Notes of the objects that have any. */
  notes: Map<number, string> | undefined
  /** Where texts are shared: what each says that is its own. */
  uids: string[] | undefined
  /** How many are in `made`. */
  kept = 0
  isUsed = false

  constructor(memory: Memory) {
    this.revisions = new Float64Array(memory, 0, BLOCK)
    this.words = new Int32Array(memory, BLOCK * 8, BLOCK * WORDS)
    this.words.fill(NONE)
  }
}

const BLOCK_BYTES = BLOCK * (8 + WORDS * 4)

export class ObjectSlots {
  readonly #maxMade: number
  readonly #memory: (bytes: number) => Memory
  readonly #blocks: Block[] = []
  readonly #slabs = new Numbered<Memory>()
  readonly #bodies = new Numbered<Body>()
  readonly #times = new Numbered<string>()
  #joined: JoinedTexts | undefined
  readonly #free: number[] = []
  /** Numbers that were ever given. */
  #given = 0
  #bytes = 0
  #made = 0
  /** The block that is looked at next when there are too many made objects. */
  #hand = 0
  #lastNote: string | undefined

  constructor({ maxMade = MAX_MADE, memory = bytes => new ArrayBuffer(bytes) }: ObjectSlotsOptions = {}) {
    this.#maxMade = maxMade
    this.#memory = memory
  }

  /** The sum of the bytes of texts that are not shared. */
  get bytes(): number {
    return this.#bytes
  }

  /** Made objects that are kept. */
  get made(): number {
    return this.#made
  }

  /** Pieces of memory, bodies and what they say that objects refer to. */
  get referred(): number {
    return this.#slabs.size + this.#bodies.size + this.#times.size
  }

  add(stored: Stored): number {
    const slot = this.#take(stored.key)
    this.#write(slot, stored)
    return slot
  }

  /** The same without an object. */
  addPlaced({ namespace, name }: Pick<Key, 'namespace' | 'name'>, placed: Placed | SharedStored): number {
    const slot = this.#take({ namespace, name })
    const block = this.#blocks[slot >>> BITS]!
    this.#place(block, slot & (BLOCK - 1), placed)
    return slot
  }

  /** Another version of the object with this number. */
  replace(slot: number, stored: Stored): void {
    this.#clear(slot)
    this.#write(slot, stored)
  }

  replacePlaced(slot: number, placed: Placed | SharedStored): void {
    this.#clear(slot)
    this.#place(this.#blocks[slot >>> BITS]!, slot & (BLOCK - 1), placed)
  }

  remove(slot: number): void {
    this.#clear(slot)
    const block = this.#blocks[slot >>> BITS]!
    const i = slot & (BLOCK - 1)
    block.names[i] = ''
    block.namespaces[i] = ''
    this.#free.push(slot)
  }

  name(slot: number): string {
    return this.#blocks[slot >>> BITS]!.names[slot & (BLOCK - 1)]!
  }

  namespace(slot: number): string {
    return this.#blocks[slot >>> BITS]!.namespaces[slot & (BLOCK - 1)]!
  }

  isBefore(slot: number, namespace: string, name: string): boolean {
    const block = this.#blocks[slot >>> BITS]!
    const i = slot & (BLOCK - 1)
    const theirs = block.namespaces[i]!
    return theirs === namespace ? block.names[i]! < name : theirs < namespace
  }

  isBehind(slot: number, namespace: string, name: string): boolean {
    const block = this.#blocks[slot >>> BITS]!
    const i = slot & (BLOCK - 1)
    const theirs = block.namespaces[i]!
    return theirs === namespace ? name < block.names[i]! : namespace < theirs
  }

  is(slot: number, namespace: string, name: string): boolean {
    const block = this.#blocks[slot >>> BITS]!
    const i = slot & (BLOCK - 1)
    return block.names[i] === name && block.namespaces[i] === namespace
  }

  at(slot: number, kin: Kin): Stored {
    const block = this.#blocks[slot >>> BITS]!
    const i = slot & (BLOCK - 1)
    block.isUsed = true
    const known = block.made[i]
    if (known !== undefined) return known
    const stored = this.#make(block, i, kin)
    this.#keep(block, i, stored)
    return stored
  }

  /** Calls `visit` for the objects of a run until it answers false; tells whether it reached the end. */
  visit({ slots, start, end, kin, isScan }: Run, visit: (stored: Stored) => boolean): boolean {
    let number = NONE
    let block: Block | undefined
    for (let place = start; place < end; place++) {
      const slot = slots[place]!
      if (slot >>> BITS !== number) {
        number = slot >>> BITS
        block = this.#blocks[number]!
        if (!isScan) block.isUsed = true
      }
      const i = slot & (BLOCK - 1)
      const stored = block!.made[i] ?? (isScan ? this.#make(block!, i, kin) : this.at(slot, kin))
      if (!visit(stored)) return false
    }
    return true
  }

  #take({ namespace, name }: Pick<Key, 'namespace' | 'name'>): number {
    const slot = this.#free.pop() ?? this.#given++
    if (slot >>> BITS === this.#blocks.length) this.#blocks.push(new Block(this.#memory(BLOCK_BYTES)))
    const block = this.#blocks[slot >>> BITS]!
    block.names[slot & (BLOCK - 1)] = name
    block.namespaces[slot & (BLOCK - 1)] = namespace
    return slot
  }

  #write(slot: number, stored: Stored): void {
    const block = this.#blocks[slot >>> BITS]!
    const i = slot & (BLOCK - 1)
    if (stored instanceof SharedStored) this.#place(block, i, stored)
    else {
      const { bytes, headBytes, revision, note } = stored
      const { buffer: memory, byteOffset: at, length } = bytes
      this.#place(block, i, { memory, at, length, headBytes, revision, note })
    }
    block.isUsed = true
    this.#keep(block, i, stored)
  }

  #place(block: Block, i: number, placed: Placed | SharedStored): void {
    if (placed instanceof SharedStored) this.#placeShared(block, i, placed)
    else this.#placeOwn(block, i, placed)
  }

  #placeShared(block: Block, i: number, { body, uid, times, revision, joined }: SharedStored): void {
    const { words, revisions } = block
    const word = i * WORDS
    words[word + SLAB] = SHARED
    words[word + BODY] = this.#bodies.enter(body)
    words[word + TIMES] = this.#times.enter(times)
    revisions[i] = revision
    block.uids ??= new Array<string>(BLOCK).fill('')
    block.uids[i] = uid
    this.#joined = joined
  }

  #placeOwn(block: Block, i: number, { memory, at, length, headBytes, revision, note }: Placed): void {
    const { words, revisions } = block
    const word = i * WORDS
    words[word + SLAB] = this.#slabs.enter(memory)
    words[word + AT] = at
    words[word + LENGTH] = length
    words[word + HEAD] = headBytes
    revisions[i] = revision
    this.#bytes += length
    if (note !== undefined) this.#note(block, i, note)
  }

  /** There are few different ones: what follows its like shares its string. */
  #note(block: Block, i: number, note: string): void {
    if (note !== this.#lastNote) this.#lastNote = note
    block.notes ??= new Map()
    block.notes.set(i, this.#lastNote)
  }

  #clear(slot: number): void {
    const block = this.#blocks[slot >>> BITS]!
    const i = slot & (BLOCK - 1)
    const { words } = block
    const slab = words[i * WORDS + SLAB]!
    if (slab === NONE) return
    if (block.made[i] !== undefined) this.#forget(block, 1)
    block.made[i] = undefined
    if (slab === SHARED) {
      this.#bodies.leave(words[i * WORDS + BODY]!)
      this.#times.leave(words[i * WORDS + TIMES]!)
      block.uids![i] = ''
    } else {
      this.#slabs.leave(slab)
      this.#bytes -= words[i * WORDS + LENGTH]!
      block.notes?.delete(i)
      if (block.notes?.size === 0) block.notes = undefined
    }
    words[i * WORDS + SLAB] = NONE
  }

  #make(block: Block, i: number, { space, group, resource }: Kin): Stored {
    const { words, revisions } = block
    const key = { space, group, resource, namespace: block.namespaces[i]!, name: block.names[i]! }
    const revision = revisions[i]!
    const word = i * WORDS
    const [slab, headBytes] = [words[word + SLAB]!, words[word + HEAD]!]
    if (slab === SHARED) {
      const own = { uid: block.uids![i]!, times: this.#times.get(words[word + TIMES]!) }
      return new SharedStored({ key, revision }, this.#bodies.get(words[word + BODY]!), own, this.#joined!)
    }
    // Buffer.from takes both kinds
    const memory = this.#slabs.get(slab) as ArrayBuffer
    const stored = { key, revision, bytes: Buffer.from(memory, words[word + AT]!, words[word + LENGTH]!), headBytes }
    const note = block.notes?.get(i)
    return note === undefined ? stored : { ...stored, note }
  }

  #keep(block: Block, i: number, stored: Stored): void {
    // before: whoever writes an object, or asks for one, asks for it again
    if (this.#made >= this.#maxMade) this.#makeRoom()
    block.made[i] = stored
    block.kept++
    this.#made++
  }

  #forget(block: Block, count: number): void {
    block.kept -= count
    this.#made -= count
  }

  /** Lets an eighth go, or more, of blocks that nobody has used since the last look at them. */
  #makeRoom(): void {
    const enough = this.#maxMade - Math.ceil(this.#maxMade / 8)
    for (let looks = 2 * this.#blocks.length; looks > 0 && this.#made > enough; looks--) {
      const block = this.#blocks[this.#hand]!
      this.#hand = (this.#hand + 1) % this.#blocks.length
      if (block.kept > 0 && !block.isUsed) this.#empty(block)
      block.isUsed = false
    }
  }

  #empty(block: Block): void {
    block.made.fill(undefined)
    this.#forget(block, block.kept)
  }
}
