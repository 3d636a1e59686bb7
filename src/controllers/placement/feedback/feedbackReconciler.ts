/**
 * Feedback on one object of a workload space: number of its clusters, faults of its customization, another owner. The reported status, too,
 * where a placement requests it. A copy in a cluster counts where the object's own space owns it.
 */

import type { KubeObject } from '../../../apimachinery/object.ts'
import { shortened } from '../../../apimachinery/shortened.ts'
import type { Client } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import { refOf } from '../../../client/refOf.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { areSame, type Projection, project } from '../../../placement/content/projection.ts'
import { isCombined } from '../../../placement/outcome/combinedStatus.ts'
import { OBJECT_CONFLICT } from '../../../placement/outcome/copyState.ts'
import { FIELD_MANAGER, isShared } from '../../../placement/words/names.ts'
import {
  CONFLICT_ANNOTATION,
  CUSTOMIZATION_ERROR_ANNOTATION,
  EXECUTING_COUNT_ANNOTATION,
} from '../../../placement/words/placement.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import type { EventRecorder } from '../../eventRecorder.ts'
import type { SourceReader } from '../copies/sourceReader.ts'
import type { ServedKinds } from '../inventory/servedKinds.ts'
import type { ObjectCache } from '../join/objectCache.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { ObjectFact, WantedState } from '../join/workload.ts'
import { executingCount, type Standing, type StandingInputs, standingOf } from '../mailboxes/copyOwnership.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { Remarks } from '../mailboxes/remarks.ts'
import type { DueObjects } from '../status/conditions/dueObjects.ts'
import type { WithheldStatuses } from '../status/conditions/withheldStatuses.ts'
import { type Conflict, conflictText, remarkConflicts } from './conflicts.ts'
import { StatusReturn } from './statusReturn.ts'

export interface FeedbackReconcilerDeps {
  client: Client
  join: PlacementJoin
  cache: ObjectCache
  kinds: ServedKinds
  sources: SourceReader
  /** The mailbox, as far as it is known. */
  mailbox: (name: string) => Mailbox | undefined
  isKept: StandingInputs['isKept']
  remarks: Pick<Remarks, 'set' | 'end'>
  events: Pick<EventRecorder, 'record'>
  withheld: Pick<WithheldStatuses, 'set' | 'forgetObject' | 'forget'>
  due: Pick<DueObjects, 'judged' | 'forget'>
  /** Whether a mailbox may be there and is not read yet. */
  isUnread: (mailbox: string) => boolean
  turns: WorkTurns
  clock: Clock
}

interface Contested {
  space: string
  fact: ObjectFact
  object: KubeObject
  standing: Standing
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
  readonly #status: StatusReturn

  constructor(deps: FeedbackReconcilerDeps) {
    this.#deps = deps
    this.#status = new StatusReturn(deps)
  }

  forget(space: string): void {
    this.#status.forget(space)
    this.#deps.withheld.forget(space)
    this.#deps.due.forget(space)
  }

  async reconcile(space: string, key: string): Promise<ReconcileResult> {
    const { join, withheld, due } = this.#deps
    const fact = join.fact(space, key)
    if (!fact) {
      this.#status.forgetObject(space, key)
      withheld.forgetObject(space, key)
      due.judged(space, key)
      return {}
    }
    if (join.isUnsureOf(space, key)) return {} // told once it is known where it goes
    const waitMs = this.#status.waitMs(space, key)
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    if (await this.#judge(space, fact)) due.judged(space, key)
    return {}
  }

  /** Whether all is known that can be. */
  async #judge(space: string, fact: ObjectFact): Promise<boolean> {
    const { join, sources, remarks, withheld } = this.#deps
    const { key } = fact
    const wantedState = join.wantedState(space, key)
    const standing = standingOf(this.#deps, space, key)
    const { own, others, certain } = standing
    const refusals = this.#refusalsOf(key, own)
    const destinations = [...own, ...others.map(({ destination }) => destination)]
    // a cluster without a mailbox stays uncertain, and delays no report
    const isKnown = certain || !destinations.some(({ mailbox }) => this.#deps.isUnread(mailbox))
    const contested = { space, key, mailboxes: destinations.map(({ mailbox }) => mailbox) }
    if (others.length === 0 && certain) remarkConflicts(remarks, contested, [])
    if (!wantedState) withheld.set(space, fact, 0)
    if (!wantedState && !fact.customized && !fact.annotated && refusals.size === 0 && others.length === 0)
      return isKnown
    const object = await sources.read(space, fact)
    if (!object) return isKnown
    const found = await this.#conflictsOf({ space, fact, object, standing })
    if (certain) remarkConflicts(remarks, contested, found)
    const faults = await this.#faultsOf({ space, fact, object, destinations, refusals })
    // a status says in how many clusters it is: it goes before the count says otherwise, and comes after the count does
    const from = returnsState(wantedState, fact, own.length) ? own : []
    if (from.length === 0 && (certain || !wantedState)) await this.#status.takeBack(space, fact, object)
    const before = object.metadata.annotations?.[CONFLICT_ANNOTATION]
    const conflict = certain ? conflictText(found) : before
    await this.#annotate(space, fact, object, {
      [EXECUTING_COUNT_ANNOTATION]: wantedState ? executingCount(standing, object) : null,
      [CUSTOMIZATION_ERROR_ANNOTATION]: faults,
      [CONFLICT_ANNOTATION]: conflict ?? null,
    })
    if (wantedState && certain) {
      const isWithheld =
        from.length > 0
          ? await this.#status.give(space, fact, from, object)
          : own.length > 1 && (await this.#status.has(space, fact, own))
      withheld.set(space, fact, isWithheld ? own.length : 0)
    }
    return isKnown
  }

  async #annotate(
    space: string,
    fact: ObjectFact,
    object: KubeObject,
    wanted: Record<string, string | null>,
  ): Promise<void> {
    const { join, client, events } = this.#deps
    const annotations = changed(object, wanted)
    if (!annotations) return
    const text = annotations[CONFLICT_ANNOTATION]
    if (text != null && object.metadata.annotations?.[CONFLICT_ANNOTATION] === undefined) {
      await events.record(space, object, { reason: OBJECT_CONFLICT, message: text, isNewest: true })
    }
    const { uid } = object.metadata
    const body = { metadata: { ...(uid && { uid }), annotations } }
    const options = { fieldManager: FIELD_MANAGER }
    const written = await client.in(space).patch(fact.resource, refOf(fact), 'merge', body, options)
    if (Object.values(annotations).some(value => value !== null)) {
      join.workload(space).noteFeedback(fact.key, Number(written.metadata.resourceVersion))
    }
  }

  /**
   * Where another space's object is not what this one would be. An object that many need is no conflict while all have the same content.
   */
  async #conflictsOf({ space, fact, object, standing }: Contested): Promise<Conflict[]> {
    const found: Conflict[] = []
    for (const { destination, owner, isKept } of standing.others) {
      if (isShared(fact.key)) {
        const ours = await this.#projectionOf({ space, fact, location: destination }, object)
        const theirs = await this.#theirs(owner, destination.mailbox, fact.key)
        if (!theirs || areSame(ours, theirs)) continue
      }
      found.push({ mailbox: destination.mailbox, locationName: destination.locationName, owner, isKept })
    }
    return found
  }

  async #theirs(owner: string, mailbox: string, key: string): Promise<Projection | undefined> {
    const source = this.#deps.join.sourcesOf(mailbox, key).find(({ space }) => space === owner)
    const object = source && (await this.#deps.sources.read(owner, source.fact))
    return object && (await this.#projectionOf(source, object))
  }

  async #projectionOf(
    at: { space: string; fact: ObjectFact; location: Destination },
    source: KubeObject,
  ): Promise<Projection> {
    const { object } = await this.#deps.sources.customize(at, source)
    return project(at.space, object)
  }

  /** Refusals of the object, by mailbox. */
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
      const faults = await this.#deps.sources.faults({ space, fact, location }, object)
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
    return shortened(text, ERROR_LIMIT)
  }
}

/** Whether so many clusters have a state that returns as that of the object. */
function returnsState(wanted: WantedState | undefined, { resource }: ObjectFact, clusters: number): boolean {
  if (clusters === 1) return wanted !== undefined
  return clusters > 1 && wanted === 'of all' && isCombined(resource)
}

/** The part of `wanted` (null: absent) that the object does not say yet. */
function changed(object: KubeObject, wanted: Record<string, string | null>): Record<string, string | null> | undefined {
  const current = object.metadata.annotations ?? {}
  const entries = Object.entries(wanted).filter(([key, value]) => (current[key] ?? null) !== value)
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}
