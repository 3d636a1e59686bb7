/**
 * A version of an object whose text is kept once for many. It is a {@link Stored} like any other; its bytes are joined on demand, and kept
 * for as long as there is room for such.
 */
import type { Body, Own } from './body.ts'
import type { Joinable, JoinedTexts } from './joinedTexts.ts'
import type { Key, Revision, Stored } from './store.ts'

export class SharedStored implements Stored, Own, Joinable {
  readonly key: Key
  readonly revision: Revision
  readonly body: Body
  readonly uid: string
  readonly times: string
  readonly #joined: JoinedTexts

  constructor(
    { key, revision }: Pick<Stored, 'key' | 'revision'>,
    body: Body,
    { uid, times }: Own,
    joined: JoinedTexts,
  ) {
    this.key = key
    this.revision = revision
    this.body = body
    this.uid = uid
    this.times = times
    this.#joined = joined
  }

  /** Cache of its bytes. */
  get joined(): JoinedTexts {
    return this.#joined
  }

  get bytes(): Buffer {
    return this.#joined.of(this)
  }

  /** As it stands in its row. */
  get outline(): Buffer {
    return this.body.outline
  }

  get headBytes(): number {
    return this.body.headBytes
  }

  get note(): string | undefined {
    return this.body.note
  }

  get size(): number {
    return this.body.size(this.revision)
  }

  join(): Buffer {
    return this.body.text(this, this.key.space, this.revision)
  }

  /** Writes its text into what has room for it; nothing is kept of it. */
  write(into: Buffer, at: number): void {
    this.body.write(this, this.key.space, this.revision, into, at)
  }

  /** The same under another revision. */
  at(revision: Revision): SharedStored {
    return new SharedStored({ key: this.key, revision }, this.body, this, this.#joined)
  }
}

/** Cost of a version in memory beside its text, where others share that. */
const SHARED_BYTES = 250

/** The length of its text in bytes, which is not put together for that. */
export function sizeOf(stored: Pick<Stored, 'bytes'>): number {
  return stored instanceof SharedStored ? stored.size : stored.bytes.length
}

/** Writes its text into what has room for it. */
export function writeText(stored: Pick<Stored, 'bytes'>, into: Buffer, at: number): void {
  if (stored instanceof SharedStored) stored.write(into, at)
  else stored.bytes.copy(into, at)
}

/** Memory of its text, or of its share of one. */
export function heldBytes(stored: Stored): number {
  return stored instanceof SharedStored ? SHARED_BYTES : stored.bytes.length
}

/** Whether a version says what another one says, but for its revision; of texts that are kept once only {@link SharedStored.at} is known to. */
export function saysTheSame(a: Stored, b: Stored): boolean {
  if (a.note !== undefined || a.headBytes !== b.headBytes) return false
  if (a instanceof SharedStored && b instanceof SharedStored)
    return a.body === b.body && a.uid === b.uid && a.times === b.times
  const [{ bytes }, { bytes: others }] = [a, b]
  const [tail, othersTail] = [tailOf(a), tailOf(b)]
  return (
    bytes.length - tail === others.length - othersTail &&
    bytes.compare(others, 0, b.headBytes, 0, a.headBytes) === 0 &&
    bytes.compare(others, othersTail, others.length, tail, bytes.length) === 0
  )
}

function tailOf({ headBytes, revision }: Stored): number {
  return headBytes + String(revision).length
}

/** Whether its text contains another. */
export function mentions(stored: Stored, text: string): boolean {
  if (stored instanceof SharedStored) {
    const known = stored.body.mentions(text, stored, stored.key.space, stored.revision)
    if (known !== undefined) return known
  }
  return stored.bytes.includes(text)
}
