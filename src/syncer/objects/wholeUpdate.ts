/**
 * An update for objects that server-side apply refuses: lists that hold two items of one key, which client-side apply accepts and which
 * clusters run. It follows the rules of an apply, by the same claims. Sent fields are set, fields that are sent no more are removed, and
 * those of other managers stay. Lists whose items have no names of their own, as those with duplicates, are sent whole. Pure.
 */
import {
  EMPTY_SET,
  type FieldSet,
  fieldSet,
  HERE,
  isEmptySet,
  recursiveDifference,
  toFieldsV1,
} from '../../apimachinery/apply/fieldSet.ts'
import { fieldElement, keyElement } from '../../apimachinery/apply/pathElement.ts'
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject, type ManagedFieldsEntry } from '../../apimachinery/object.ts'
import { cloneJson, setMember } from '../../apimachinery/values.ts'
import { leftIn, type Pointer } from '../../placement/content/leftFields.ts'
import { ownedByOthers, ownedByUs } from './handOver.ts'
import { claimsOfOurs, SYNCER_MANAGER } from './marks.ts'

/** Whether a cluster refuses an apply because of duplicates, in what is sent or in what it holds. Releases differ in the reason. */
export function isAboutDuplicates(error: unknown): boolean {
  return isStatusError(error) && /duplicate entries for key|duplicate list elements/i.test(error.message)
}

/** `live` as an apply of `copy` would make it, with the claim of that apply. */
export function wholeUpdate(
  copy: Readonly<KubeObject>,
  live: Readonly<KubeObject>,
  left: readonly Pointer[],
): KubeObject {
  const owned = ownedByUs(live)
  const ours = recursiveDifference(owned, leftIn(owned, left))
  const updated = merged(live, copy, { ours, others: ownedByOthers(live) }) as KubeObject
  const former = new Set(claimsOfOurs(live))
  const others = (live.metadata.managedFields ?? []).filter(entry => !former.has(entry))
  return { ...updated, metadata: { ...updated.metadata, managedFields: [...others, claimFor(copy)] } }
}

/** The claim of an apply of `copy`, in a form that needs no schema. */
export function claimFor({ apiVersion, metadata, ...rest }: Readonly<KubeObject>): ManagedFieldsEntry {
  const { kind: _kind, status: _status, ...fields } = rest
  const { name: _name, namespace: _namespace, uid: _uid, resourceVersion: _version, ...declared } = metadata
  const fieldsV1 = toFieldsV1(looseSetOf({ ...fields, metadata: declared }))
  return { manager: SYNCER_MANAGER, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1 }
}

export function withClaims(live: Readonly<KubeObject>, claims: readonly ManagedFieldsEntry[]): Readonly<KubeObject> {
  const managedFields = [...(live.metadata.managedFields ?? []), ...claims]
  return { ...live, metadata: { ...live.metadata, managedFields } }
}

/** A JSON patch that notes the claim of `copy` on `live`, which bears none. */
export function firstClaim(copy: Readonly<KubeObject>, { metadata }: Readonly<KubeObject>): object[] {
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'add', path: '/metadata/managedFields', value: [...(metadata.managedFields ?? []), claimFor(copy)] },
  ]
}

interface Owned {
  readonly ours: FieldSet
  readonly others: FieldSet
}

function below({ ours, others }: Owned, element: string): Owned {
  return { ours: ours.children?.get(element) ?? EMPTY_SET, others: others.children?.get(element) ?? EMPTY_SET }
}

function merged(live: unknown, copy: unknown, owned: Owned): unknown {
  if (isRecord(live) && isRecord(copy)) {
    const result: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(live)) {
      const inner = below(owned, fieldElement(name))
      const kept = Object.hasOwn(copy, name) ? merged(value, copy[name], inner) : without(value, inner)
      if (kept !== undefined) setMember(result, name, kept)
    }
    for (const [name, value] of Object.entries(copy))
      if (!Object.hasOwn(live, name)) setMember(result, name, cloneJson(value))
    return result
  }
  const [lives, copies] = [byName(live), byName(copy)]
  if (lives === undefined || copies === undefined) return cloneJson(copy)
  const result: unknown[] = []
  for (const [name, item] of copies) {
    const before = lives.get(name)
    result.push(before === undefined ? cloneJson(item) : merged(before, item, below(owned, nameElement(name))))
  }
  for (const [name, item] of lives) {
    const kept = copies.has(name) ? undefined : without(item, below(owned, nameElement(name)))
    if (kept !== undefined) result.push(kept)
  }
  return result
}

/** The rest of a value that the center sends no more. */
function without(live: unknown, owned: Owned): unknown {
  if (isEmptySet(owned.ours)) return cloneJson(live)
  if (owned.ours.children === undefined) return isEmptySet(owned.others) ? undefined : cloneJson(live)
  const kept = isRecord(live) ? merged(live, {}, owned) : merged(live, [], owned)
  const isEmptied = isRecord(kept) ? Object.keys(kept).length === 0 : Array.isArray(kept) && kept.length === 0
  return isEmptied && isEmptySet(owned.others) ? undefined : kept
}

const nameElement = (name: string): string => keyElement({ name })

/** The items of a list in which each has a name of its own. */
function byName(list: unknown): Map<string, Record<string, unknown>> | undefined {
  if (!Array.isArray(list)) return undefined
  const items = new Map<string, Record<string, unknown>>()
  for (const item of list) {
    if (!isRecord(item) || typeof item.name !== 'string' || items.has(item.name)) return undefined
    items.set(item.name, item)
  }
  return items
}

function looseSetOf(value: unknown): FieldSet {
  if (isRecord(value)) {
    const children = Object.entries(value).map(([name, inner]) => [fieldElement(name), looseSetOf(inner)] as const)
    return children.length === 0 ? HERE : fieldSet(false, new Map(children))
  }
  const items = byName(value)
  if (items === undefined || items.size === 0) return HERE
  return fieldSet(
    false,
    new Map([...items].map(([name, item]) => [nameElement(name), fieldSet(true, looseSetOf(item).children)])),
  )
}

/** By these clusters tell the items of the lists that may hold duplicates. */
const KEYS = [['name'], ['containerPort', 'protocol'], ['port', 'protocol'], ['ip']]

/** Whether a list of what people write of an object holds two items of one key. */
export function hasDuplicates({ metadata: _metadata, status: _status, ...fields }: Readonly<KubeObject>): boolean {
  return hasEqualItems(fields)
}

function hasEqualItems(value: unknown): boolean {
  if (isRecord(value)) return Object.values(value).some(hasEqualItems)
  if (!Array.isArray(value)) return false
  const items = value.filter(isRecord)
  const isRepeated = KEYS.some(([first = '', second]) => {
    const keys = items.flatMap(item =>
      item[first] === undefined ? [] : [JSON.stringify([item[first], second && (item[second] ?? 'TCP')])],
    )
    return new Set(keys).size < keys.length
  })
  return isRepeated || items.some(hasEqualItems)
}
