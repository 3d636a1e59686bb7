/** The workload description spaces that are being followed: one stream each, from the first EdgePlacement to the last. */

import { CRDS } from '../../../apimachinery/resources.ts'
import { accountOf } from '../../../apimachinery/tokenSecret.ts'
import type { Client, StreamEvent } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import type { Logger } from '../../../client/logger.ts'
import type { Waiting } from '../../../client/setAside/intake.ts'
import type { KeyGuard } from '../../../client/setAside/keyGuard.ts'
import { type StreamedRef, StreamSource } from '../../../client/streamSource.ts'
import { customizerOf, wantsExpansion } from '../../../placement/content/adaptation.ts'
import { hasReturnedStatus } from '../../../placement/content/returnedStatus.ts'
import { definedBy, isSystemObject } from '../../../placement/select/eligibility.ts'
import { reachOf } from '../../../placement/select/reach.ts'
import { isNatured } from '../../../placement/spaces/nature.ts'
import { NOTES } from '../../../placement/words/marks.ts'
import { namespaceKey, objectKey, resourceKey } from '../../../placement/words/names.ts'
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  HAND_OVER_ANNOTATION,
  PAUSED_ANNOTATION,
  SLICES,
} from '../../../placement/words/placement.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import { ownerNames } from './dependents.ts'
import type { ObjectCache } from './objectCache.ts'
import type { ObjectFact, Workload } from './workload.ts'

export interface WorkloadsDeps {
  client: Client
  /** Is told what their snapshots tell. */
  guard?: KeyGuard | undefined
  logger: Logger
  clock: Clock
  random: () => number
  signal: AbortSignal
  cache: ObjectCache
  /** Whose slices of the loop's time all their streams are taken in. */
  turns: WorkTurns
  workload: (space: string) => Workload
  /** Objects for which its intake waits, none once it goes on. */
  waits: (space: string, objects: readonly Waiting[]) => void
  /** The whole space is known (again). */
  synced: (space: string) => void
  /** Something in the space changed; `told` is the key of an object that carries feedback. */
  changed: (space: string, key?: string) => void
  /** An object is going to be forgotten: deleted by name, or for another reason. */
  gone: (space: string, key: string, byName: boolean) => void
  came: (space: string, key: string) => void
  /** Something selects an object that was written as this revision, while the space was followed. */
  selected: (revision: number) => void
  /** An object is paused from now on, or no more. */
  pauseChanged: (space: string, key: string) => void
  /** A Namespace is being deleted with all that is in it. */
  namespaceGoing: (space: string, namespace: string) => void
  /** What the space serves may have changed. */
  kindsChanged: (space: string) => void
  /** Something was told that says where or how objects go; `undefined`: it is gone. */
  seen: (space: string, ref: StreamedRef, revision: number | undefined) => void
}

/** Kinds that say where or how objects go. */
const PLACES: ReadonlySet<string> = new Set([EDGE_PLACEMENTS, SLICES, CUSTOMIZERS].map(resourceKey))

interface Running {
  synced: boolean
  readonly stop: AbortController
  readonly done: Promise<void>
}

export class Workloads {
  readonly #deps: WorkloadsDeps
  readonly #running = new Map<string, Running>()
  readonly #ending = new Set<Promise<void>>()

  constructor(deps: WorkloadsDeps) {
    this.#deps = deps
  }

  isSynced(space: string): boolean {
    return this.#running.get(space)?.synced ?? false
  }

  /** Follows the space from now on; without effect when it is followed already. */
  open(space: string): void {
    if (this.#running.has(space)) return
    const { client, guard, logger, turns, clock, random, signal } = this.#deps
    const stop = new AbortController()
    const source = new StreamSource({
      client,
      space,
      guard,
      logger,
      turns,
      clock,
      random,
      handler: {
        change: event => {
          if (!stop.signal.aborted) this.#change(space, event)
        },
        vanished: ref => {
          if (PLACES.has(resourceKey(ref.resource))) this.#deps.seen(space, ref, undefined)
          this.#gone(space, objectKey(ref.resource, ref.namespace, ref.name), false)
        },
        waits: objects => this.#deps.waits(space, objects),
        synced: () => {
          running.synced = true
          this.#deps.waits(space, [])
          this.#deps.synced(space)
        },
      },
    })
    const running: Running = { synced: false, stop, done: source.run(AbortSignal.any([signal, stop.signal])) }
    this.#running.set(space, running)
  }

  close(space: string): void {
    const running = this.#running.get(space)
    if (!running) return
    this.#running.delete(space)
    running.stop.abort()
    this.#deps.waits(space, [])
    this.#ending.add(running.done)
    void running.done.finally(() => this.#ending.delete(running.done))
  }

  async stop(): Promise<void> {
    for (const space of [...this.#running.keys()]) this.close(space)
    await Promise.all(this.#ending)
  }

  #change(space: string, event: StreamEvent): void {
    if (PLACES.has(resourceKey(event.resource)))
      this.#deps.seen(space, event, event.type === 'DELETED' ? undefined : event.revision)
    if (reachOf(event.resource) === 'none') return
    if (resourceKey(event.resource) === resourceKey(CRDS)) this.#deps.kindsChanged(space)
    const key = objectKey(event.resource, event.namespace, event.name)
    if (event.type === 'DELETED') {
      noteAccount(this.#deps.workload(space), event)
      this.#gone(space, key, true, event.revision)
      return
    }
    const { object } = event
    const isGoing = object.metadata.deletionTimestamp !== undefined
    noteAccount(this.#deps.workload(space), event)
    if (isGoing && key === namespaceKey(event.name)) this.#deps.namespaceGoing(space, event.name)
    if (isGoing || isSystemObject(event.resource, object)) {
      this.#gone(space, key, isGoing, event.revision)
      return
    }
    this.#deps.came(space, key)
    this.#deps.cache.set(space, key, object)
    const fact = factOf(event, key)
    const workload = this.#deps.workload(space)
    workload.kinds.learn(event.resource, object)
    const before = workload.get(key)
    const wasPaused = before?.isPaused === true
    workload.setObject(fact)
    // not what was there before, nor what is noted on it
    const isNews = this.isSynced(space) && before?.isOld !== true && (before?.revision ?? 0) < event.revision
    if (isNews && workload.isSelected(key)) this.#deps.selected(event.revision)
    if (wasPaused !== (fact.isPaused === true)) this.#deps.pauseChanged(space, key)
    // whoever no longer selects it, and whoever wrote that
    this.#deps.changed(space, fact.annotated ? key : undefined)
  }

  #gone(space: string, key: string, byName: boolean, revision?: number): void {
    this.#deps.cache.delete(space, key)
    const workload = this.#deps.workload(space)
    if (workload.get(key) || byName) this.#deps.gone(space, key, byName)
    workload.removeObject(key, revision)
    this.#deps.changed(space)
  }
}

/** Whether a ServiceAccount acts in its space is known of those that stay, too. */
export function noteAccount(workload: Workload, { type, resource, namespace, name, object }: StreamEvent): void {
  if (resource.group === '' && resource.resource === 'serviceaccounts')
    workload.setActing(namespace, name, type !== 'DELETED' && isNatured(object))
}

export function factOf(
  event: Pick<StreamEvent, 'object' | 'resource' | 'namespace' | 'name' | 'revision'>,
  key: string,
): ObjectFact {
  const { object, resource, namespace, name, revision } = event
  const annotations = object.metadata.annotations ?? {}
  const customizer = customizerOf(object)
  const handOverTo = annotations[HAND_OVER_ANNOTATION]
  const owners = ownerNames(object)
  const account = accountOf(object)
  return {
    key,
    uid: object.metadata.uid ?? '',
    resource,
    namespace,
    name,
    labels: object.metadata.labels ?? {},
    revision,
    customized: customizer !== '' || wantsExpansion(object),
    customizer,
    annotated: NOTES.some(note => annotations[note] !== undefined) || hasReturnedStatus(object),
    defines: definedBy(resource, object),
    ...(owners.length > 0 && { owners }),
    ...(account && { account }),
    ...(handOverTo && { handOverTo }),
    ...(annotations[PAUSED_ANNOTATION] === 'true' && { isPaused: true as const }),
  }
}
