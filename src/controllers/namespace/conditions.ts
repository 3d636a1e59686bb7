/**
 * Progress of a namespace under deletion, in upstream's words.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/namespace-v1/#NamespaceStatus
 */

import { type Condition, conditionsOf, mergeConditions } from '../../apimachinery/conditions.ts'
import { record } from '../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import type { DiscoveryFailure } from '../../client/discoveryError.ts'

/** Result of one pass over the content of a namespace. */
export interface ContentReport {
  discoveryFailures: readonly DiscoveryFailure[]
  /** One message for each resource whose objects could not be listed or deleted. */
  contentFailures: readonly string[]
  remaining: readonly { resource: GroupVersionResource; count: number }[]
  finalizers: FinalizerCounts
}

/** Bound on a namespace's conditions: each of its objects may have finalizers, or be of a kind, of its own. */
export const MAX_LISTED = 100
/** Finalizers of one object that are looked at. */
export const MAX_FINALIZERS = 20

/** How many of the remaining objects wait for each finalizer; up to the bound. */
export class FinalizerCounts {
  readonly #counts = new Map<string, number>()
  #hasMore = false

  note(finalizers: readonly string[]): void {
    if (finalizers.length > MAX_FINALIZERS) this.#hasMore = true
    for (const name of finalizers.slice(0, MAX_FINALIZERS)) {
      const count = this.#counts.get(name)
      if (count === undefined && this.#counts.size >= MAX_LISTED) this.#hasMore = true
      else this.#counts.set(name, (count ?? 0) + 1)
    }
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  toString(): string {
    const names = [...this.#counts].map(([name, count]) => `${name} in ${count} resource instances`).sort()
    return [...names, ...(this.#hasMore ? ['and others'] : [])].join(', ')
  }
}

/** In their order; beyond the bound, the count of the rest. */
function listed(texts: readonly string[]): string {
  const more = texts.length - MAX_LISTED
  const names = texts.toSorted().slice(0, MAX_LISTED)
  return [...names, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/** Nothing remains, and that is known for sure. */
export function isEmpty(report: ContentReport): boolean {
  return report.discoveryFailures.length + report.contentFailures.length + report.remaining.length === 0
}

export function deletionConditions(report: ContentReport): Condition[] {
  const { discoveryFailures, contentFailures, remaining, finalizers } = report
  const groups = discoveryFailures.map(f => (f.version ? `${f.group}/${f.version}` : f.group)).sort()
  const counts = remaining.map(r => `${r.resource.resource}.${r.resource.group} has ${r.count} resource instances`)
  return [
    condition('NamespaceDeletionDiscoveryFailure', {
      yes: groups.length > 0 && [
        'DiscoveryFailed',
        `Discovery failed for some groups, ${groups.length} failing: ${discoveryFailures.map(describe).sort().join(', ')}`,
      ],
      no: ['ResourcesDiscovered', 'All resources successfully discovered'],
    }),
    condition('NamespaceDeletionGroupVersionParsingFailure', {
      yes: false,
      no: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    }),
    condition('NamespaceDeletionContentFailure', {
      yes: contentFailures.length > 0 && [
        'ContentDeletionFailed',
        `Failed to delete all resource types, ${contentFailures.length} remaining: ${listed(contentFailures)}`,
      ],
      no: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    }),
    condition('NamespaceContentRemaining', {
      yes: counts.length > 0 && ['SomeResourcesRemain', `Some resources are remaining: ${listed(counts)}`],
      no: ['ContentRemoved', 'All content successfully removed'],
    }),
    condition('NamespaceFinalizersRemaining', {
      yes: !finalizers.isEmpty && [
        'SomeFinalizersRemain',
        `Some content in the namespace has finalizers remaining: ${finalizers}`,
      ],
      no: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    }),
  ]
}

/** The namespace's status with these conditions; `undefined` when that changes nothing. Other conditions stay. */
export function statusWith(
  namespace: KubeObject,
  wanted: readonly Condition[],
  now: Date,
): Record<string, unknown> | undefined {
  const status = record(namespace, 'status')
  const { conditions, isChanged } = mergeConditions(conditionsOf(namespace), wanted, timestamp(now))
  const phase = 'Terminating'
  return isChanged || status.phase !== phase ? { ...status, phase, conditions } : undefined
}

function condition(
  type: string,
  answer: { yes: readonly [string, string] | false; no: readonly [string, string] },
): Condition {
  const [reason, message] = answer.yes || answer.no
  return { type, status: answer.yes ? 'True' : 'False', reason, message }
}

function describe(failure: DiscoveryFailure): string {
  const name = failure.version ? `${failure.group}/${failure.version}` : failure.group
  return `${name}: ${failure.error instanceof Error ? failure.error.message : String(failure.error)}`
}
