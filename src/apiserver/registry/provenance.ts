/**
 * Fields of an object that have no author. Defaults or the server's own admission filled them in, and no writer has changed or named them
 * since. Kept as the note of a stored version, only for objects that may travel.
 *
 * In spaces that others are fed from, objects are stored whole, as everywhere, and the note lists those fields. In a mailbox a
 * copy on its way is judged with its defaults and stored without them, so that each cluster fills in its own.
 */
import {
  EMPTY_SET,
  type FieldSet,
  fieldSet,
  fromFieldsV1,
  toFieldsV1,
  union,
  unionAll,
} from '../../apimachinery/apply/fieldSet.ts'
import { lastAppliedFields } from '../../apimachinery/apply/lastApplied.ts'
import { addedIn, partOf, sameIn } from '../../apimachinery/apply/looseFields.ts'
import { decodeManagers } from '../../apimachinery/apply/managers.ts'
import { compare, compareInSteps, removeFields } from '../../apimachinery/apply/typed.ts'
import { setDefaulted } from '../../apimachinery/defaultedFields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { cloneJson, equalJson } from '../../apimachinery/values.ts'
import type { Stored } from '../../storage/store.ts'

/** The note of a copy that is stored without its defaults. */
export const BARE = 'bare'
/** A longer list is dropped, and its fields count as set. */
export const MAX_NOTE = 16 * 1024

/** Role of an object: it may travel, or it is on its way. */
export type Part = 'source' | 'copy'

/** Which objects those are. */
export interface Travel {
  partOf(space: string, type: ResourceType, object: KubeObject): Part | undefined
}

interface Defaults {
  /** Whether there are any for objects of the type. */
  has(type: ResourceType): boolean
  apply(type: ResourceType, object: KubeObject): void
}

/** How a write came. */
export interface Manner {
  /** Whether it is a patch, or a PUT of an object that was read here: unchanged fields in it then stay unset. */
  readonly sendsBack: boolean
  /** Fields that it names, whatever it says of them. */
  readonly named: FieldSet
}

export class Provenance {
  readonly #travel: Travel
  readonly #defaults: Defaults

  constructor(travel: Travel, defaults: Defaults) {
    this.#travel = travel
    this.#defaults = defaults
  }

  partOf(space: string, type: ResourceType, object: KubeObject): Part | undefined {
    return this.#travel.partOf(space, type, object)
  }

  /** Whether defaults may fill anything in. */
  hasDefaults(type: ResourceType): boolean {
    return this.#defaults.has(type)
  }

  /** Unset fields of a stored object; empty when they are unknown. `old` is the stored one. */
  before(type: ResourceType, stored: Stored, old: KubeObject): FieldSet {
    if (stored.note === BARE) return filledIn(content(old), this.whole(type, old), type.schema)
    return this.#read(type, stored, old) ?? EMPTY_SET
  }

  /** A copy with its defaults. */
  whole(type: ResourceType, bare: KubeObject): KubeObject {
    const object = cloneJson(bare)
    this.#defaults.apply(type, object)
    return object
  }

  /** Attaches to `object`, made from `stored`, its unset fields. */
  attach(type: ResourceType, stored: Stored, object: KubeObject): void {
    if (this.partOf(stored.key.space, type, object) !== 'source') return
    let found: { set: FieldSet | undefined } | undefined
    setDefaulted(object, () => {
      found ??= { set: this.#read(type, stored, object) }
      return found.set
    })
  }

  #read(type: ResourceType, { note }: Stored, object: KubeObject): FieldSet | undefined {
    return note === undefined ? this.#derived(type, object) : readNote(note)
  }

  /**
   * For objects that were stored before notes were: an applier's fields are the set ones. Fields that appliers left out, with the value of
   * the default, are unset. `undefined` without an applier.
   */
  #derived(type: ResourceType, object: KubeObject): FieldSet | undefined {
    const named = withoutServers(appliedFields(object, type.schema))
    if (named === EMPTY_SET) return undefined
    const { apiVersion, kind, metadata } = object
    const applied = partOf(object, named)
    const bare: KubeObject = cloneJson({ ...(isRecord(applied) ? applied : {}), apiVersion, kind, metadata })
    const whole = this.whole(type, bare)
    return sameIn(content(whole), content(object), filledIn(content(bare), whole, type.schema))
  }
}

/**
 * Part of an object that may be unset, sharing its values. Metadata and status are excluded: the claims of many managers are much larger
 * than their fields.
 */
export function content({ metadata: _metadata, status: _status, ...rest }: Readonly<KubeObject>): Content {
  return rest
}
export type Content = Omit<KubeObject, 'metadata' | 'status'>

/** Additions of defaults to the requested content. */
function filledIn(requested: Content, defaulted: KubeObject, schema: Schema | undefined): FieldSet {
  // many kinds have none
  if (equalJson(requested, content(defaulted))) return EMPTY_SET
  return withoutServers(compare(requested, content(defaulted), schema).added)
}

/** The same in steps. */
export function* filledInSteps(requested: Content, defaulted: KubeObject, schema: Schema | undefined): Steps<FieldSet> {
  if (equalJson(requested, content(defaulted))) return EMPTY_SET
  yield
  return withoutServers((yield* compareInSteps(requested, content(defaulted), schema)).added)
}

/** Additions of an admission step of the server, and its replacements of an empty text. */
export function admittedIn(before: Content, after: Content, schema: Schema | undefined): FieldSet {
  if (equalJson(before, after)) return EMPTY_SET
  const { added, modified } = compare(before, after, schema)
  return addedIn(before, after, union(added, modified))
}

/** Unset fields after an update: `now` is the future object, `unset` are those of `old`. */
export function* unsetAfter(
  { unset, filled, old, now }: { unset: FieldSet; filled: FieldSet; old: KubeObject; now: KubeObject },
  { sendsBack, named }: Manner,
  schema: Schema | undefined,
): Steps<FieldSet> {
  let kept: FieldSet = EMPTY_SET
  if (sendsBack && unset !== EMPTY_SET) {
    const unchanged = sameIn(content(old), content(now), unset)
    yield
    kept = withoutNamed(unchanged, named)
    yield
  }
  const left = union(kept, filled)
  if (left === EMPTY_SET) return left
  yield
  // reading the claims takes long where there are many
  return withoutNamed(left, appliedFields(now, schema))
}

/** Note of an object whose fields are all set. */
const ALL_SET = '{}'

export function noteOf(unset: FieldSet): string {
  if (unset === EMPTY_SET) return ALL_SET
  const text = JSON.stringify(toFieldsV1(unset))
  return text.length > MAX_NOTE ? ALL_SET : text
}

function readNote(note: string): FieldSet {
  return note === BARE || note === ALL_SET ? EMPTY_SET : fromFieldsV1(JSON.parse(note))
}

/** The object without its unset fields. */
export function withoutUnset(object: KubeObject, unset: FieldSet, schema: Schema | undefined): KubeObject {
  return unset === EMPTY_SET ? object : (removeFields(object, unset, schema) as KubeObject)
}

/** Fields of server-side and client-side appliers of an object. */
export function appliedFields(object: KubeObject, schema: Schema | undefined): FieldSet {
  const entries = (object.metadata.managedFields ?? []).filter(({ operation }) => operation === 'Apply')
  return union(unionAll(setsOf(entries)), lastAppliedFields(object, schema))
}

function setsOf(entries: Parameters<typeof decodeManagers>[0]): FieldSet[] {
  if (entries.length === 0) return []
  try {
    return decodeManagers(entries).map(({ set }) => set)
  } catch {
    return [] // who writes claims that nobody can read claims nothing
  }
}

/**
 * `set` without the named fields, and the structs around them. A writer that names an element of a list, or a struct, with some of its
 * fields or with none (`{}`), leaves the others unset.
 */
function withoutNamed(set: FieldSet, named: FieldSet): FieldSet {
  if (named.children === undefined) return named.self && set.self ? fieldSet(false, set.children) : set
  if (set.children === undefined) return EMPTY_SET
  const children = new Map<string, FieldSet>()
  for (const [element, below] of set.children) {
    const inner = named.children.get(element)
    const rest = inner === undefined ? below : withoutNamed(below, inner)
    if (rest.self || rest.children !== undefined) children.set(element, rest)
  }
  return children.size === 0 ? EMPTY_SET : fieldSet(false, children)
}

/** Metadata is nobody's default, and the status is the cluster's. */
function withoutServers(set: FieldSet): FieldSet {
  if (set.children === undefined) return EMPTY_SET
  const children = new Map([...set.children].filter(([element]) => element !== 'f:metadata' && element !== 'f:status'))
  return children.size === 0 ? EMPTY_SET : fieldSet(false, children)
}
