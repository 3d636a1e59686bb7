/**
 * Carries a rollout out: begins it, and takes one {@link step} after another. A step is in the stored status before any content moves, so
 * that another run finds each cluster's revision.
 */
import { record } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { Clock } from '../../../client/clock.ts'
import { withoutGates } from '../../../placement/rollout/strategy.ts'
import type { Destination, Ways } from '../../../placement/words/ways.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Tasks } from '../join/tasks.ts'
import type { ClusterContent, ClusterQuestion } from './clusterContent.ts'
import type { ClusterPresence } from './clusterPresence.ts'
import type { PlacementId, RevisionStore } from './revisionStore.ts'
import { isOpen, type Rollout, rolloutOf, statusOf } from './rollout.ts'
import { looksAt, type SeenCluster, type Sight, seenCluster, stepOf, steppedRollout } from './rolloutStatus.ts'
import type { StagedPlacement } from './stagedPlacement.ts'
import type { StagedPlacements } from './stagedPlacements.ts'

export interface RolloutRunnerDeps {
  store: RevisionStore
  join: PlacementJoin
  clock: Clock
  tasks: Pick<Tasks, 'report'>
  /** Labels of a Location. */
  labels: (way: Destination) => Readonly<Record<string, string>>
  /** Path of an inventory, as people know it. */
  pathOf: (space: string) => string | undefined
  look: (question: ClusterQuestion) => ClusterContent
}

const NEVER = Number.POSITIVE_INFINITY
const NO_OBJECTS = 'the placement selects no object'
const NOWHERE: Ways = new Map()

export class RolloutRunner {
  readonly #deps: RolloutRunnerDeps
  readonly #placements: StagedPlacements
  readonly #presence: ClusterPresence

  constructor(deps: RolloutRunnerDeps, placements: StagedPlacements, presence: ClusterPresence) {
    this.#deps = deps
    this.#placements = placements
    this.#presence = presence
  }

  /** A rollout to a revision begins, in place of the one before. `isDone`: all destinations have it already. */
  async begin(placement: StagedPlacement, revision: number, { isDone = false } = {}): Promise<void> {
    const { store, clock, join } = this.#deps
    const { id, rollout: before, finished, written, rows } = placement
    const at = timestamp(new Date(clock.now()))
    const ended = before && (await this.#end(id, before, revision))
    const { paused, pausedBy } = record(ended, 'spec')
    const run = placement.lastRun + 1
    // an edit that comes just then has its stages
    const isWayBack = before?.state === 'RolledBack' && before.from === revision
    // somebody's way back ends a pause, and nothing else but a resumption does
    const isPaused = paused === true && (isWayBack || revision > (before?.revision ?? 0))
    placement.rolledBack.delete(revision)
    // nobody waits for an approval or a window on the way back to what has passed them
    const isReturn = revision < (before?.revision ?? 0) && placement.approved.has(revision)
    // with type All groups and windows have no effect
    const isGated = !isReturn && placement.strategy.type !== 'All'
    const spec = {
      placement: id.name,
      placementUID: id.uid,
      revision,
      run,
      // a start that finds it without a state finds the revision that all clusters have
      from: isDone ? revision : finished,
      by: rows.authorOf(revision),
      at,
      ...(written !== undefined && { strategy: isGated ? written : withoutGates(written) }),
      ...(isWayBack && { urgent: true }),
      ...(isPaused && { paused, pausedBy }),
    }
    const object = await store.beginRollout(id, spec)
    placement.writtenRevision = Number(object.metadata.resourceVersion)
    const rollout: Rollout = { ...rolloutOf({ ...object, status: undefined }), state: isDone ? 'Done' : 'Running' }
    if (before) rollout.former = before.clusters.size > 0 ? before.clusters : before.former
    placement.lastRun = run
    placement.isAllTouched = true
    if (isDone) {
      rollout.finishedAt = at
      await this.#writeStatus(placement, rollout)
    } else {
      placement.setOthers((join.waysOf(id.space, id.name) ?? NOWHERE).keys())
      this.#placements.rolls(placement)
    }
    placement.rollout = rollout
  }

  /** Ends a rollout, unless it is over. @returns it as it is stored then: whoever pauses it later finds it ended */
  async #end(id: PlacementId, { state, revision }: Rollout, next: number): Promise<KubeObject | undefined> {
    const { store, clock } = this.#deps
    if (state === 'Done' || state === 'RolledBack') return await store.rollout(id, revision)
    const message = `revision ${next} takes its place`
    const finishedAt = timestamp(new Date(clock.now()))
    return await store.writeStatus(id, revision, { state: 'Superseded', reason: 'NewerRevision', message, finishedAt })
  }

  /** Takes in what people wrote. */
  async refresh(placement: StagedPlacement): Promise<void> {
    const { store } = this.#deps
    placement.isStale = false
    placement.pinned = await store.pinned(placement.id)
    const { rollout } = placement
    const object = rollout && (await store.rollout(placement.id, rollout.revision))
    if (!rollout || !object) return
    const { paused, urgent, approvals } = rolloutOf(object)
    placement.rollout = { ...rollout, paused, urgent, approvals }
  }

  /** Takes the next step. Answers in how many milliseconds to look again; infinite: when something changes. */
  async advance(placement: StagedPlacement, before: Rollout): Promise<number> {
    const { join, clock } = this.#deps
    const { space, name } = placement.id
    const ways = join.waysOf(space, name)
    if (!ways) return NEVER
    for (const mailbox of ways.keys()) if (this.#presence.isAwaited(mailbox)) return this.#presence.leftMs
    const nowMs = clock.now()
    placement.setOthers(ways.keys())
    const seen = this.#look(placement, before, ways, placement.takeTouched(), nowMs)
    const input = {
      clusters: seen.map(({ facts }) => facts),
      nowMs,
      isPaused: join.spec(space, name)?.isPaused === true,
    }
    let [rollout, found] = [before, stepOf(before, input)]
    try {
      if (found.start.length > 0) {
        // a pause or a pin counts from when it is written, and its event may be on the way
        await this.refresh(placement)
        if (placement.goal !== before.revision) {
          placement.isAllTouched = true
          return 0
        }
        rollout = placement.rollout ?? before
        found = stepOf(rollout, input)
      }
      const { pinned, rows } = placement
      const note = rows.isEmpty(rollout.revision) ? NO_OBJECTS : undefined
      const after = steppedRollout(rollout, seen, found, { pinned, note })
      if (after.state === 'Done' || after.state === 'RolledBack') after.finishedAt ||= timestamp(new Date(nowMs))
      if (!equalJson(statusOf(after), statusOf(rollout))) await this.#writeStatus(placement, after)
      placement.rollout = after
    } catch (error) {
      // nothing of what was seen is kept
      placement.isAllTouched = true
      throw error
    }
    const waysNow = join.waysOf(space, name) ?? NOWHERE
    for (const mailbox of placement.named.keys()) if (!waysNow.has(mailbox)) placement.release(mailbox)
    this.#move(placement, placement.rollout, found.start)
    placement.letGo()
    if (found.start.length > 0 || placement.rollout.state === 'RolledBack') return 0
    return (found.recheckAtMs ?? NEVER) - nowMs
  }

  /** Facts about the destinations, as they are now. */
  #look(
    placement: StagedPlacement,
    rollout: Rollout,
    ways: Ways,
    touched: ReturnType<StagedPlacement['takeTouched']>,
    nowMs: number,
  ): SeenCluster[] {
    const { labels, pathOf, look } = this.#deps
    const { space } = placement.id
    const former = placement.rows.objectKeys()
    const seen: SeenCluster[] = []
    for (const [mailbox, several] of ways) {
      const way = several[0]!
      const revision = placement.revisionAt(mailbox)
      const sight: Sight = {
        mailbox,
        name: way.locationName,
        inventory: pathOf(way.cluster) ?? way.cluster,
        labels: labels(way),
        revision,
        isTouched: touched.all || touched.mailboxes.has(mailbox),
      }
      const looks = looksAt(rollout, sight)
      const now = look({ space, mailbox, content: placement.content(revision), former, looks })
      seen.push(seenCluster(rollout, sight, now, nowMs))
    }
    return seen
  }

  /** Destinations get what a step, which is stored, gives to them. */
  #move(placement: StagedPlacement, rollout: Rollout, start: readonly string[]): void {
    const { join } = this.#deps
    const { space, name } = placement.id
    const { state, revision } = rollout
    if (state === 'Done' && placement.finished !== revision) this.#finish(placement, revision)
    if (start.length > 0) {
      join.restage(space, name, () => placement.setRevision(start, revision), start)
      // a revision that changes nothing in a cluster names no copy there
      for (const mailbox of start) placement.touched.add(mailbox)
    }
    if (state === 'Done') this.#settle(placement, rollout)
    if (state === 'RolledBack') placement.rolledBack.set(revision, rollout.from)
  }

  /** A destination that joins from now on gets the revision at once. One that was away all the time has its turn once it is back. */
  #finish(placement: StagedPlacement, revision: number): void {
    const { space, name } = placement.id
    placement.approved.add(revision)
    this.#deps.join.restage(space, name, () => {
      placement.finished = revision
    })
  }

  /** A rollout ends for good when no destination has another revision, or catches up with this one. */
  #settle(placement: StagedPlacement, { revision, clusters }: Rollout): void {
    for (const one of clusters.values()) if (isOpen(one)) return
    for (const has of placement.named.values()) if (has !== revision) return
    placement.clearRevisions()
    this.#placements.rests(placement)
  }

  async #writeStatus(placement: StagedPlacement, rollout: Rollout): Promise<void> {
    const { store, tasks } = this.#deps
    const { id } = placement
    const written = await store.writeStatus(id, rollout.revision, statusOf(rollout))
    placement.writtenRevision = Number(written.metadata.resourceVersion)
    tasks.report(id.space, id.name)
  }
}
