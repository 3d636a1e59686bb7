/** Answers of a server of which some may be refused or missing: unknown parts are named, and the rest is printed all the same. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { type GroupVersionResource, groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import type { ListOptions, SpaceClient } from '../../../client/client.ts'
import { type ListAllOptions, listAll } from '../../../client/listWatch.ts'
import { CLUSTER_WORK_STATUSES, WORK_STATUSES } from '../../../placement/words/placement.ts'

export interface Known {
  readonly items: readonly KubeObject[]
  /** Why it is not known; `items` is empty then. */
  readonly unknown?: string
  /** The server's own words, where it refuses. */
  readonly refusal?: string
}

const PAGE = 500

/** A whole list, unless the user may not read it or the space serves no such kind. @throws StatusError for anything else */
export async function known(
  space: SpaceClient,
  resource: GroupVersionResource,
  options: ListAllOptions = {},
): Promise<Known> {
  try {
    return { items: (await listAll(space, resource, { limit: PAGE, ...options })).items }
  } catch (error) {
    return notKnown(error, resource)
  }
}

/** Bound of one list of work statuses. */
const MOST_BYTES = 16 * 1024 * 1024

/** Work statuses of each field selector. */
export async function knownStatuses(space: SpaceClient, selectors: readonly string[]): Promise<Known> {
  const items: KubeObject[] = []
  try {
    for (const fieldSelector of selectors) {
      for (const resource of [WORK_STATUSES, CLUSTER_WORK_STATUSES]) {
        const found = await known(space, resource, { fieldSelector, mostBytes: MOST_BYTES })
        if (found.unknown !== undefined) return found
        items.push(...found.items)
      }
    }
  } catch (error) {
    if (!isStatusError(error, 'RequestEntityTooLarge')) throw error
    return { items: [], unknown: 'it is too much to be read' }
  }
  return { items }
}

/** One page, with `more` when there are others. */
export async function knownSome(
  space: SpaceClient,
  resource: GroupVersionResource,
  options: ListOptions,
): Promise<Known & { readonly more: boolean }> {
  try {
    const page = await space.list(resource, options)
    return { items: page.items, more: page.continue !== undefined && page.continue !== '' }
  } catch (error) {
    return { ...notKnown(error, resource), more: false }
  }
}

function notKnown(error: unknown, resource: GroupVersionResource): Known {
  const name = groupResourceName(resource)
  if (isStatusError(error, 'Forbidden'))
    return { items: [], unknown: `you may not list ${name} here`, refusal: error.message }
  if (isStatusError(error, 'NotFound')) return { items: [], unknown: `${name} are not served here` }
  throw error
}
