/** The workload description spaces that are being followed: one stream each, from the first EdgePlacement to the last. */

import { CRDS } from '../../../apimachinery/resources.ts'
import { accountOf } from '../../../apimachinery/tokenSecret.ts'
import type { StreamEvent } from '../../../client/client.ts'
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
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SLICES,
} from '../../../placement/words/placement.ts'
import type { ControllerRuntime } from '../../spacesController.ts'
import type { ServedKinds } from '../inventory/servedKinds.ts'
import type { Signals } from '../signals/signals.ts'
import { ownerNames } from './dependents.ts'
import type { ObjectCache } from './objectCache.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { WaitingIntakes } from './waitingIntakes.ts'
import type { ObjectFact, Workload } from './workload.ts'

/** The runtime is that of all their streams. */
export interface WorkloadsDeps extends ControllerRuntime {
  signal: AbortSignal
  cache: ObjectCache
  join: Pick<PlacementJoin, 'workload' | 'observed' | 'objectGone' | 'objectCame'>
  kinds: Pick<ServedKinds, 'forget'>
  intakes: Pick<WaitingIntakes, 'ofSpace'>
  signals: Pick<Signals, 'known' | 'sourceChanged'>
  /** Whether it is known which revisions destinations of the space's placements have. */
  isStaged: (space: string) => boolean
  /** A PlacementRevision or PlacementRollout was written as this revision; absent: it is gone. */
  rolloutWritten: (space: string, name: string, revision: number | undefined) => void
  /** Something selects an object that was written as this revision, while the space was followed. */
  selected: (revision: number) => void
}

/** Kinds that say where or how objects go. */
const PLACES: ReadonlySet<string> = new Set([EDGE_PLACEMENTS, SLICES, CUSTOMIZERS].map(resourceKey))

/** Kinds of which people write fields about rollouts. */
const ROLLED: ReadonlySet<string> = new Set([PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS].map(resourceKey))

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
    return (this.#running.get(space)?.synced ?? false) && this.#deps.isStaged(space)
  }

  /** Follows the space from now on; without effect when it is followed already. */
  open(space: string): void {
    if (this.#running.has(space)) return
    const { signal, intakes, signals } = this.#deps
    const stop = new AbortController()
    const source = new StreamSource({
      ...this.#deps,
      space,
      handler: {
        change: event => {
          if (!stop.signal.aborted) this.#change(space, event)
        },
        vanished: ref => {
          this.#seen(space, ref, undefined)
          this.#gone(space, keyOf(ref), false)
        },
        waits: objects => intakes.ofSpace(space, objects),
        synced: () => {
          running.synced = true
          intakes.ofSpace(space, [])
          signals.known.send('space', space)
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
    this.#deps.intakes.ofSpace(space, [])
    this.#ending.add(running.done)
    void running.done.finally(() => this.#ending.delete(running.done))
  }

  async stop(): Promise<void> {
    for (const space of [...this.#running.keys()]) this.close(space)
    await Promise.all(this.#ending)
  }

  #change(space: string, event: StreamEvent): void {
    const { cache, join, kinds, signals } = this.#deps
    this.#seen(space, event, event.type === 'DELETED' ? undefined : event.revision)
    if (reachOf(event.resource) === 'none') return
    if (resourceKey(event.resource) === resourceKey(CRDS)) kinds.forget(space)
    const key = keyOf(event)
    const workload = join.workload(space)
    noteAccount(workload, event)
    if (event.type === 'DELETED') {
      this.#gone(space, key, true, event.revision)
      return
    }
    const { object } = event
    const isGoing = object.metadata.deletionTimestamp !== undefined
    if (isGoing && key === namespaceKey(event.name)) signals.sourceChanged.send(space, key, 'closing')
    if (isGoing || isSystemObject(event.resource, object)) {
      this.#gone(space, key, isGoing, event.revision)
      return
    }
    signals.sourceChanged.send(space, key, 'came')
    cache.set(space, key, object)
    const fact = factOf(event, key)
    workload.kinds.learn(event.resource, object)
    const before = workload.get(key)
    const wasPaused = before?.isPaused === true
    workload.setObject(fact)
    if (before?.uid !== fact.uid) join.objectCame(space, key)
    // not what was there before, nor what is noted on it
    const isNews = this.isSynced(space) && before?.isOld !== true && (before?.revision ?? 0) < event.revision
    if (isNews && workload.isSelected(key)) this.#deps.selected(event.revision)
    if (wasPaused !== (fact.isPaused === true)) signals.sourceChanged.send(space, key, 'paused')
    signals.sourceChanged.send(space, key, 'indexed')
  }

  #gone(space: string, key: string, byName: boolean, revision?: number): void {
    const { cache, join, signals } = this.#deps
    cache.delete(space, key)
    const workload = join.workload(space)
    if (workload.get(key) || byName) signals.sourceChanged.send(space, key, byName ? 'deleted' : 'left')
    workload.removeObject(key, revision)
    join.objectGone(space, key, revision)
    signals.sourceChanged.send(space, key, 'indexed')
  }

  /** The stream of the topology reports these, too. `revision`: absent when it is gone. */
  #seen(space: string, ref: StreamedRef, revision: number | undefined): void {
    if (PLACES.has(resourceKey(ref.resource))) this.#deps.join.observed.seen(space, keyOf(ref), revision)
    if (ROLLED.has(resourceKey(ref.resource))) this.#deps.rolloutWritten(space, ref.name, revision)
  }
}

/** Key of a streamed object. */
export function keyOf({ resource, namespace, name }: Pick<StreamedRef, 'resource' | 'namespace' | 'name'>): string {
  return objectKey(resource, namespace, name)
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
