/**
 * Watch frames: one JSON line or one length-prefixed protobuf message for each event, made once and shared by all watchers
 * that want the same form.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import { RecentlyOf } from '../../../apimachinery/recentlyOf.ts'
import type { Stored } from '../../../storage/store.ts'

export type FrameType = 'ADDED' | 'MODIFIED' | 'DELETED'

const END = Buffer.from('}\n')
const HEADS: Record<FrameType, Buffer> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
}

/**
 * Bound on recent frames, with the objects that they were made from. Lists at a time take turns, so those of the same objects come by each
 * of them one soon after the other.
 */
const LATELY_BYTES = 24 * 1024 * 1024
const LATELY_ENTRIES = 4096

/** The length of a shorter frame is not kept: it is soon made again. */
const LONG_BYTES = 4096

/** All watchers need a shared frame soon after one another. Number of the newest versions, and as much again. */
const RECENT = 4096
const RECENT_BYTES = 16 * 1024 * 1024
/** Number of versions. */
const LENGTHS = 16_384

interface Shared {
  readonly form: string
  readonly bytes: Buffer
  readonly before: Shared | undefined
}

const bytesOf = ({ bytes }: Shared): number => bytes.length

interface Made {
  readonly form: string
  readonly bytes: Buffer
}

interface Length {
  readonly form: string
  readonly bytes: number
}

export class FrameCache {
  /** By version of an object: its newest form, and those before it. */
  readonly #frames = new RecentlyOf<Stored, Shared>({ entries: RECENT, weight: RECENT_BYTES, of: bytesOf })
  /** Lengths of long frames, in the latest form. */
  readonly #lengths = new RecentlyOf<Stored, Length>({ entries: LENGTHS, weight: LENGTHS, of: () => 0 })
  readonly #lately = new BoundedCache<Stored, Made>({
    entries: LATELY_ENTRIES,
    weight: { limit: LATELY_BYTES, of: ({ bytes }, stored) => bytes.length + stored.bytes.length },
  })

  /** `form` names the representation; `make` makes the whole frame at its first use. */
  frame(type: FrameType, stored: Stored, form: string, make: (type: FrameType, stored: Stored) => Buffer): Buffer {
    return this.shared(stored, `${type} ${form}`, () => make(type, stored))
  }

  /** Any other bytes that follow from a version of an object. */
  shared(stored: Stored, form: string, make: () => Buffer): Buffer {
    const known = this.known(stored, form)
    if (known) return known
    const bytes = make()
    // read again: `make` may have shared another form of it
    this.#frames.set(stored, { form, bytes, before: this.#frames.get(stored) })
    return bytes
  }

  /** As `shared`, but kept for a while only: for passes over many objects, each of which may be needed once. */
  lately(stored: Stored, form: string, make: () => Buffer): Buffer {
    const known = this.known(stored, form)
    if (known) return known
    const made = this.#lately.get(stored)
    if (made?.form === form) return made.bytes
    const bytes = make()
    this.#lately.set(stored, { form, bytes })
    return bytes
  }

  /** The length of what `make` makes. That of something long is remembered, though not the thing itself. */
  length(stored: Stored, form: string, make: () => Buffer): number {
    const known = this.#lengths.get(stored)
    if (known?.form === form) return known.bytes
    const { length } = this.lately(stored, form, make)
    if (length >= LONG_BYTES) this.#lengths.set(stored, { form, bytes: length })
    return length
  }

  /** Frame that `shared` keeps, if any. */
  known(stored: Stored, form: string): Buffer | undefined {
    let one = this.#frames.get(stored)
    while (one !== undefined && one.form !== form) one = one.before
    return one?.bytes
  }
}

export function jsonFrame(type: FrameType, object: Buffer): Buffer {
  return Buffer.concat([HEADS[type], object, END])
}

/** A BOOKMARK's object. */
export function bookmarkObject(o: { apiVersion: string; kind: string; revision: number; initialEventsEnd: boolean }): {
  kind: string
  apiVersion: string
  metadata: object
} {
  const annotations = o.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  const metadata = { resourceVersion: String(o.revision), creationTimestamp: null, ...annotations }
  return { kind: o.kind, apiVersion: o.apiVersion, metadata }
}

/** A BOOKMARK or an ERROR. */
export function jsonEvent(type: 'BOOKMARK' | 'ERROR', object: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`)
}
