/**
 * Converges what one object of a workload space is told: in how many clusters it runs, what went wrong while it was
 * customized, and, while it runs in exactly one cluster and a placement asks for it, the state reported there.
 */
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import {
  CUSTOMIZATION_ERROR_ANNOTATION,
  EXECUTING_COUNT_ANNOTATION,
  isProjected,
} from '../../apimachinery/placement.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { Mailbox } from './mailboxes.ts'
import { FIELD_MANAGER, resourceKey } from './names.ts'
import type { ObjectCache } from './objectCache.ts'
import type { Destination, PlacementJoin } from './placementJoin.ts'
import type { SourceReader } from './sourceReader.ts'
import type { ObjectFact } from './workload.ts'

export interface FeedbackReconcilerDeps {
  client: Client
  join: PlacementJoin
  cache: ObjectCache
  sources: SourceReader
  mailbox: (name: string) => Mailbox | undefined
}

interface Faulty {
  space: string
  fact: ObjectFact
  object: KubeObject
  destinations: readonly Destination[]
  refusals: ReadonlyMap<string, string>
}

/** Bytes of the error annotation are bounded; there may be thousands of destinations. */
const ERROR_LIMIT = 2000

export class FeedbackReconciler {
  readonly #deps: FeedbackReconcilerDeps
  /** By space, what it serves, by resource key: whether it has a `status` sub-resource. */
  readonly #statusKinds = new Map<string, Promise<ReadonlyMap<string, boolean>>>()

  constructor(deps: FeedbackReconcilerDeps) {
    this.#deps = deps
  }

  /** What a space serves is asked again at the next need. */
  forgetKinds(space: string): void {
    this.#statusKinds.delete(space)
  }

  async reconcile(space: string, key: string): Promise<void> {
    const { join, sources, client } = this.#deps
    const fact = join.fact(space, key)
    if (!fact) return
    const wantsState = join.wantsState(space, key)
    const destinations = [...join.destinationsOf(space, key).values()]
    const refusals = this.#refusalsOf(key, destinations)
    if (!wantsState && !fact.customized && !fact.annotated && refusals.size === 0) return
    const object = await sources.read(space, fact)
    if (!object) return
    const faults = await this.#faultsOf({ space, fact, object, destinations, refusals })
    const annotations = changed(object, {
      [EXECUTING_COUNT_ANNOTATION]: wantsState ? String(destinations.length) : null,
      [CUSTOMIZATION_ERROR_ANNOTATION]: faults,
    })
    const ref = { ...(fact.namespace && { namespace: fact.namespace }), name: fact.name }
    if (annotations) {
      const { uid } = object.metadata
      const body = { metadata: { ...(uid && { uid }), annotations } }
      const written = await client.in(space).patch(fact.resource, ref, 'merge', body, { fieldManager: FIELD_MANAGER })
      if (Object.values(annotations).some(value => value !== null)) {
        join.workload(space).noteFeedback(key, Number(written.metadata.resourceVersion))
      }
    }
    if (wantsState && destinations.length === 1) await this.#returnStatus(space, fact, destinations[0]!)
  }

  /** What mailboxes say that do not take the object, by mailbox. */
  #refusalsOf(key: string, destinations: readonly Destination[]): Map<string, string> {
    const refusals = new Map<string, string>()
    for (const { mailbox } of destinations) {
      const why = this.#deps.mailbox(mailbox)?.refused.get(key)
      if (why !== undefined) refusals.set(mailbox, why)
    }
    return refusals
  }

  /** Every fault once, with the Locations for which it counts; `null` when all is well. */
  async #faultsOf({ space, fact, object, destinations, refusals }: Faulty): Promise<string | null> {
    const byFault = new Map<string, Set<string>>()
    for (const location of destinations) {
      const { faults } = await this.#deps.sources.customize({ space, fact, location }, object)
      const refusal = refusals.get(location.mailbox)
      for (const fault of refusal === undefined ? faults : [...faults, `the copy is refused: ${refusal}`]) {
        byFault.set(fault, (byFault.get(fault) ?? new Set()).add(location.locationName))
      }
    }
    if (byFault.size === 0) return null
    const text = [...byFault]
      .map(([fault, at]) => `${fault} (for ${[...at].sort().join(', ')})`)
      .sort()
      .join('; ')
    return text.length <= ERROR_LIMIT ? text : `${text.slice(0, ERROR_LIMIT)}…`
  }

  async #returnStatus(space: string, fact: ObjectFact, destination: Destination): Promise<void> {
    if (NO_STATUS.has(resourceKey(fact.resource))) return
    const mailbox = this.#deps.mailbox(destination.mailbox)
    const copy = mailbox?.copies.get(fact.key)
    if (!mailbox || !copy) return // the copy's own event comes
    const ref = { ...(fact.namespace && { namespace: fact.namespace }), name: fact.name }
    const reported =
      this.#deps.cache.get(mailbox.space, fact.key, copy.resourceVersion) ?? (await this.#get(mailbox.space, fact, ref))
    if (!reported || !isProjected(reported) || reported.status === undefined) return
    if (!(await this.#hasStatus(space, fact.resource))) return
    const object = await this.#get(space, fact, ref)
    if (!object || equalJson(object.status, reported.status)) return
    await this.#deps.client
      .in(space)
      .update(
        fact.resource,
        { ...object, status: reported.status },
        { subresource: 'status', fieldManager: FIELD_MANAGER },
      )
  }

  #get(space: string, fact: ObjectFact, ref: { namespace?: string; name: string }): Promise<KubeObject | undefined> {
    return unlessGone(this.#deps.client.in(space).get(fact.resource, ref))
  }

  async #hasStatus(space: string, gr: GroupResource): Promise<boolean> {
    let asked = this.#statusKinds.get(space)
    if (!asked) {
      asked = this.#discover(space)
      this.#statusKinds.set(space, asked)
    }
    try {
      return (await asked).get(resourceKey(gr)) ?? false
    } catch (error) {
      if (this.#statusKinds.get(space) === asked) this.#statusKinds.delete(space)
      throw error
    }
  }

  async #discover(space: string): Promise<ReadonlyMap<string, boolean>> {
    const served = await this.#deps.client.in(space).discover()
    return new Map(served.map(kind => [resourceKey(kind), kind.subresources.includes('status')]))
  }
}

/** Their status belongs to each server. */
const NO_STATUS: ReadonlySet<string> = new Set([resourceKey(NAMESPACES), resourceKey(CRDS)])

/** The part of `wanted` (null: absent) that the object does not say yet. */
function changed(object: KubeObject, wanted: Record<string, string | null>): Record<string, string | null> | undefined {
  const current = object.metadata.annotations ?? {}
  const entries = Object.entries(wanted).filter(([key, value]) => (current[key] ?? null) !== value)
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}
