/**
 * Fields that an EdgePlacement leaves to the clusters: `spec.ignoreDifferences`. Pointers are JSON pointers (RFC 6901). Keys name elements
 * of lists, `[name=web]`, because their places change; `[*]` names all. A copy in a mailbox carries the pointers in an annotation; the
 * syncer creates the whole object and then releases these fields.
 */

import { EMPTY_SET, type FieldSet, fieldSet, isEmptySet, union } from '../../apimachinery/apply/fieldSet.ts'
import { record, strings } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { isServersKey } from '../../apimachinery/resources.ts'
import { EDGE_GROUP, LEFT_FIELDS_ANNOTATION } from '../words/placement.ts'
import { annotationJson } from './annotationJson.ts'

type Step =
  | { readonly member: string }
  /** `undefined`: every element. */
  | { readonly keys: Readonly<Record<string, string>> | undefined }

export type Pointer = readonly Step[]

/** Bound for one placement, and for all that place one object in one cluster. */
export const MAX_POINTERS = 200
export const MAX_POINTER_LENGTH = 256

const MAPS_OF_METADATA = ['labels', 'annotations']
/** Where keys are anybody's, a number may be one. */
const FREE_MAPS = new Set(['data', 'stringData', 'binaryData', 'metadata'])
const ELEMENT = /^\[(\*|[\w$-]+=[^,=]*(?:,[\w$-]+=[^,=]*)*)\]$/

/** Fault of a pointer, with the remedy; `undefined`: none. */
export function pointerProblem(text: string): string | undefined {
  if (!text.startsWith('/')) return 'must be a JSON pointer that begins with "/", such as /spec/replicas'
  if (text.length > MAX_POINTER_LENGTH) return `may not be longer than ${MAX_POINTER_LENGTH} characters`
  if (/~(?![01])/.test(text)) return 'in a JSON pointer "~" is written ~0, and "/" in a name ~1'
  const tokens = text.slice(1).split('/')
  if (tokens.includes('')) return 'has an empty part; write one "/" before each name, and none at the end'
  const [first = '', second = ''] = tokens
  if (first === 'apiVersion' || first === 'kind') return `${first} says what the object is, and cannot be left out`
  if (first === 'status') return "the status is the cluster's own already"
  if (first === 'metadata') return metadataProblem(tokens, second)
  for (const [i, token] of tokens.entries()) {
    if (token.startsWith('[') && !ELEMENT.test(token))
      return `"${token}" names no element of a list; write its keys, as in [name=web] or [containerPort=80,protocol=TCP], or [*] for all`
    if (/^\d+$/.test(token) && !FREE_MAPS.has(first))
      return `"${token}" would be a place in a list, and places change; name the element by its keys, as in [name=web], or all of them, [*]`
    const before = i === 0 ? undefined : keysIn(tokens[i - 1]!)
    if (before && Object.hasOwn(before, token)) return `"${token}" says which element it is, and cannot be left out`
  }
  return first.startsWith('[') ? 'must begin with a field of the object, such as /spec' : undefined
}

function metadataProblem(tokens: readonly string[], second: string): string | undefined {
  if (!MAPS_OF_METADATA.includes(second))
    return 'of the metadata only labels and annotations can be left, as in /metadata/labels/team'
  if (tokens.length > 3) return `names no ${second.slice(0, -1)}; write "/" in its name as ~1`
  const [, , key] = tokens
  return key !== undefined && isReserved(unescaped(key))
    ? 'is what the placement itself marks objects with; leave it out of the list'
    : undefined
}

/** `undefined` for what is no pointer. */
export function parsePointer(text: string): Pointer | undefined {
  if (pointerProblem(text) !== undefined) return undefined
  const tokens = text.slice(1).split('/')
  return tokens.map(token =>
    tokens[0] !== 'metadata' && ELEMENT.test(token) ? { keys: keysIn(token) } : { member: unescaped(token) },
  )
}

/** Text of a copy's annotation; `undefined`: no field is left. */
export function leftFieldsText(pointers: Iterable<string>): string | undefined {
  const all = [...new Set(pointers)].sort().slice(0, MAX_POINTERS)
  return all.length === 0 ? undefined : JSON.stringify(all)
}

/** The pointers of what of a copy is left to its cluster. An annotation that is not Orrery's leaves nothing. */
export function leftTexts(copy: Readonly<KubeObject>): string[] {
  return strings(annotationJson(copy, LEFT_FIELDS_ANNOTATION)).slice(0, MAX_POINTERS)
}

/** The same, read. */
export function leftFieldsOf(copy: Readonly<KubeObject>): Pointer[] {
  return leftTexts(copy).flatMap(pointer => {
    const parsed = parsePointer(pointer)
    return parsed ? [parsed] : []
  })
}

/** The object without the fields, as far as they are there; it shares with the object what stays. */
export function withoutFields<T extends KubeObject>(object: T, pointers: readonly Pointer[]): T {
  return pointers.reduce((rest, pointer) => without(rest, pointer, 0) as T, object)
}

function without(value: unknown, pointer: Pointer, at: number): unknown {
  const step = pointer[at]!
  const isLast = at === pointer.length - 1
  if ('member' in step) {
    if (!isRecord(value) || !Object.hasOwn(value, step.member)) return value
    if (!isLast) return { ...value, [step.member]: without(value[step.member], pointer, at + 1) }
    const { [step.member]: gone, ...rest } = value
    // what marks the object stays, also where all of its labels are left
    return pointer.length === 2 && isMetadata(pointer) ? { ...rest, [step.member]: reservedIn(gone) } : rest
  }
  if (!Array.isArray(value)) return value
  return value.flatMap((item: unknown) => {
    if (!isElement(item, step.keys)) return [item]
    return isLast ? [] : [without(item, pointer, at + 1)]
  })
}

/** Those paths of a set that a pointer leads to, or beyond. */
export function leftIn(set: FieldSet, pointers: readonly Pointer[]): FieldSet {
  return pointers.reduce((all, pointer) => union(all, within(set, pointer, 0)), EMPTY_SET)
}

function within(set: FieldSet, pointer: Pointer, at: number): FieldSet {
  if (at === pointer.length) return set
  const step = pointer[at]!
  const children = new Map<string, FieldSet>()
  for (const [element, child] of set.children ?? []) {
    if (!leadsTo(element, step)) continue
    const below = within(child, pointer, at + 1)
    if (!isEmptySet(below)) children.set(element, below)
  }
  return fieldSet(false, children)
}

function leadsTo(element: string, step: Step): boolean {
  if ('member' in step) return element === `f:${step.member}`
  if (step.keys === undefined) return !element.startsWith('f:')
  return element.startsWith('k:') && isElement(JSON.parse(element.slice(2)), step.keys)
}

function isElement(item: unknown, keys: Readonly<Record<string, string>> | undefined): boolean {
  if (keys === undefined) return true
  return (
    isRecord(item) &&
    Object.entries(keys).every(([key, value]) => Object.hasOwn(item, key) && String(item[key]) === value)
  )
}

/** Keys in `[name=web]`; `undefined` for `[*]` and for names. */
function keysIn(token: string): Record<string, string> | undefined {
  if (!ELEMENT.test(token) || token === '[*]') return undefined
  const pairs = token.slice(1, -1).split(',')
  return Object.fromEntries(pairs.map(pair => pair.split('=').map(unescaped)))
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

function isMetadata([first]: Pointer): boolean {
  return first !== undefined && 'member' in first && first.member === 'metadata'
}

function reservedIn(keys: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record(keys)).filter(([key]) => isReserved(key)))
}

function isReserved(key: string): boolean {
  const prefix = key.split('/')[0] ?? ''
  return prefix === EDGE_GROUP || prefix === 'kubestellar.io' || isServersKey(key)
}
