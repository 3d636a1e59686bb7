/**
 * Fields that an apply releases. A field that the center once declared and leaves to defaults now stays in the cluster as it is. Another
 * manager takes its value before the release. Fields that leave the source leave the cluster. Pure.
 */
import {
  difference,
  EMPTY_SET,
  type FieldSet,
  fieldSet,
  fromFieldsV1,
  isEmptySet,
  leavesOf,
  recursiveDifference,
  toFieldsV1,
  union,
  unionAll,
} from '../../apimachinery/apply/fieldSet.ts'
import { differingIn, keysOf, missingIn, partOf, unsetIn } from '../../apimachinery/apply/looseFields.ts'
import { fieldElement } from '../../apimachinery/apply/pathElement.ts'
import { isRecord, type KubeObject, type ManagedFieldsEntry } from '../../apimachinery/object.ts'
import { leftIn, type Pointer } from '../../placement/content/leftFields.ts'
import { claimsOfOurs, SYNCER_MANAGER } from './marks.ts'

/** Holds former fields of the center in a cluster. It never writes anything else. */
export const LEFT_MANAGER = 'orrery-left'

/** Fields that an apply releases. */
export interface Released {
  /** Fields that the center declares no more. */
  readonly undeclared: FieldSet
  /** Fields that it leaves to the cluster: their values stay. */
  readonly left: FieldSet
}

/**
 * Fields of the syncer in `live` that `copy` lacks; empty for nearly every apply. Metadata that has no other manager is always declared.
 */
export function releasedBy(
  copy: Readonly<KubeObject>,
  live: Readonly<KubeObject>,
  pointers: readonly Pointer[] = [],
): Released {
  const owned = ownedByUs(live)
  const missing = missingIn(copy, owned)
  if (isEmptySet(missing)) return { undeclared: EMPTY_SET, left: EMPTY_SET }
  const left = leftIn(missing, pointers)
  // field by field: of a map that is gone as a whole others may own keys, so that it stays with what is theirs
  const gone = leavesOf(difference(owned, recursiveDifference(owned, missing)))
  return { undeclared: withoutMetadata(recursiveDifference(gone, left)), left }
}

/** Declared part of the syncer's fields after a creation, when that is less: servers give the whole object to its creator. */
export function declaredAtCreation(copy: Readonly<KubeObject>, made: Readonly<KubeObject>): FieldSet | undefined {
  const owned = ownedByUs(made)
  const undeclared = unsetIn(copy, owned)
  return isEmptySet(undeclared) ? undefined : recursiveDifference(owned, undeclared)
}

/**
 * A JSON patch that turns the syncer's claims by creations and updates into the claim of an apply, of `declared` alone where that is given.
 * `undefined` where the syncer has applied only, or the claims are unknown.
 */
export function claimOf({ metadata }: Readonly<KubeObject>, declared?: FieldSet): object[] | undefined {
  const { managedFields = [], uid } = metadata
  const mine = claimsOfOurs({ metadata })
  if (!mine.some(({ operation }) => operation === 'Update')) return undefined
  const [first = '', ...more] = mine.map(one => `/metadata/managedFields/${managedFields.indexOf(one)}`)
  const claim = declared ?? (more.length > 0 ? setOf(mine) : undefined)
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...[first, ...more].flatMap((at, i) => [
      { op: 'test', path: `${at}/manager`, value: SYNCER_MANAGER },
      { op: 'test', path: `${at}/operation`, value: mine[i]!.operation },
    ]),
    { op: 'replace', path: `${first}/operation`, value: 'Apply' },
    ...(claim ? [{ op: 'replace', path: `${first}/fieldsV1`, value: toFieldsV1(claim) }] : []),
    ...more.reverse().map(path => ({ op: 'remove', path })),
  ]
}

/** Remaining fields of {@link LEFT_MANAGER} where the center declares some of them again; `undefined`: none of them. */
export function stillLeft(copy: Readonly<KubeObject>, live: Readonly<KubeObject>): FieldSet | undefined {
  const held = heldIn(live)
  if (isEmptySet(held)) return undefined
  const declared = withoutKeys(leavesOf(recursiveDifference(held, missingIn(copy, held))))
  return isEmptySet(declared) ? undefined : difference(held, declared)
}

/** Without what only says which element of a list is meant. */
function withoutKeys({ self, children = new Map() }: FieldSet): FieldSet {
  const kept = new Map<string, FieldSet>()
  for (const [element, child] of children) {
    const below = withoutKeys(child)
    const keys = element.startsWith('k:') ? new Set(Object.keys(keysOf(element)).map(fieldElement)) : undefined
    const named =
      keys === undefined ? below : fieldSet(false, new Map([...(below.children ?? [])].filter(([e]) => !keys.has(e))))
    if (!isEmptySet(named)) kept.set(element, named)
  }
  return fieldSet(self, kept)
}

/** Released fields that defaults of the cluster would change. `released` is the object without the syncer's fields. */
export function toHandOver(set: FieldSet, live: Readonly<KubeObject>, released: Readonly<KubeObject>): FieldSet {
  return differingIn(live, released, set)
}

/** The object to apply as {@link LEFT_MANAGER}: its present fields, and these, with their values. */
export function leftCopy(live: Readonly<KubeObject>, set: FieldSet): KubeObject {
  return heldCopy(live, union(set, heldIn(live)))
}

/** The same, of just this. */
export function heldCopy(live: Readonly<KubeObject>, set: FieldSet): KubeObject {
  const { apiVersion, kind, metadata } = live
  const { name, namespace, uid, resourceVersion } = metadata
  const held = isEmptySet(set) ? {} : partOf(live, set)
  const { metadata: _other, ...fields } = isRecord(held) ? held : {}
  return {
    ...fields,
    apiVersion,
    kind,
    metadata: {
      ...partOfMetadata(metadata, set),
      name: name ?? '',
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  }
}

/** All that the syncer says of `live`, beside its metadata, field by field. */
export function declaredIn(live: Readonly<KubeObject>): FieldSet {
  return withoutMetadata(leavesOf(ownedByUs(live)))
}

/** The values of all of the syncer's fields in `live`; `undefined` where it has none, or they are unknown. */
export function ownPartOf(live: Readonly<KubeObject>): unknown {
  const own = ownedByUs(live)
  return isEmptySet(own) ? undefined : partOf(live, own)
}

function heldIn({ metadata }: Readonly<KubeObject>): FieldSet {
  return setOf((metadata.managedFields ?? []).filter(entry => entry.manager === LEFT_MANAGER && !entry.subresource))
}

/** Fields of the syncer in an object. */
export function ownedByUs(live: Readonly<KubeObject>): FieldSet {
  return setOf(claimsOfOurs(live))
}

/** Fields of other managers in an object. */
export function ownedByOthers({ metadata }: Readonly<KubeObject>): FieldSet {
  return setOf((metadata.managedFields ?? []).filter(entry => entry.manager !== SYNCER_MANAGER))
}

/** Fields of some managers together. */
export function setOf(entries: readonly ManagedFieldsEntry[]): FieldSet {
  return unionAll(entries.map(({ fieldsV1 }) => fromFieldsV1(fieldsV1 ?? {})))
}

/** Labels and annotations: nothing else of it is ever left to anybody. */
function partOfMetadata(metadata: KubeObject['metadata'], set: FieldSet): object {
  const below = set.children?.get('f:metadata')?.children
  const held = ['labels', 'annotations'].flatMap(map => {
    const keys = below?.get(`f:${map}`)
    const part = keys && partOf(metadata[map as 'labels' | 'annotations'], keys)
    return isRecord(part) && Object.keys(part).length > 0 ? [[map, part] as const] : []
  })
  return Object.fromEntries(held)
}

function withoutMetadata(set: FieldSet): FieldSet {
  const children = new Map([...(set.children ?? [])].filter(([element]) => element !== 'f:metadata'))
  return { self: false, children: children.size === 0 ? undefined : children }
}
