/**
 * Objects to canonical bytes and back. An object is serialized once, when it is written; reads and watches send its bytes.
 *
 * The canonical text starts `{"apiVersion":…,"kind":…,"metadata":{…,"resourceVersion":"N"}` so that the revision can be put in
 * place without parsing and a reader can tell the version without parsing.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { escapedAsGo } from '../../apimachinery/go/goJson.ts'
import { jsonTextInSteps } from '../../apimachinery/jsonText.ts'
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from '../../apimachinery/object.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { sizeOf } from '../../storage/sharedStored.ts'
import type { Encoded, Stored } from '../../storage/store.ts'
import { declaredInSteps, declaredText } from './declaredText.ts'

/** Controllers compare its data with what they would write now, byte by byte. */
const COMPARED_KIND = 'ControllerRevision'

/**
 * Serializes an object around its resourceVersion; whatever resourceVersion it carries is left out. `isShared`: objects of other
 * spaces say the same, so its gaps are declared.
 */
export function encodeObject(object: KubeObject, isShared = false): Encoded {
  const { apiVersion, kind, metadata, ...rest } = object
  if (isShared && kind !== COMPARED_KIND) return declaredText(object)
  const { resourceVersion: _, ...meta } = metadata
  return encodedOf({ apiVersion, kind, meta: JSON.stringify(meta satisfies ObjectMeta), rest: JSON.stringify(rest) })
}

/** The same in steps, for a large one. */
export function* encodeInSteps(object: KubeObject, isShared = false): Steps<Encoded> {
  const { apiVersion, kind, metadata, ...rest } = object
  if (isShared && kind !== COMPARED_KIND) return yield* declaredInSteps(object)
  const { resourceVersion: _, ...meta } = metadata
  return encodedOf({ apiVersion, kind, meta: yield* jsonTextInSteps(meta), rest: yield* jsonTextInSteps(rest) })
}

/** `meta`, `rest`: texts of the metadata without its resourceVersion, and of what the object has beside them. */
function encodedOf({ apiVersion, kind, meta, rest }: Record<'apiVersion' | 'kind' | 'meta' | 'rest', string>): Encoded {
  const restText = kind === COMPARED_KIND ? escapedAsGo(rest) : rest
  const comma = meta === '{}' ? '' : ','
  return {
    head: `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":${meta.slice(0, -1)}${comma}"resourceVersion":"`,
    tail: restText === '{}' ? '"}}' : `"},${restText.slice(1)}`,
  }
}

const PLACE = '"resourceVersion":"'

/** The text of an object that is not stored: it has no resourceVersion, so no place for one either. */
export function textOfNone({ head, tail }: Encoded): string {
  const before = head.slice(0, -PLACE.length)
  return (before.endsWith(',') ? before.slice(0, -1) : before) + tail.slice(1)
}

interface Rewriting {
  readonly current: Stored
  /** Its content. */
  readonly old: Readonly<KubeObject>
  /** It says all that, and nothing else: it was only parsed. */
  readonly isAsStored: boolean
  readonly text: Encoded
  /** The object of the text. */
  readonly now: Readonly<KubeObject>
}

/**
 * Whether writing `text` over `current` would change nothing but the revision. The order of members is not a change, nor is a repeated
 * claim of a manager at a later time.
 */
export function sameObject({ current, old, isAsStored, text, now }: Rewriting): boolean {
  const length = Buffer.byteLength(text.head) + String(current.revision).length + Buffer.byteLength(text.tail)
  if (length !== sizeOf(current)) return false
  if (sameContent(old, now) && sameMetadata(old.metadata, now.metadata)) return true
  return !isAsStored && current.bytes.equals(Buffer.from(text.head + current.revision + text.tail))
}

/** Called first: most writes differ here. */
function sameContent(old: Readonly<KubeObject>, now: Readonly<KubeObject>): boolean {
  const { metadata: _was, ...before } = old
  const { metadata: _is, ...after } = now
  return equalJson(before, after)
}

function sameMetadata(
  { resourceVersion: _was, managedFields: claims, ...old }: Readonly<ObjectMeta>,
  { resourceVersion: _is, managedFields: claimed, ...now }: Readonly<ObjectMeta>,
): boolean {
  return equalJson(old, now) && equalJson(claims?.map(timeless), claimed?.map(timeless))
}

function timeless({ time: _, ...claim }: ManagedFieldsEntry): ManagedFieldsEntry {
  return claim
}

/** A private copy that the caller may change. */
export function decodeObject(stored: Pick<Stored, 'bytes'>): KubeObject {
  return JSON.parse(stored.bytes.toString('utf8')) as KubeObject
}

/** After so many times of what it holds all is forgotten: rarely enough to cost nothing. */
const SCANS_WITHOUT_ROOM = 8
const KEPT_OBJECTS = 4096
/** Bytes of their texts. Parsed they take two or three times as much, twenty times by hostile design. */
const KEPT_BYTES = 16 * 1024 * 1024
/** A longer text mostly has many small values, each of which is an object when it is parsed: it counts for more. */
const LONG_BYTES = 16 * 1024
const LONG_WEIGHT = 4

function weightOf(bytes: number): number {
  return bytes < LONG_BYTES ? bytes : bytes * LONG_WEIGHT
}

/**
 * Parsed forms that readers share, because selectors, controllers and authorizers ask for the same few objects again and again. Bounded:
 * oldest entries fall out. A scan, which looks at everything once, only takes free room. A longer one would else throw out all reused
 * objects, and its own beginning too. When scans have long found no room, all is forgotten, so that the cache does not stay full of unused
 * objects. Objects from here are read-only.
 */
export class ParsedCache {
  readonly #entries: BoundedCache<Stored, KubeObject>
  /** Scanned objects that found no room since all was forgotten. */
  #withoutRoom = 0

  /** `bytes` are those of the texts. */
  constructor({ objects = KEPT_OBJECTS, bytes = KEPT_BYTES }: { objects?: number; bytes?: number } = {}) {
    this.#entries = new BoundedCache({
      entries: objects,
      weight: { limit: bytes, of: (_, stored) => weightOf(sizeOf(stored)) },
    })
  }

  get(stored: Stored): Readonly<KubeObject> {
    const known = this.#entries.peek(stored)
    if (known !== undefined) return known
    const object = decodeObject(stored)
    this.#entries.set(stored, object)
    return object
  }

  /** Content of a stored object, from a caller that has it. Read-only from here on. */
  keep(stored: Stored, object: Readonly<KubeObject>): void {
    if (this.#entries.peek(stored) === undefined) this.#entries.set(stored, object)
  }

  /** Present entry. */
  known(stored: Stored): Readonly<KubeObject> | undefined {
    return this.#entries.peek(stored)
  }

  /** The same as `get` for one of many that are looked at in a row. */
  scan(stored: Stored): Readonly<KubeObject> {
    const known = this.#entries.peek(stored)
    if (known !== undefined) return known
    const object = decodeObject(stored)
    if (this.#entries.setIfRoom(stored, object)) return object
    if (++this.#withoutRoom <= SCANS_WITHOUT_ROOM * this.#entries.size) return object
    this.#entries.clear()
    this.#withoutRoom = 0
    this.#entries.setIfRoom(stored, object)
    return object
  }
}
