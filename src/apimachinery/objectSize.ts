/**
 * How large an object may be, beside what metadataLimits.ts says of its metadata. A write goes over the whole object a dozen times in one
 * turn of the loop (reads, copies, compares, validates, tracks ownership). The time of that follows from the number of its values rather
 * than from its bytes. Patches could make it larger with each request.
 *
 * An object that was stored with more may keep as much, so that it can be changed and deleted.
 */
import { StatusError } from './errors.ts'
import type { KubeObject } from './object.ts'
import type { Steps } from './steps.ts'

/**
 * Members and elements, those that hold others too; of a body, and of an object without its `managedFields`. For objects with names and
 * texts in them these are more bytes than etcd takes from a kube-apiserver (1.5 MiB).
 */
export const VALUES_LIMIT = 100_000
/**
 * Members of one map. The cost of a very large map is in its members' order, which each pass finds anew, and not in steps. A ConfigMap with
 * more of them would have less than 26 bytes for each.
 */
export const MEMBERS_LIMIT = 40_000
/** Fields that all managers of an object claim together; each manager's claim on a field counts. */
export const CLAIMS_LIMIT = 150_000
/** Fields that one server-side apply may claim. */
export const APPLIED_FIELDS_LIMIT = 40_000
/** An object as it is stored, in characters. */
export const OBJECT_LIMIT = 8 * 1024 * 1024
/** A text that is shorter cannot say more than `VALUES_LIMIT` values. */
const LEAST_CHARACTERS = 2 * VALUES_LIMIT

/** Looks no further than the answer needs. */
export function hasMoreValues(value: unknown, limit: number): boolean {
  return countUpTo(value, limit) > limit
}

/** `length` characters are what `object` is stored as. @throws StatusError RequestEntityTooLarge when it grows beyond a limit */
export function* checkObjectSize(
  object: Readonly<KubeObject>,
  length: number,
  old?: Readonly<KubeObject>,
): Steps<void> {
  if (length <= LEAST_CHARACTERS) return
  if (length > OBJECT_LIMIT && (old === undefined || JSON.stringify(object).length > JSON.stringify(old).length))
    throw tooLarge(`the object would be ${length} characters long, and may be ${OBJECT_LIMIT}: split it`)
  if (yield* grows([withoutClaims(object)], old && [withoutClaims(old)], VALUES_LIMIT))
    throw tooLarge(`the object would have more than ${VALUES_LIMIT} fields and elements: split it`)
  yield
  const wide = widestMap(withoutClaims(object))
  if (wide > MEMBERS_LIMIT && (old === undefined || wide > widestMap(withoutClaims(old))))
    throw tooLarge(`the object would have more than ${MEMBERS_LIMIT} fields in one map: split it`)
  yield
  if (yield* grows(claimsOf(object), old && claimsOf(old), CLAIMS_LIMIT))
    throw tooLarge(
      `the managers of the object would claim more than ${CLAIMS_LIMIT} fields together (metadata.managedFields): split it, or use fewer field managers`,
    )
}

/** Error for a body of any form. */
export function tooManyValues(): StatusError {
  return tooLarge(`the request body has more than ${VALUES_LIMIT} fields and elements; send less at a time`)
}

/** The same. */
export function tooManyMembers(): StatusError {
  return tooLarge(`one map of the request body has more than ${MEMBERS_LIMIT} fields; send less at a time`)
}

export function tooLarge(message: string): StatusError {
  return new StatusError('RequestEntityTooLarge', message)
}

/** Whether the parts have more values than the limit together, and more than those of before. */
function* grows(parts: readonly unknown[], old: readonly unknown[] | undefined, limit: number): Steps<boolean> {
  if ((yield* countAll(parts, limit)) <= limit) return false
  const before = old === undefined ? 0 : yield* countAll(old, Number.POSITIVE_INFINITY)
  return before <= limit || (yield* countAll(parts, before)) > before
}

/** Looks no further than the answer needs. */
function* countAll(parts: readonly unknown[], limit: number): Steps<number> {
  let count = 0
  for (const part of parts) {
    count += countUpTo(part, limit - count)
    if (count > limit) break
    yield
  }
  return count
}

function withoutClaims({ metadata, ...rest }: Readonly<KubeObject>): unknown {
  const { managedFields: _, ...others } = metadata
  return { ...rest, metadata: others }
}

function claimsOf({ metadata }: Readonly<KubeObject>): readonly unknown[] {
  return metadata.managedFields?.map(({ fieldsV1 }) => fieldsV1) ?? []
}

/** Members of the map that has most of them. */
export function widestMap(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let widest = 0
  let members = 0
  for (const key in value) {
    members++
    const within = widestMap((value as Record<string, unknown>)[key])
    if (within > widest) widest = within
  }
  return Array.isArray(value) || members < widest ? widest : members
}

/** Members and elements; where there are more than the limit, some number above it. */
export function countUpTo(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) {
    let count = value.length
    for (const item of value) {
      if (count > limit) break
      count += countUpTo(item, limit - count)
    }
    return count
  }
  let count = 0
  for (const key in value) {
    if (++count > limit) break
    count += countUpTo((value as Record<string, unknown>)[key], limit - count)
  }
  return count
}
