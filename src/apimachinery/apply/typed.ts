/**
 * The field algebra of whole objects: which fields an object states, how two objects differ, merging and removing. Fields without an owner
 * (the object's identity and the server's own) are left out of sets and comparisons.
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
import { type FieldsV1, isRecord } from '../object.ts'
import { CLUSTER_ANNOTATION } from '../resources.ts'
import type { Schema } from '../schema.ts'
import type { Steps } from '../steps.ts'
import { type Comparison, compareMaps, compareValues, isSame, compareInSteps as valuesInSteps } from './compare.ts'
import { type FieldSet, fieldSet, isEmptySet, recursiveDifference, union } from './fieldSet.ts'
import { ownedBy } from './fieldSetOf.ts'
import { mergeValues } from './mergeValues.ts'
import { withDeclaredParents, withoutFields, withoutPartsOfLeaves } from './removeFields.ts'
import { memberShape, objectSchema } from './shape.ts'
import { structureErrors } from './validateTyped.ts'

export type { Comparison } from './compare.ts'

type Members = Record<string, unknown>

/** The fields that somebody who applies `object` owns. */
export function fieldSetOf(object: Members, schema: Schema | undefined): FieldSet {
  return withoutIdentity(ownedBy(ownable(object), objectSchema(schema)))
}

/** `{}` stands for an object that does not exist. */
export function compare(before: Members, after: Members, schema: Schema | undefined): Comparison {
  const { metadata: was = NOTHING } = before
  const { metadata: is = NOTHING } = after
  if (!hasPlainAnnotations(was) || !hasPlainAnnotations(is))
    return ofOwnable(compareValues(ownable(before), ownable(after), objectSchema(schema)))
  // nearly always: nothing is copied to leave something out
  const root = objectSchema(schema)
  const form = memberShape(root, 'metadata')
  const content = compareMaps(before, after, root, NOT_CONTENT)
  const annotations = compareAnnotations(was.annotations, is.annotations, memberShape(form, 'annotations'))
  const metadata = compareMaps(was, is, form, COMPARED_APART)
  return withMember(content, 'f:metadata', withMember(metadata, 'f:annotations', annotations))
}

/** The same in steps. */
export function* compareInSteps(before: Members, after: Members, schema: Schema | undefined): Steps<Comparison> {
  return ofOwnable(yield* valuesInSteps(ownable(before), ownable(after), objectSchema(schema)))
}

function ofOwnable({ added, modified, removed }: Comparison): Comparison {
  return { added: withoutIdentity(added), modified: withoutIdentity(modified), removed: withoutIdentity(removed) }
}

interface Annotated extends Members {
  annotations?: Members
}

function hasPlainAnnotations(metadata: unknown): metadata is Annotated {
  return isRecord(metadata) && (metadata.annotations === undefined || isRecord(metadata.annotations))
}

/** Annotations of the server alone count as none. */
function compareAnnotations(was: Members | undefined, is: Members | undefined, schema: Schema | undefined): Comparison {
  const [before, after] = [hasOwnAnnotations(was), hasOwnAnnotations(is)]
  if (before && after) return compareMaps(was!, is!, schema, SERVERS_ANNOTATIONS)
  return compareValues(before ? ownAnnotations(was!) : undefined, after ? ownAnnotations(is!) : undefined, schema)
}

function hasOwnAnnotations(annotations: Members | undefined): boolean {
  for (const name in annotations) if (name !== CLUSTER_ANNOTATION) return true
  return annotations !== undefined && annotations[CLUSTER_ANNOTATION] === undefined
}

function ownAnnotations({ [CLUSTER_ANNOTATION]: _cluster, ...others }: Members): Members {
  return others
}

function withMember(rest: Comparison, element: string, member: Comparison): Comparison {
  if (isSame(member)) return rest
  const joined = (set: FieldSet, below: FieldSet): FieldSet =>
    isEmptySet(below) ? set : union(set, { self: false, children: new Map([[element, below]]) })
  return {
    added: joined(rest.added, member.added),
    modified: joined(rest.modified, member.modified),
    removed: joined(rest.removed, member.removed),
  }
}

/** `live` with everything that `applied` states; independent of both. Lists are ordered as kube-apiserver orders them. */
export function merge(live: Members | undefined, applied: Members, schema: Schema | undefined): Members {
  return mergeValues(live ?? {}, applied, objectSchema(schema)) as Members
}

/** A copy of `object` without the fields whose paths are in `set`. */
export function removeFields(object: Members, set: FieldSet, schema: Schema | undefined): Members {
  return withoutFields(object, set, objectSchema(schema)) as Members
}

/** `set` with the structs that hold its fields, so that removing a struct's last field removes the struct. */
export function withParents(set: FieldSet, schema: Schema | undefined): FieldSet {
  return withDeclaredParents(set, objectSchema(schema))
}

/** `set` after its schema changed: what lies below a value that is now one leaf becomes that leaf. */
export function fitToSchema(set: FieldSet, schema: Schema | undefined): FieldSet {
  return withoutPartsOfLeaves(set, objectSchema(schema))
}

/** Where a configuration departs from its schema's structure, in upstream's words; empty when it does not. */
export function typeErrors(object: Members, schema: Schema | undefined): string[] {
  return structureErrors(object, objectSchema(schema))
}

/** Removes from a set that came from outside what nobody can own. */
export function withoutUnownable(set: FieldSet): FieldSet {
  return withoutIdentity(recursiveDifference(set, UNOWNABLE))
}

/** Whether a claim as it is written names any of that. */
export function isUnownable(trie: FieldsV1): boolean {
  if (trie['f:apiVersion'] !== undefined || trie['f:kind'] !== undefined) return true
  const metadata = trie['f:metadata']
  if (metadata === undefined) return false
  for (const element in metadata) if (element === '.' || UNOWNABLE_NAMES.has(element.slice(2))) return true
  return metadata['f:annotations']?.[`f:${CLUSTER_ANNOTATION}`] !== undefined || Object.keys(metadata).length === 0
}

const UNOWNABLE_METADATA: readonly string[] = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]

const UNOWNABLE_NAMES: ReadonlySet<string> = new Set(UNOWNABLE_METADATA)
/** Fields of metadata. */
const COMPARED_APART: ReadonlySet<string> = new Set([...UNOWNABLE_METADATA, 'annotations'])
const SERVERS_ANNOTATIONS: ReadonlySet<string> = new Set([CLUSTER_ANNOTATION])
const NOT_CONTENT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])
const NOTHING: Members = Object.freeze({})

const UNOWNABLE: FieldSet = fieldSet(
  false,
  new Map([
    ['f:apiVersion', fieldSet(true, undefined)],
    ['f:kind', fieldSet(true, undefined)],
    [
      'f:metadata',
      fieldSet(
        false,
        new Map([
          ...UNOWNABLE_METADATA.map(name => [`f:${name}`, fieldSet(true, undefined)] as const),
          [
            'f:annotations',
            fieldSet(false, new Map([[`f:${CLUSTER_ANNOTATION}`, fieldSet(true, undefined)]])),
          ] as const,
        ]),
      ),
    ],
  ]),
)

/** The object's ownable part, sharing its values. */
function ownable(object: Members): Members {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object
  if (!isRecord(rest.metadata)) return rest
  const metadata: Members = { ...rest.metadata }
  for (const name of UNOWNABLE_METADATA) if (metadata[name] !== undefined) metadata[name] = undefined
  const { annotations } = metadata
  if (isRecord(annotations) && annotations[CLUSTER_ANNOTATION] !== undefined) {
    const { [CLUSTER_ANNOTATION]: _cluster, ...others } = annotations
    metadata.annotations = Object.keys(others).length > 0 ? others : undefined
  }
  rest.metadata = metadata
  return rest
}

/** Metadata as a whole belongs to nobody; its members may. */
export function withoutIdentity(set: FieldSet): FieldSet {
  const metadata = set.children?.get('f:metadata')
  if (metadata === undefined || !metadata.self) return set
  const children = new Map(set.children)
  if (metadata.children === undefined) children.delete('f:metadata')
  else children.set('f:metadata', fieldSet(false, metadata.children))
  return fieldSet(false, children)
}
