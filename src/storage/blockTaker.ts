/** Takes {@link LoadedBlock}s of one reader into the index of a store that is being opened. */
import type { Arena } from './arena.ts'
import type { Bodies } from './bodies.ts'
import type { Body } from './body.ts'
import { type LoadedBlock, OBJECT_WORDS, type Place, RUN_WORDS, SHARED_TEXT } from './loadedBlock.ts'
import type { ObjectIndex } from './objectIndex.ts'
import type { Kin, Placed } from './objectSlots.ts'
import type { SharedStored } from './sharedStored.ts'
import type { Key } from './store.ts'

interface BlockTakerDeps {
  index: ObjectIndex
  arena: Arena
  bodies: Bodies
  /** Called for each run: number of objects, and their bytes with notes. */
  loaded?: ((kin: Kin, objects: number, bytes: number) => void) | undefined
}

export class BlockTaker {
  readonly #deps: BlockTakerDeps
  readonly #places: Place[] = []
  readonly #times: string[] = []
  readonly #bodies: Body[] = []

  constructor(deps: BlockTakerDeps) {
    this.#deps = deps
  }

  take(block: LoadedBlock): void {
    const { index, arena, loaded } = this.#deps
    for (const place of block.places) this.#places.push(place)
    for (const times of block.times) this.#times.push(times)
    for (const parts of block.bodies) this.#bodies.push(this.#deps.bodies.adopt(parts))
    const objects = new Objects(block)
    const { runs } = block
    for (let run = 0; run < runs.length; run += RUN_WORDS) {
      const { group, resource, namespace } = this.#places[runs[run + 1]!]!
      const kin = { space: block.spaces[runs[run]!]!, group, resource }
      const count = runs[run + 2]!
      let bytes = 0
      for (let i = 0; i < count; i++) {
        if (objects.isShared) {
          const { key, shared } = this.#shared(objects, { ...kin, namespace })
          index.place(key, shared)
          bytes += shared.size + (shared.note?.length ?? 0)
        } else {
          const placed = objects.placed()
          index.place({ ...kin, namespace, name: index.ownName(objects.name()) }, placed)
          arena.adopted(placed.length)
          bytes += placed.length + (placed.note?.length ?? 0)
        }
        objects.next()
      }
      loaded?.(kin, count, bytes)
    }
  }

  #shared(objects: Objects, place: Omit<Key, 'name'>): { key: Key; shared: SharedStored } {
    const { bodies } = this.#deps
    const body = this.#bodies[objects.body]!
    const key = { ...place, name: body.name }
    const own = { uid: objects.uid(), times: this.#times[objects.times]! }
    const shared = bodies.stored({ key, revision: objects.revision }, { body, own })
    bodies.replaced(shared, undefined)
    return { key, shared }
  }
}

/** Goes through the objects of a block. */
class Objects {
  readonly #block: LoadedBlock
  readonly #notes: ReadonlyMap<number, string> | undefined
  #object = 0
  #named = 0
  #owned = 0

  constructor(block: LoadedBlock) {
    this.#block = block
    this.#notes = block.notes.length === 0 ? undefined : new Map(block.notes)
  }

  get isShared(): boolean {
    return this.#word(0) === SHARED_TEXT
  }

  get body(): number {
    return this.#word(1)
  }

  get times(): number {
    return this.#word(2)
  }

  get revision(): number {
    return this.#block.revisions[this.#object]!
  }

  /** Once for each with a shared text. */
  uid(): string {
    return this.#block.uids[this.#owned++]!
  }

  /** Once for each with a text of its own. */
  name(): string {
    return this.#block.names[this.#named++]!
  }

  placed(): Placed {
    return {
      memory: this.#block.memories[this.#word(0)]!,
      at: this.#word(1),
      length: this.#word(2),
      headBytes: this.#word(3),
      revision: this.revision,
      note: this.#notes?.get(this.#object),
    }
  }

  next(): void {
    this.#object++
  }

  #word(of: number): number {
    return this.#block.words[this.#object * OBJECT_WORDS + of]!
  }
}
