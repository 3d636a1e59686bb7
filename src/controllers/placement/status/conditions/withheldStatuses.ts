/**
 * Statuses that a placement wants and cannot get: a kind whose statuses cannot be combined, in several clusters, or a status that an
 * author wrote. Kept while it lasts, for the EdgePlacement to report.
 */
import { MapOfMaps } from '../../../../apimachinery/nestedMaps.ts'
import { type GroupResource, groupResourceName } from '../../../../apimachinery/object.ts'
import { isCombined } from '../../../../placement/outcome/combinedStatus.ts'
import { parseObjectKey, resourceKey } from '../../../../placement/words/names.ts'
import type { Reason } from '../../../../placement/words/reason.ts'
import type { PlacementJoin } from '../../join/placementJoin.ts'
import type { Tasks } from '../../join/tasks.ts'
import type { ObjectFact } from '../../join/workload.ts'

interface OfKind {
  readonly resource: GroupResource
  /** In how many clusters they are, by key; in one: an author's status is there. */
  readonly clusters: Map<string, number>
}

/** Kinds that are named. */
const MAX_KINDS = 5
/** Objects of a kind that are looked at for one of the placement. */
const MAX_LOOKS = 1000

export class WithheldStatuses {
  readonly #tasks: Pick<Tasks, 'reports'>
  readonly #join: Pick<PlacementJoin, 'workload'>
  /** By space, then by resource key. */
  readonly #known = new MapOfMaps<OfKind>()

  constructor(tasks: Pick<Tasks, 'reports'>, join: Pick<PlacementJoin, 'workload'>) {
    this.#tasks = tasks
    this.#join = join
  }

  /** `clusters`: in how many the object is while its status is withheld, else 0. */
  set(space: string, { key, resource }: Pick<ObjectFact, 'key' | 'resource'>, clusters: number): void {
    if (clusters === 0) {
      this.forgetObject(space, key)
      return
    }
    const kind = resourceKey(resource)
    const ofKind = this.#known.get(space, kind) ?? { resource, clusters: new Map<string, number>() }
    if (ofKind.clusters.get(key) === clusters) return
    ofKind.clusters.set(key, clusters)
    this.#known.set(space, kind, ofKind)
    this.#tasks.reports(space, this.#join.workload(space).selectionOf(key).placements)
  }

  forgetObject(space: string, key: string): void {
    const kind = resourceKey(parseObjectKey(key))
    const ofKind = this.#known.get(space, kind)
    if (!ofKind?.clusters.delete(key)) return
    if (ofKind.clusters.size === 0) this.#known.delete(space, kind)
    this.#tasks.reports(space, this.#join.workload(space).selectionOf(key).placements)
  }

  forget(space: string): void {
    this.#known.deleteAll(space)
  }

  /** Withheld statuses of a space's objects that satisfy `has`, in words; `undefined`: none. */
  of(space: string, has: (key: string) => boolean): Reason | undefined {
    const [several, authored]: [string[], string[]] = [[], []]
    const combined: string[] = []
    for (const { resource, clusters } of this.#known.of(space).values()) {
      const kind = groupResourceName(resource)
      const inSeveral = exampleOf(clusters, (key, count) => count > 1 && has(key))
      const inOne = exampleOf(clusters, (key, count) => count === 1 && has(key))
      if (inSeveral !== undefined) {
        several.push(`${kind} (such as ${quoted(inSeveral)}, in ${clusters.get(inSeveral)})`)
        if (isCombined(resource)) combined.push(kind)
      }
      if (inOne !== undefined) authored.push(`${kind} (such as ${quoted(inOne)})`)
    }
    if (several.length === 0 && authored.length === 0) return undefined
    const remedy =
      combined.length === 0 ? '' : `; spec.wantMultiWECReportedState brings back what all say of ${combined.join(', ')}`
    const reports = 'what each cluster reports of it its work status says'
    const sentences = [
      ...(several.length > 0
        ? [`no status comes back of what is in several clusters: ${listed(several)}; ${reports}${remedy}`]
        : []),
      ...(authored.length > 0
        ? [
            `no status comes back where the object has another one of its author's, which stays: ${listed(authored)}; ` +
              'remove it from the object, and the status of the cluster comes back',
          ]
        : []),
    ]
    return { reason: several.length > 0 ? IN_SEVERAL_CLUSTERS : SET_BY_AUTHOR, message: sentences.join('. ') }
  }
}

function listed(kinds: readonly string[]): string {
  const more = kinds.length > MAX_KINDS ? ` and ${kinds.length - MAX_KINDS} more kinds` : ''
  return `${kinds.slice(0, MAX_KINDS).join(', ')}${more}`
}

function quoted(key: string): string {
  const { namespace, name } = parseObjectKey(key)
  return JSON.stringify(namespace ? `${namespace}/${name}` : name)
}

export const STATUS_WITHHELD = 'StatusWithheld'
const IN_SEVERAL_CLUSTERS = 'InSeveralClusters'
const SET_BY_AUTHOR = 'SetByAuthor'

function exampleOf(
  clusters: ReadonlyMap<string, number>,
  is: (key: string, count: number) => boolean,
): string | undefined {
  let looks = 0
  for (const [key, count] of clusters) {
    if (is(key, count)) return key
    if (++looks >= MAX_LOOKS) return undefined
  }
  return undefined
}
