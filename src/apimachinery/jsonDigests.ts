/**
 * Digests of large JSON values, which distinguish them without their texts; made in steps. Members of an object that others share with it,
 * as all copies of one object do, are read once.
 */
import { createHash, type Hash } from 'node:crypto'
import { countUpTo } from './objectSize.ts'
import type { Steps } from './steps.ts'
import { setMember } from './values.ts'

interface JsonDigest {
  /** The same for the same text, and for no other. */
  readonly digest: string
  /** Size of the text, in UTF-8. */
  readonly bytes: number
}

/** Values that are written down in one step: some tenths of a millisecond. */
const STEP = 1000

/** Digests of values that never change. */
export class JsonDigests {
  readonly #known = new WeakMap<object, JsonDigest>();

  /** Digest of an object, by those of its members. */
  *of(object: Readonly<Record<string, unknown>>): Steps<JsonDigest> {
    const hash = createHash('sha256')
    let members = 0
    let bytes = 0
    for (const key in object) {
      const value = object[key]
      if (value === undefined) continue
      const name = JSON.stringify(key)
      const { digest, bytes: own } = yield* this.#member(value)
      hash.update(`${name}:${digest},`)
      members++
      bytes += Buffer.byteLength(name) + 1 + own
    }
    return { digest: hash.digest('base64'), bytes: 2 + Math.max(0, members - 1) + bytes }
  }

  *#member(value: unknown): Steps<JsonDigest> {
    if (typeof value !== 'object' || value === null) return yield* digestInSteps(value)
    let known = this.#known.get(value)
    if (known === undefined) {
      known = yield* digestInSteps(value)
      this.#known.set(value, known)
    }
    return known
  }
}

/** Digest of a value's JSON text. */
export function* digestInSteps(value: unknown): Steps<JsonDigest> {
  const text = new Text()
  yield* write(value, text)
  return text.digest()
}

class Text {
  readonly #hash: Hash = createHash('sha256')
  #bytes = 0

  add(piece: string): void {
    this.#hash.update(piece)
    this.#bytes += Buffer.byteLength(piece)
  }

  digest(): JsonDigest {
    return { digest: this.#hash.digest('base64'), bytes: this.#bytes }
  }
}

function* write(value: unknown, text: Text): Steps<void> {
  if (countUpTo(value, STEP) <= STEP) {
    text.add(JSON.stringify(value) ?? 'null')
    yield
    return
  }
  const isList = Array.isArray(value)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  let before = open!
  // members that are written down together
  let list: unknown[] = []
  let map: Record<string, unknown> = {}
  let left = STEP
  const flush = (): void => {
    const members = JSON.stringify(isList ? list : map).slice(1, -1)
    if (members !== '') {
      text.add(`${before}${members}`)
      before = ','
    }
    list = []
    map = {}
    left = STEP
  }
  for (const [key, member] of membersOf(value as object)) {
    const count = 1 + countUpTo(member, STEP)
    if (count > left) {
      flush()
      yield
    }
    left -= count
    if (isList && count <= STEP) list.push(member)
    else if (count <= STEP) setMember(map, key, member)
    else {
      text.add(isList ? before : `${before}${JSON.stringify(key)}:`)
      before = ','
      left = STEP
      yield* write(member, text)
    }
  }
  flush()
  text.add(close!)
}

function* membersOf(value: object): Generator<[string, unknown]> {
  if (Array.isArray(value)) for (const item of value) yield ['', item]
  else for (const key in value) yield [key, (value as Record<string, unknown>)[key]]
}
