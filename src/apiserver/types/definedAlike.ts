/** Definitions of one custom kind at several places (spaces or clusters): where they are alike, and where they differ. */
import { StatusError } from '../../apimachinery/errors.ts'
import { type GroupVersionResource, groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { someOf } from '../../apimachinery/someOf.ts'
import { equalJson } from '../../apimachinery/values.ts'

/** Served versions of the kind at a place. */
export interface Definition {
  readonly place: string
  readonly types: readonly ResourceType[]
}

/** Parts that are compared apart, or not at all. */
const APART: ReadonlySet<string> = new Set<keyof ResourceType>(['schema', 'custom', 'verbs'])

/**
 * Whether an object means the same to both. Objects that a webhook converts mean something to its own place alone. A definition that is
 * being deleted has fewer verbs.
 */
export function areAlike(a: ResourceType, b: ResourceType): boolean {
  if (a === b) return true
  if (a.custom?.convert || b.custom?.convert) return false
  return haveSameSchemas(a, b) && haveSameParts(a, b) && haveSameParts(b, a)
}

/** Versions that all places define alike. */
export function alikeIn(definitions: readonly Definition[]): readonly ResourceType[] {
  return (definitions[0]?.types ?? []).flatMap(type => {
    let newest = type
    for (const { types } of definitions) {
      const alike = types.find(one => areAlike(one, type))
      if (!alike) return []
      newest = newer(newest, alike)
    }
    return newest
  })
}

/** Reads objects as carefully as either of two that are alike. */
export function newer(a: ResourceType, b: ResourceType): ResourceType {
  return b.custom!.generation > a.custom!.generation ? b : a
}

/** Definitions that a refusal shows, and places that it names of each. */
const NAMED = 10

/** NotFound that names the places; `undefined` where none has the version. */
export function definedOtherwise(
  { group, version, resource }: GroupVersionResource,
  definitions: readonly Definition[],
  { who, remedy }: { readonly who: 'clusters' | 'spaces'; readonly remedy: string },
): StatusError | undefined {
  const sides: { type: ResourceType | undefined; places: string[] }[] = []
  let others = 0
  for (const { place, types } of definitions) {
    const type = types.find(one => one.version === version)
    const known = sides.find(side => side.type === type || (side.type && type && areAlike(side.type, type)))
    if (known) known.places.push(place)
    else if (sides.length < NAMED) sides.push({ type, places: [place] })
    else others++
  }
  if (!sides.some(({ type }) => type)) return undefined
  const named = sides.map(({ type, places }) => `${someOf(places, NAMED)}${type ? '' : ' without it'}`)
  named.sort()
  if (others > 0) named.push(`${others} more with further definitions`)
  const kind = groupResourceName({ group, resource })
  return new StatusError(
    'NotFound',
    `${who} define version ${version} of ${kind} otherwise: ${named.join('; ')}. ${remedy}`,
    { group, kind: resource },
  )
}

/** Equal schemas of definitions are one. */
function haveSameSchemas(a: ResourceType, b: ResourceType): boolean {
  if (a.schema !== b.schema || a.custom?.schemas.size !== b.custom?.schemas.size) return false
  for (const [version, schema] of a.custom?.schemas ?? []) if (b.custom!.schemas.get(version) !== schema) return false
  return true
}

/** Each part that the first has. */
function haveSameParts(a: ResourceType, b: ResourceType): boolean {
  for (const part in a) {
    const [value, other] = [a[part as keyof ResourceType], b[part as keyof ResourceType]]
    if (value !== other && !APART.has(part) && !equalJson(value, other)) return false
  }
  return true
}
