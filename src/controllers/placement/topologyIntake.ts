/**
 * Takes in what all spaces say of placing (EdgePlacements, slices, Locations, SyncTargets, Customizers, bindings and grants),
 * and hands it to those who keep it.
 */

import { hash } from 'node:crypto'
import { conditionOf } from '../../apimachinery/conditions.ts'
import { at, num } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Waiting } from '../../client/setAside/intake.ts'
import type { StreamedRef } from '../../client/streamSource.ts'
import { compilePlacement } from '../../placement/select/placementSpec.ts'
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  SELECTED_KINDS_ANNOTATION,
  SLICES,
  STATUS_COLLECTORS,
} from '../../placement/words/placement.ts'
import { placementOf } from '../../placement/words/placementSlices.ts'
import { readsOtherwise } from '../../placement/words/topology.ts'
import type { Parts } from './assembly.ts'
import type { LocationChange, MailboxChange, TargetChange } from './inventory/inventory.ts'
import type { BindingChange, Streamed, TopologyReader } from './inventory/topologyFacts.ts'
import { SliceSets } from './join/sliceSets.ts'
import { copyTasks } from './join/task.ts'
import { keyOf } from './join/workloads.ts'
import { UNSCHEDULABLE } from './mailboxes/unschedulableMailboxes.ts'
import { INTAKE_WAITS } from './status/conditions/holdReports.ts'

export class TopologyIntake implements TopologyReader {
  readonly #parts: Parts
  /** Digests of specs and creation times as last taken in: a spec may be large, and is kept compiled. */
  readonly #placements = new Map<string, string>()
  /** For each placement, the generation of its spec and the revision of that write. */
  readonly #specs = new Map<string, { readonly generation: number; readonly revision: number }>()
  readonly #slices: SliceSets

  constructor(parts: Parts) {
    this.#parts = parts
    this.#slices = new SliceSets(parts.join)
  }

  /** A snapshot begins, and is complete. */
  begin(): void {
    this.#slices.begin()
    this.#parts.consents.begin()
  }

  synced(): void {
    const { consents, intakes, readiness } = this.#parts
    intakes.ofTopology([])
    this.#slices.synced()
    consents.synced()
    readiness.topologyIsWhole()
  }

  waits(objects: readonly Waiting[]): void {
    this.#parts.intakes.ofTopology(objects)
  }

  consentChanged(space: string, inventory: string | undefined): void {
    this.#parts.consents.consentChanged(space, inventory)
  }

  bindingChanged(change: BindingChange): void {
    this.#parts.consents.bindingChanged(change)
  }

  grantChanged(inventory: string, isUnreadable: boolean): void {
    this.#parts.consents.grantChanged(inventory, isUnreadable)
  }

  mailboxChanged({ name, after }: MailboxChange): void {
    const { mailboxes, readiness } = this.#parts
    mailboxes.setSpace(name, after && !after.terminating ? after.space : '')
    readiness.moreIsKnown()
  }

  mailboxesSynced(): void {
    this.#parts.readiness.workspacesAreWhole()
  }

  locationChanged(change: LocationChange): void {
    const { consents, pauses, join, rollouts } = this.#parts
    consents.locationChanged(change)
    pauses.locationChanged(change)
    if (!readsOtherwise(change.before, change.after)) return
    rollouts.locationChanged(join.touchLocation(change.space, change.name, change.after))
  }

  objectChanged(at: StreamedRef, { object, byName, revision }: Streamed): void {
    const { join, collectors } = this.#parts
    const taken = (): void => join.observed.taken(at.space, keyOf(at), object && revision)
    switch (at.resource.resource) {
      case EDGE_PLACEMENTS.resource:
        this.#placementChanged(at.space, at.name, object, byName)
        this.#settle(at.space, at.name, object, revision)
        taken()
        break
      case SLICES.resource:
        this.#slices.set(at.space, at.name, object)
        if (object) join.observed.note(at.space, placementOf(object) ?? '', revision)
        taken()
        break
      case STATUS_COLLECTORS.resource:
        collectors.set(at.space, at.name, object)
        break
      case CUSTOMIZERS.resource: {
        const reference = `${at.namespace}/${at.name}`
        join.setCustomizer(at.space, reference, object)
        join.noteCustomizer(at.space, reference, revision)
        taken()
      }
    }
  }

  #placementChanged(space: string, name: string, object: KubeObject | undefined, byName: boolean): void {
    const key = `${space} ${name}`
    const { join, brake, workloads, closing, intakes, reports, signals, rollouts, readiness } = this.#parts
    if (object && object.metadata.deletionTimestamp === undefined) {
      brake.placementSeen(space, name, object)
      // the status and most annotations of placements change too
      const { creationTimestamp = '', annotations, uid } = object.metadata
      const selects = [object.spec, annotations?.[SELECTED_KINDS_ANNOTATION]]
      const seen = hash('sha256', JSON.stringify([...selects, creationTimestamp, uid]), 'base64')
      if (this.#placements.get(key) === seen) return
      const isFirst = !this.#placements.has(key)
      this.#placements.set(key, seen)
      const before = join.spec(space, name)
      const wasPaused = before?.isPaused ?? false
      const spec = compilePlacement(object)
      // one that was reported on before has copies; a first spec with a strategy never had unstaged ones
      const isUnreported = isFirst && at(object.status, 'counts') === undefined
      const isNew = isUnreported && (readiness.isTopologyWhole || object.metadata.generation === 1)
      const stage = rollouts.place(space, name, spec, isNew)
      join.setPlacement(space, name, spec, creationTimestamp, stage)
      if ((before?.collectors.length ?? 0) + spec.collectors.length > 0)
        signals.spaceChanged.send(space, 'collecting', name)
      if (wasPaused !== spec.isPaused || (isFirst && mayBeOver(object))) this.#pauseChanged(space, name)
      workloads.open(space)
      intakes.placed(space, name)
      return
    }
    if (this.#placements.delete(key)) {
      const order = { preserve: join.spec(space, name)?.preserves ?? false }
      brake.placementGone(space, name, byName ? order : undefined)
    }
    join.removePlacement(space, name)
    rollouts.forget(space, name)
    this.#slices.placementGone(space, name)
    reports.forget(space, name)
    closing.closeIfIdle(space)
  }

  /** A placement is paused from now on, or no more. */
  #pauseChanged(space: string, name: string): void {
    const { join, tasks, inHand, brake } = this.#parts
    const among = [...(join.waysOf(space, name)?.keys() ?? [])]
    const keys = join.workload(space).selectedBy(name)
    tasks.report(space, name)
    tasks.addAll(copyTasks(among, keys, space), space)
    tasks.addAll(inHand.ownedBy(space, among), space)
    tasks.configs(among, space)
    tasks.sources(space, keys)
    brake.lookAgain(space)
  }

  /** A spec counts as taken in once its slices are: the where-resolver says so after it wrote them. */
  #settle(space: string, name: string, object: KubeObject | undefined, revision: number): void {
    const id = `${space} ${name}`
    if (!object || object.metadata.deletionTimestamp !== undefined) {
      this.#specs.delete(id)
      return
    }
    const { generation = 0 } = object.metadata
    const known = this.#specs.get(id)
    // reports of an earlier run are no news to this one
    const isReported =
      known === undefined &&
      num(object.status, 'observedGeneration') === generation &&
      at(object.status, 'observedResourceVersion') !== undefined
    const spec = known?.generation === generation ? known : { generation, revision: isReported ? 0 : revision }
    this.#specs.set(id, spec)
    const resolved = at(object.status, 'specGeneration')
    if (typeof resolved === 'number' && resolved < generation) return
    this.#parts.join.settle(space, name, generation, spec.revision)
  }

  targetChanged(change: TargetChange): void {
    const { consents, pauses, unschedulable, brake, inHand, tasks, remarks, signals } = this.#parts
    const { mailbox, before, after } = change
    consents.targetChanged(change)
    pauses.targetChanged(change)
    const [stood, stands] = [before?.state === 'stays', after?.state === 'stays']
    if ((stood && !stands) || Number.isFinite(after?.evictAtMs)) brake.mailboxLeaves(mailbox)
    if (after && after.releases.length > 0 && !equalJson(before?.releases, after.releases))
      for (const task of inHand.contestedIn(mailbox)) tasks.add(task)
    const isOpened = unschedulable.targetChanged(change)
    if (isOpened) remarks.endIn(mailbox, UNSCHEDULABLE.reason)
    if (isOpened || (stands && !stood)) this.#stays(mailbox)
    if (before?.evictAtMs !== after?.evictAtMs) tasks.add({ type: 'cluster', mailbox })
    if (!after || before?.silentSince !== after.silentSince) signals.mailboxChanged.send(mailbox, 'outcome')
  }

  /** A mailbox has a SyncTarget now, or takes new objects again: all that it should hold is checked, and its cluster reported. */
  #stays(mailbox: string): void {
    const { mailboxes, signals, tasks } = this.#parts
    if (!mailboxes.get(mailbox)) return
    signals.mailboxChanged.send(mailbox, 'gate')
    tasks.add({ type: 'cluster', mailbox })
  }
}

/** Whether an earlier run reported a pause, or an intake that waits: it may be over. */
function mayBeOver(placement: KubeObject): boolean {
  return ['Paused', INTAKE_WAITS].some(type => conditionOf(placement, type)?.status === 'True')
}
