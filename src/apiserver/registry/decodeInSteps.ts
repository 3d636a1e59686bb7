/**
 * A large stored object out of its text, in steps. Its parsing is dear mostly by its managers' claims: ten may each claim tens of thousands
 * of fields. These entries are therefore cut out of the text, and parsed one by one. Long ones, and the rest, are parsed a piece after the
 * other.
 *
 * They stand in the head of the canonical text (codec.ts), which has been written by us. A quote inside of a JSON string has a
 * backslash before it. So what is looked for here, a quote with brackets before it and a letter behind, is never inside of one.
 */
import { jsonInSteps } from '../../apimachinery/jsonInSteps.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../apimachinery/object.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { sizeOf } from '../../storage/sharedStored.ts'
import type { Stored } from '../../storage/store.ts'
import { decodeObject } from './codec.ts'

/** A shorter text is parsed in an unnoticeable time. */
const LARGE_BYTES = 128 * 1024
/** Size below which a read of metadata parses all: later readers need the rest, and then it is there. */
const LONG_BYTES = 16 * 1024
const FIELD = '"managedFields":['
const NEXT = '},{"'
const END = '}],"'
const LETTER = /[A-Za-z]/

/** A private copy, as `decodeObject` makes it. */
export function* decodeInSteps(stored: Pick<Stored, 'bytes' | 'headBytes'>): Steps<KubeObject> {
  const { bytes, headBytes } = stored
  if (bytes.length < LARGE_BYTES) return decodeObject(stored)
  const head = bytes.toString('utf8', 0, headBytes)
  const claims = claimsIn(head)
  if (claims === undefined) return ((yield* jsonInSteps(bytes.toString()))?.value ?? decodeObject(stored)) as KubeObject
  const { from, to } = claims
  yield
  const rest = head.slice(0, from) + head.slice(to + 1) + bytes.toString('utf8', headBytes)
  const known = yield* jsonInSteps(rest)
  const object = known ? (known.value as KubeObject) : parsed(rest)
  const managedFields = object?.metadata.managedFields
  // it was a field of something else
  if (object === undefined || managedFields?.length !== 0) return decodeObject(stored)
  for (let begin = from; begin < to; ) {
    yield
    const next = before(head, NEXT, begin)
    const end = next < 0 || next > to ? to : next
    const entry = head.slice(begin, end + 1)
    const long = entry.length < LARGE_BYTES ? undefined : yield* jsonInSteps(entry)
    managedFields.push((long?.value ?? JSON.parse(entry)) as ManagedFieldsEntry)
    begin = end + 2
  }
  return object
}

/**
 * Its identity, its owners and its finalizers, out of the head of its text alone, without its managers' claims. `undefined` where that is
 * no cheaper than to parse it all, or the head is unclear.
 */
export function metadataOfLong(stored: Stored): KubeObject['metadata'] | undefined {
  return sizeOf(stored) < LONG_BYTES ? undefined : metadataOf(stored, stored.bytes)
}

/** The same of an object of any size, with its text. */
export function metadataOf({ headBytes, revision }: Stored, bytes: Buffer): KubeObject['metadata'] | undefined {
  if (headBytes === 0) return undefined
  const head = bytes.toString('utf8', 0, headBytes)
  const claims = claimsIn(head)
  const kept = claims ? head.slice(0, claims.from) + head.slice(claims.to + 1) : head
  const metadata = parsed(`${kept}${revision}"}}`)?.metadata
  if (metadata === undefined || !claims) return metadata
  const { managedFields, ...rest } = metadata
  // it was a field of something else
  return managedFields?.length === 0 ? rest : undefined
}

/** Where the entries of claims stand in the head of a text. */
function claimsIn(head: string): { from: number; to: number } | undefined {
  const from = head.indexOf(FIELD) + FIELD.length
  const to = from < FIELD.length ? -1 : before(head, END, from)
  return to < 0 ? undefined : { from, to }
}

/** `undefined`: it is no JSON, because too much was cut out. */
function parsed(text: string): KubeObject | undefined {
  try {
    return JSON.parse(text) as KubeObject
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Where `sign` stands next with a letter behind it; -1: nowhere. */
function before(text: string, sign: string, from: number): number {
  for (let at = text.indexOf(sign, from); at >= 0; at = text.indexOf(sign, at + 1))
    if (LETTER.test(text.charAt(at + sign.length))) return at
  return -1
}
