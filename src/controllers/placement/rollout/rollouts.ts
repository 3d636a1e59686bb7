/**
 * Rollouts: carries placements with a rollout strategy from revision to revision. {@link RevisionMaker} makes revisions of edits.
 * {@link RolloutRunner} moves destinations to the newest one.
 *
 * Objects of users are never written. A rollout closes no gate: {@link StagedPlacement.at} gives each destination its content, and
 * {@link decide} and the brake judge copies as ever.
 */
import { type Clock, steadyMs } from '../../../client/clock.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import {
  NOT_STAGED,
  ROLLOUT_STATES,
  type RolloutReport,
  type RolloutState,
} from '../../../placement/rollout/rolloutStates.ts'
import { type RolloutStrategy, readStrategy } from '../../../placement/rollout/strategy.ts'
import type { PlacementSpec } from '../../../placement/select/placementSpec.ts'
import { LiveContent, type StagedContent } from '../join/leadContent.ts'
import type { Lead } from '../join/placementProduct.ts'
import type { Tasks } from '../join/tasks.ts'
import type { CopyChange, Signals } from '../signals/signals.ts'
import { ClusterPresence, type ClusterPresenceDeps } from './clusterPresence.ts'
import { RevisionMaker, type RevisionMakerDeps } from './revisionMaker.ts'
import { rolloutOf } from './rollout.ts'
import { RolloutRunner, type RolloutRunnerDeps } from './rolloutRunner.ts'
import { StagedPlacement } from './stagedPlacement.ts'
import { StagedPlacements } from './stagedPlacements.ts'
import { storedState } from './storedRollouts.ts'

export interface RolloutsDeps extends RevisionMakerDeps, RolloutRunnerDeps, ClusterPresenceDeps {
  clock: Clock
  tasks: Pick<Tasks, 'add' | 'report'>
  known: Signals['known']
  /** Whether all is known that a placement selects and where it leads; else its task is kept until it is. */
  isKnown: (space: string, name: string) => boolean
}

/** Revisions that are made at most while a placement becomes staged: then the next edit waits for its turn. */
const MOST_CUTS = 5
/** Looks at one placement are so far apart at least. */
const APART_MS = 100
/** A change of a copy that says nothing about its cluster. */
const SILENT: ReadonlySet<CopyChange> = new Set<CopyChange>(['written', 'carried', 'generation', 'retained', 'status'])
const NEVER = Number.POSITIVE_INFINITY
const ALL: RolloutStrategy = readStrategy(undefined).strategy!

export class Rollouts {
  readonly #deps: RolloutsDeps
  readonly #placements = new StagedPlacements()
  readonly #presence: ClusterPresence
  readonly #maker: RevisionMaker
  readonly #runner: RolloutRunner

  constructor(deps: RolloutsDeps) {
    this.#deps = deps
    this.#presence = new ClusterPresence(deps)
    this.#maker = new RevisionMaker(deps)
    this.#runner = new RolloutRunner(deps, this.#placements, this.#presence)
  }

  /** Whether it is known which revisions the destinations of a space's placements have. */
  isKnown(space: string): boolean {
    return this.#placements.isKnown(space)
  }

  /**
   * Takes in an EdgePlacement before the join does. Returns its contents; `undefined`: it has no strategy. `isNew`: it was made while the
   * server ran, so that nothing of it is anywhere.
   */
  place(space: string, name: string, spec: PlacementSpec, isNew: boolean): StagedContent | undefined {
    const known = this.#placements.get(space, name)
    const { rollout: written, historyLimit, uid } = spec
    if (known?.id.uid === uid) {
      const strategy = written === undefined ? ALL : readStrategy(written).strategy
      // admission refuses what cannot be read
      known.strategy = strategy ?? known.strategy
      known.written = written
      known.historyLimit = historyLimit
      known.edited()
      return known
    }
    if (known) this.forget(space, name)
    if (written === undefined) return undefined
    const { join, store, clock, tasks } = this.#deps
    // it had no strategy until now
    const wasLive = join.spec(space, name)?.uid === uid
    const workload = join.workload(space)
    const id = { space, name, uid }
    const strategy = readStrategy(written).strategy ?? ALL
    const placement: StagedPlacement = new StagedPlacement(
      id,
      { strategy, written, historyLimit },
      { isNew, wasLive },
      {
        live: new LiveContent(workload, name),
        workload,
        read: row => store.read(id, row),
        now: () => steadyMs(clock),
        changed: () => {
          tasks.add({ type: 'rollout', space, name })
          tasks.report(space, name)
        },
      },
    )
    this.#placements.add(placement)
    return placement
  }

  forget(space: string, name: string): void {
    const known = this.#placements.get(space, name)
    if (known) this.#placements.delete(known)
  }

  /** How far a placement is; `undefined`: nothing of it is staged. */
  of(space: string, name: string): RolloutReport | undefined {
    const placement = this.#placements.get(space, name)
    if (!placement || !(placement.isStaged || placement.strategy.type !== 'All')) return undefined
    const { rollout, pinned, rows, problem, failed } = placement
    const isDirty = placement.isUnsure ? 'unknown' : placement.isDirty
    const { state = 'Done', reason = '', message = '', revision = rows.newest } = rollout ?? {}
    if (problem !== undefined)
      return { state: 'Waiting', reason: 'RevisionNotStored', message: problem, revision, isDirty: true, pinned }
    if (!placement.isStaged) return undefined
    if (failed === undefined || state !== 'Done') return { state, reason, message, revision, isDirty, pinned }
    const back = `it failed, and all clusters that are there have revision ${revision} again`
    return { state: 'RolledBack', reason: 'RolledBack', message: back, revision: failed, isDirty, pinned }
  }

  /** Whether a cluster would be passed over. */
  isAway(mailbox: string): boolean {
    return this.#presence.isAway(mailbox)
  }

  /** Staged placements, by the state of their newest rollout. */
  get figures(): Readonly<Record<RolloutState, number>> {
    const figures = Object.fromEntries(ROLLOUT_STATES.map(state => [state, 0])) as Record<RolloutState, number>
    for (const { isStaged, rollout } of this.#placements.all()) if (isStaged) figures[rollout?.state ?? 'Done']++
    return figures
  }

  copyChanged(mailbox: string, _key: string, what: CopyChange): void {
    if (!SILENT.has(what)) this.mailboxChanged(mailbox)
  }

  mailboxChanged(mailbox: string): void {
    if (!this.#placements.isAnyRolling) return
    for (const { space, name } of this.#deps.join.placementsOf(mailbox)) {
      const placement = this.#placements.get(space, name)
      if (!placement || !this.#placements.isRolling(placement)) continue
      placement.touched.add(mailbox)
      this.#look(placement)
    }
  }

  /** Anything of the destinations of a space's placements may be other now. */
  spaceChanged(space: string): void {
    for (const placement of this.#placements.in(space)) {
      placement.isAllTouched = true
      const { rows } = placement
      if (this.#placements.isRolling(placement) || rows.reads(rows.newest).size > 0) this.#look(placement)
    }
  }

  /** Labels of a Location may put its cluster into another group of the placements that lead there. */
  locationChanged(leads: readonly Lead[]): void {
    for (const { space, name } of leads) {
      const placement = this.#placements.get(space, name)
      if (placement && this.#placements.isRolling(placement)) this.#look(placement)
    }
  }

  /** A PlacementRollout or PlacementRevision of a space was written, by whomsoever. */
  written(space: string, object: string, revision = NEVER): void {
    const placement = this.#placements.ofRevision(space, object)
    if (!placement || placement.writtenRevision >= revision) return
    placement.isStale = true
    this.#look(placement)
  }

  #look({ id: { space, name } }: StagedPlacement): void {
    this.#deps.tasks.add({ type: 'rollout', space, name })
  }

  async reconcile(space: string, name: string): Promise<ReconcileResult> {
    const placement = this.#placements.get(space, name)
    if (!placement) return {}
    const { clock, isKnown } = this.#deps
    if (!this.#placements.isLoaded(placement)) await this.#load(placement)
    // it was deleted meanwhile
    if (this.#placements.get(space, name) !== placement) return {}
    if (!isKnown(space, name)) return { postponed: true }
    const nowMs = steadyMs(clock)
    const waitMs = placement.lookedAtMs + APART_MS - nowMs
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    placement.lookedAtMs = nowMs
    // another run knows by it that nothing of the placement is anywhere yet
    if (placement.isStaged && !placement.rollout) await this.#runner.begin(placement, placement.rows.newest + 1)
    const isFirst = placement.rows.newest === 0 && !placement.isStaged && placement.problem === undefined
    if (isFirst || (placement.dueAtMs ?? NEVER) <= nowMs) await this.#maker.make(placement)
    await this.#maker.takeLocations(placement)
    const againMs = Math.min(await this.#roll(placement), (placement.dueAtMs ?? NEVER) - nowMs)
    return againMs === NEVER ? {} : { requeueAfterMs: Math.max(APART_MS, againMs) }
  }

  /** Finds which revision each destination has. */
  async #load(placement: StagedPlacement): Promise<void> {
    const { store, known } = this.#deps
    const { id, strategy, wasLive } = placement
    const rows = await store.load(id)
    const rollouts = (await store.rollouts(id)).map(rolloutOf)
    if (!placement.isNew || rows.newest > 0 || rollouts.length > 0) {
      placement.pinned = await store.pinned(id)
      const isInForce = strategy.type !== 'All' || placement.pinned !== undefined
      if (placement.restore(rows, storedState(rollouts, { isInForce, wasLive }))) this.#placements.rolls(placement)
    }
    this.#placements.loaded(placement)
    known.send('space', id.space)
  }

  /** Answers in how many milliseconds to look again; infinite: when something changes. */
  async #roll(placement: StagedPlacement): Promise<number> {
    if (placement.isStale) await this.#runner.refresh(placement)
    const { rows, strategy, pinned, written } = placement
    // another run would not know of a pin of a placement without a strategy
    if (written === undefined || (strategy.type === 'All' && pinned === undefined)) {
      await this.#goLive(placement)
      return NEVER
    }
    if (!placement.isStaged) await this.#goStaged(placement)
    if (!placement.isStaged) return NEVER
    const { goal } = placement
    if (goal === 0 || !rows.has(goal)) return NEVER
    if (placement.rollout?.revision !== goal || placement.rollout.state === 'RolledBack')
      await this.#runner.begin(placement, goal)
    if (!this.#placements.isRolling(placement)) return NEVER
    return await this.#runner.advance(placement, placement.rollout!)
  }

  /** No revision is staged any more: all destinations read the live content. */
  async #goLive(placement: StagedPlacement): Promise<void> {
    const { join, store } = this.#deps
    const { id, rollout } = placement
    if (placement.isStaged) {
      if (rollout) {
        const message = 'spec.rolloutStrategy stages nothing any more: all clusters get the newest content'
        await store.writeStatus(id, rollout.revision, { state: 'Superseded', reason: NOT_STAGED, message })
      }
      join.restage(id.space, id.name, () => {
        placement.isStaged = false
        placement.clearRevisions()
      })
      placement.rollout = undefined
      this.#placements.rests(placement)
    }
    // a strategy may have come back meanwhile
    if (placement.written !== undefined) return
    this.forget(id.space, id.name)
    join.unstage(id.space, id.name)
  }

  /** All destinations have the live content. From now on they have the newest revision, which says the same. */
  async #goStaged(placement: StagedPlacement): Promise<void> {
    const { join } = this.#deps
    const { id } = placement
    let newest = 0
    let cuts = 0
    // an edit that comes meanwhile is in the clusters already, and would be taken back there until its turn
    do {
      if (placement.dueAtMs !== undefined && placement.problem === undefined) await this.#maker.make(placement)
      // an older revision, or none, would take from the clusters what they have
      if (placement.problem !== undefined) return
      if (placement.rows.newest === newest) break
      newest = placement.rows.newest
      await this.#runner.begin(placement, newest, { isDone: true })
    } while (placement.dueAtMs !== undefined && ++cuts < MOST_CUTS)
    join.restage(id.space, id.name, () => {
      placement.isStaged = true
      placement.finished = newest
      placement.approved.add(newest)
    })
  }
}
