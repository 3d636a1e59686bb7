/** Makes {@link LoadedBlock}s of objects that come one by one, about in key order. */
import { Arena } from './arena.ts'
import { Bodies } from './bodies.ts'
import type { Body, BodyParts, Whole } from './body.ts'
import { type LoadedBlock, OBJECT_WORDS, type Place, SHARED_TEXT } from './loadedBlock.ts'
import type { Memory } from './objectSlots.ts'
import type { Key } from './store.ts'

/** Small enough that nobody works on one for more than a few milliseconds. */
const BLOCK_OBJECTS = 4096
const BLOCK_BYTES = 1024 * 1024
/** Different times whose numbers are remembered. */
const KEPT_TIMES = 4096

interface BlockMakerOptions {
  give(block: LoadedBlock): void
  /** Memory for texts. Default: memory that threads can share. */
  memory?: (bytes: number) => Memory
}

export class BlockMaker {
  readonly #give: BlockMakerOptions['give']
  readonly #arena: Arena
  readonly #bodies = new Bodies()
  readonly #bodyNumbers = new Map<Body, number>()
  readonly #timesNumbers = new Map<string, number>()
  #times = 0
  readonly #placeNumbers = new Map<string, number>()
  /** In this block. */
  #last: Key | undefined
  #block = new Draft()

  constructor({ give, memory = bytes => new SharedArrayBuffer(bytes) }: BlockMakerOptions) {
    this.#give = give
    this.#arena = new Arena(memory)
  }

  add(whole: Whole): void {
    this.#enterRun(whole.key)
    const block = this.#block
    const word = block.objects * OBJECT_WORDS
    block.revisions[block.objects] = whole.revision
    if (whole.outline === undefined) this.#place(whole, word)
    else {
      const { body, uid, times } = this.#bodies.stored(whole, this.#bodies.read(whole, whole.outline))
      block.words[word] = SHARED_TEXT
      block.words[word + 1] = this.#bodyNumber(body)
      block.words[word + 2] = this.#timesNumber(times)
      block.uids.push(uid)
    }
    block.objects++
    if (block.objects === BLOCK_OBJECTS || block.bytes > BLOCK_BYTES) this.end()
  }

  /** Gives what has gathered. */
  end(): void {
    const { runs, ...block } = this.#block
    this.#block = new Draft()
    this.#last = undefined
    if (block.objects > 0) this.#give({ ...block, runs: Int32Array.from(runs) })
  }

  #enterRun(key: Key): void {
    const last = this.#last
    const { spaces, runs } = this.#block
    const isSameSpace = last?.space === key.space
    if (isSameSpace && isSamePlace(last, key)) runs[runs.length - 1]!++
    else {
      if (!isSameSpace) spaces.push(key.space)
      runs.push(spaces.length - 1, this.#placeNumber(key), 1)
    }
    this.#last = key
  }

  #place({ key, bytes, headBytes, note }: Whole, word: number): void {
    const block = this.#block
    const { memory, at } = this.#arena.place(bytes)
    if (block.memories.at(-1) !== memory) block.memories.push(memory)
    const { length } = bytes
    block.words[word] = block.memories.length - 1
    block.words[word + 1] = at
    block.words[word + 2] = length
    block.words[word + 3] = headBytes
    block.bytes += length
    block.names.push(key.name)
    if (note !== undefined) block.notes.push([block.objects, note])
  }

  #placeNumber({ group, resource, namespace }: Key): number {
    const id = `${resource}\0${group}\0${namespace}`
    let number = this.#placeNumbers.get(id)
    if (number === undefined) {
      number = this.#placeNumbers.size
      this.#placeNumbers.set(id, number)
      this.#block.places.push({ group, resource, namespace })
    }
    return number
  }

  #bodyNumber(body: Body): number {
    let number = this.#bodyNumbers.get(body)
    if (number === undefined) {
      number = this.#bodyNumbers.size
      this.#bodyNumbers.set(body, number)
      this.#block.bodies.push(body.parts)
    }
    return number
  }

  #timesNumber(times: string): number {
    let number = this.#timesNumbers.get(times)
    if (number === undefined) {
      number = this.#times++
      // given again where it was forgotten: times are alike in runs
      if (this.#timesNumbers.size === KEPT_TIMES) this.#timesNumbers.clear()
      this.#timesNumbers.set(times, number)
      this.#block.times.push(times)
    }
    return number
  }
}

/** A block that grows. */
class Draft {
  objects = 0
  /** Bytes of texts. */
  bytes = 0
  readonly places: Place[] = []
  readonly bodies: BodyParts[] = []
  readonly times: string[] = []
  readonly spaces: string[] = []
  readonly runs: number[] = []
  readonly words = new Int32Array(BLOCK_OBJECTS * OBJECT_WORDS)
  readonly revisions = new Float64Array(BLOCK_OBJECTS)
  readonly memories: Memory[] = []
  readonly names: string[] = []
  readonly uids: string[] = []
  readonly notes: [number, string][] = []
}

function isSamePlace(a: Key, b: Key): boolean {
  return a.namespace === b.namespace && a.resource === b.resource && a.group === b.group
}
