/**
 * Makes {@link LoadedBlock}s of objects that come one by one, about in key order, and finds out which of them say the same: each is held
 * against the one that came last with its kind and name.
 */
import { Arena } from './arena.ts'
import { type LoadedBlock, type NamedForm, OBJECT_WORDS, type Place, SHARED_TEXT } from './loadedBlock.ts'
import type { Memory } from './objectSlots.ts'
import { SharedStored } from './sharedStored.ts'
import { SharedTexts } from './sharedTexts.ts'
import type { Key, Revision, Stored } from './store.ts'
import type { TextForm } from './textForm.ts'

/** Small enough that nobody works on one for more than a few milliseconds. */
const BLOCK_OBJECTS = 4096
const BLOCK_BYTES = 1024 * 1024
/**
 * Names that are remembered, twice as many at most: more than most spaces have objects. What a space has beyond is kept whole, without
 * a look at others.
 */
const REMEMBERED = 32_768

/** An object with a text of its own. */
interface Seen {
  readonly space: string
  readonly revision: Revision
  readonly headBytes: number
  readonly note: string | undefined
  readonly memory: Memory
  readonly at: number
  readonly length: number
}

export interface BlockMakerOptions {
  give(block: LoadedBlock): void
  /** Of texts. Default: memory that threads can share. */
  memory?: (bytes: number) => Memory
}

export class BlockMaker {
  readonly #give: BlockMakerOptions['give']
  readonly #arena: Arena
  readonly #texts = new SharedTexts()
  readonly #formNumbers = new Map<TextForm, number>()
  readonly #restNumbers = new Map<readonly string[], number>()
  readonly #placeNumbers = new Map<string, number>()
  /** What came last of each kind and name. */
  #seen = new Map<string, Seen | SharedStored>()
  #seenBefore = new Map<string, Seen | SharedStored>()
  /** In this block. */
  #last: Key | undefined
  #space = ''
  /** Objects of it so far. */
  #inSpace = 0
  #block = new Draft()

  constructor({ give, memory = bytes => new SharedArrayBuffer(bytes) }: BlockMakerOptions) {
    this.#give = give
    this.#arena = new Arena(memory)
  }

  add(stored: Stored): void {
    this.#enterRun(stored.key)
    const block = this.#block
    const id = this.#inSpace > REMEMBERED ? undefined : nameOf(stored.key)
    const known = id === undefined ? undefined : (this.#seen.get(id) ?? this.#seenBefore.get(id))
    const shared = id === undefined ? undefined : this.#texts.loaded(stored, known && neighbourOf(known, stored))
    const word = block.objects * OBJECT_WORDS
    block.revisions[block.objects] = stored.revision
    if (shared === undefined) this.#remember(id, this.#placed(stored, word))
    else {
      this.#texts.replaced(shared, undefined)
      block.words[word] = SHARED_TEXT
      block.words[word + 1] = this.#formNumber(shared.form, stored.key.name)
      block.words[word + 2] = this.#restNumber(shared.rest)
      block.owns.push(shared.own)
      this.#remember(id, shared)
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
    if (key.space !== this.#space) this.#inSpace = 0
    this.#space = key.space
    this.#inSpace++
    if (isSameSpace && isSamePlace(last, key)) runs[runs.length - 1]!++
    else {
      if (!isSameSpace) spaces.push(key.space)
      runs.push(spaces.length - 1, this.#placeNumber(key), 1)
    }
    this.#last = key
  }

  #placed({ key, revision, bytes, headBytes, note }: Stored, word: number): Seen {
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
    return { space: key.space, revision, headBytes, note, memory, at, length }
  }

  #remember(id: string | undefined, seen: Seen | SharedStored): void {
    if (id === undefined) return
    if (this.#seen.size >= REMEMBERED) {
      this.#seenBefore = this.#seen
      this.#seen = new Map()
    }
    this.#seen.set(id, seen)
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

  #formNumber(form: TextForm, name: string): number {
    let number = this.#formNumbers.get(form)
    if (number === undefined) {
      number = this.#formNumbers.size
      this.#formNumbers.set(form, number)
      this.#block.forms.push({ parts: form.parts, name })
    }
    return number
  }

  #restNumber(rest: readonly string[]): number {
    let number = this.#restNumbers.get(rest)
    if (number === undefined) {
      number = this.#restNumbers.size
      this.#restNumbers.set(rest, number)
      this.#block.rests.push(rest)
    }
    return number
  }
}

/** A block that grows. */
class Draft {
  objects = 0
  /** Of texts. */
  bytes = 0
  readonly places: Place[] = []
  readonly forms: NamedForm[] = []
  readonly rests: (readonly string[])[] = []
  readonly spaces: string[] = []
  readonly runs: number[] = []
  readonly words = new Int32Array(BLOCK_OBJECTS * OBJECT_WORDS)
  readonly revisions = new Float64Array(BLOCK_OBJECTS)
  readonly memories: Memory[] = []
  readonly names: string[] = []
  readonly owns: string[] = []
  readonly notes: [number, string][] = []
}

function isSamePlace(a: Key, b: Key): boolean {
  return a.namespace === b.namespace && a.resource === b.resource && a.group === b.group
}

/** What the other may say too; most that have nothing in common but their names are told apart without a look at their texts. */
function neighbourOf(known: Seen | SharedStored, other: Stored): Stored | undefined {
  if (known instanceof SharedStored) return known
  const { revision, headBytes, note, memory, at, length } = known
  if (headBytes !== other.headBytes || note !== other.note) return undefined
  if (length - String(revision).length !== other.bytes.length - String(other.revision).length) return undefined
  // Buffer.from takes both kinds
  const bytes = Buffer.from(memory as ArrayBuffer, at, length)
  const key = { ...other.key, space: known.space }
  return { key, revision, bytes, headBytes, ...(note !== undefined && { note }) }
}

const nameOf = ({ group, resource, namespace, name }: Key): string => `${resource}\0${group}\0${namespace}\0${name}`
