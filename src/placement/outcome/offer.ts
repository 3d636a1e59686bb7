/**
 * Kinds that a cluster offers to placements, as its syncer reports them. They can be listed and watched, have all their served versions,
 * and are sorted by name. Bounded: kinds beyond the bound are counted. Pure.
 */

import { isRecord } from '../../apimachinery/object.ts'
import { compareTexts, equalJson } from '../../apimachinery/values.ts'

export interface OfferedResource {
  readonly group: string
  /** The lower-case plural. */
  readonly resource: string
  /** The preferred one first. */
  readonly versions: readonly string[]
}

export interface Offer {
  readonly resources: readonly OfferedResource[]
  /** Kinds that found no place in the list. */
  readonly unlisted: number
}

export const MAX_OFFERED = 2000
/** Bound on the list, as JSON. */
export const MAX_OFFER_BYTES = 64 * 1024
export const MAX_OFFERED_VERSIONS = 20
const MAX_NAME = 253
const MAX_VERSION = 63
const MAX_UNLISTED = 1_000_000
const DNS_NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/
const VERSION = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** The part of it that is reported. Names and versions that no API server could serve are not listed. */
export function offerOf(served: Iterable<OfferedResource>): Offer {
  const listed: OfferedResource[] = []
  let unlisted = 0
  let bytes = 2
  for (const one of [...served].sort(byName)) {
    const versions = one.versions.filter(isVersion).slice(0, MAX_OFFERED_VERSIONS)
    const offered = { group: one.group, resource: one.resource, versions }
    const size = JSON.stringify(offered).length + 1
    const isOne = isGroup(one.group) && isResource(one.resource) && versions.length > 0
    if (!isOne || listed.length === MAX_OFFERED || bytes + size > MAX_OFFER_BYTES) {
      unlisted++
      continue
    }
    bytes += size
    listed.push(offered)
  }
  return { resources: listed, unlisted }
}

/**
 * From a syncer's report.
 * @param bad what to throw, given the field and what is wrong with it
 */
export function readOffer(value: unknown, bad: (field: string, why: string) => Error): Offer {
  if (!isRecord(value)) throw bad('offer', 'must be an object')
  const { resources, unlisted = 0 } = value
  if (!Array.isArray(resources)) throw bad('offer.resources', 'must be a list')
  if (resources.length > MAX_OFFERED)
    throw bad(
      'offer.resources',
      `has ${resources.length} items; at most ${MAX_OFFERED}, and the rest is counted in unlisted`,
    )
  if (!Number.isSafeInteger(unlisted) || (unlisted as number) < 0 || (unlisted as number) > MAX_UNLISTED)
    throw bad('offer.unlisted', `must be a whole number from 0 to ${MAX_UNLISTED}`)
  const names = new Set<string>()
  const read = resources.map((item: unknown, i): OfferedResource => {
    const at = `offer.resources[${i}]`
    const one = readResource(item, (field, why) => bad(`${at}${field}`, why))
    const name = `${one.resource}.${one.group}`
    if (names.has(name)) throw bad(at, `names ${name.slice(0, MAX_NAME)} a second time`)
    names.add(name)
    return one
  })
  if (JSON.stringify(read).length > MAX_OFFER_BYTES)
    throw bad('offer.resources', `must have at most ${MAX_OFFER_BYTES} bytes; the rest is counted in unlisted`)
  return { resources: read, unlisted: unlisted as number }
}

export function isSameOffer(a: Offer | undefined, b: Offer | undefined): boolean {
  return a === b || equalJson(a, b)
}

function readResource(item: unknown, bad: (field: string, why: string) => Error): OfferedResource {
  if (!isRecord(item)) throw bad('', 'must be an object')
  const { group = '', resource, versions } = item
  if (!isGroup(group)) throw bad('.group', `must be a DNS name of at most ${MAX_NAME} characters, or empty`)
  if (!isResource(resource)) throw bad('.resource', `must be a DNS name of at most ${MAX_NAME} characters`)
  if (!Array.isArray(versions) || versions.length === 0 || versions.length > MAX_OFFERED_VERSIONS)
    throw bad('.versions', `must be a list of 1 to ${MAX_OFFERED_VERSIONS} versions`)
  if (!versions.every(isVersion))
    throw bad('.versions', `must be DNS labels of at most ${MAX_VERSION} characters, such as v1beta1`)
  return { group, resource, versions }
}

function isGroup(value: unknown): value is string {
  return value === '' || isResource(value)
}

function isResource(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME && DNS_NAME.test(value)
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_VERSION && VERSION.test(value)
}

function byName(a: OfferedResource, b: OfferedResource): number {
  return compareTexts(a.group, b.group) || compareTexts(a.resource, b.resource)
}
