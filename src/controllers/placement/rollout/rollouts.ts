/**
 * Rollouts: carries placements with a rollout strategy from revision to revision. It cuts revisions of edits, asks the pure
 * {@link step} for the clusters that may go on, and moves these to the new content.
 *
 * A step is in the stored status of the PlacementRollout before any content moves, so that another run finds each cluster's revision.
 * Objects of users are never written. Copies are named only, and {@link decide} and the brake judge them as ever.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { type Clock, steadyMs } from '../../../client/clock.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { OUTCOME_SILENCE_MS } from '../../../placement/outcome/outcome.ts'
import { baseOfRevision, revisionBase } from '../../../placement/rollout/revisionNames.ts'
import { type ClusterFacts, type RolloutFacts, type Step, step } from '../../../placement/rollout/step.ts'
import { type RolloutStrategy, readStrategy, withoutGates } from '../../../placement/rollout/strategy.ts'
import type { PlacementSpec } from '../../../placement/select/placementSpec.ts'
import type { Destination, Ways } from '../../../placement/words/ways.ts'
import type { SourceReader } from '../copies/sourceReader.ts'
import { LiveContent, type StagedContent } from '../join/leadContent.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Tasks } from '../join/tasks.ts'
import type { CopyChange, Signals } from '../signals/signals.ts'
import type { ClusterContent, ClusterQuestion } from './clusterContent.ts'
import { cutRevision } from './revisionCut.ts'
import type { RevisionStore } from './revisionStore.ts'
import { ROLLOUT_STATES, type Rollout, type RolloutCluster, type RolloutState, rolloutOf, statusOf } from './rollout.ts'
import { StagedPlacement } from './stagedPlacement.ts'

export interface RolloutsDeps {
  store: RevisionStore
  join: PlacementJoin
  clock: Clock
  sources: Pick<SourceReader, 'read'>
  tasks: Pick<Tasks, 'add' | 'report'>
  known: Signals['known']
  /** Labels of a Location. */
  labels: (way: Destination) => Readonly<Record<string, string>>
  /** Path of an inventory, as people know it. */
  pathOf: (space: string) => string | undefined
  look: (question: ClusterQuestion) => ClusterContent
  /** A cluster that is away; `undefined`: it is there. */
  away: (mailbox: string) => ClusterContent | undefined
  /** Whether a cluster was silent already when the server started. */
  isSilent: (mailbox: string) => boolean
  /** Whether all is known that a placement selects and where it leads; else its task is kept until it is. */
  isKnown: (space: string, name: string) => boolean
}

/** Reason of a superseded rollout after which all clusters read the live content. */
const NOT_STAGED = 'NotStaged'
const NO_OBJECTS = 'the placement selects no object'
/** After a revision could not be stored. */
const RETRY_MS = 30_000
/** Clusters that left are listed up to so many: fleets that come and go fill no object. */
const MAX_GONE = 100
/** Looks at one placement are so far apart at least. */
const APART_MS = 100
/** A change of a copy that says nothing about its cluster. */
const SILENT: ReadonlySet<CopyChange> = new Set<CopyChange>(['written', 'carried', 'generation', 'retained', 'status'])

/** Clusters without a report count as silent so long after the start, and are waited for until then. */
const UNHEARD_MS = OUTCOME_SILENCE_MS

const ALL: RolloutStrategy = readStrategy(undefined).strategy!

export interface RolloutReport extends Pick<Rollout, 'state' | 'reason' | 'message' | 'revision'> {
  /** Edits are in no revision yet. */
  readonly isDirty: boolean
  readonly pinned: number | undefined
}

export class Rollouts {
  readonly #deps: RolloutsDeps
  /** By {@link keyOf}, so that names of revisions lead to them. */
  readonly #placements = new Map<string, StagedPlacement>()
  /** Those of which it is not known which revisions their destinations have. */
  readonly #unloaded = new Set<StagedPlacement>()
  /** Those of which a rollout goes on. */
  readonly #rolling = new Set<StagedPlacement>()

  /** Clusters without a report are silent from then on. */
  readonly #heardAtMs: number

  constructor(deps: RolloutsDeps) {
    this.#deps = deps
    this.#heardAtMs = steadyMs(deps.clock) + UNHEARD_MS
  }

  /** Whether it is known which revisions the destinations of a space's placements have. */
  isKnown(space: string): boolean {
    for (const { id } of this.#unloaded) if (id.space === space) return false
    return true
  }

  /**
   * Takes in an EdgePlacement before the join does. Returns its contents; `undefined`: it has no strategy. `isNew`: it was made while the
   * server ran, so that nothing of it is anywhere.
   */
  place(space: string, name: string, spec: PlacementSpec, isNew: boolean): StagedContent | undefined {
    const key = keyOf(space, name)
    const known = this.#placements.get(key)
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
    this.#placements.set(key, placement)
    this.#unloaded.add(placement)
    return placement
  }

  forget(space: string, name: string): void {
    const known = this.#placements.get(keyOf(space, name))
    if (!known) return
    this.#placements.delete(keyOf(space, name))
    this.#rolling.delete(known)
    this.#unloaded.delete(known)
  }

  /** How far a placement is; `undefined`: nothing of it is staged. */
  of(space: string, name: string): RolloutReport | undefined {
    const placement = this.#placements.get(keyOf(space, name))
    if (!placement || !(placement.isStaged || placement.strategy.type !== 'All')) return undefined
    const { rollout, dueAtMs, pinned, rows, problem } = placement
    const { state = 'Done', reason = '', message = '', revision = rows.newest } = rollout ?? {}
    if (problem !== undefined)
      return { state: 'Waiting', reason: 'RevisionNotStored', message: problem, revision, isDirty: true, pinned }
    if (!placement.isStaged) return undefined
    return { state, reason, message, revision, isDirty: dueAtMs !== undefined, pinned }
  }

  /** Whether a cluster would be passed over: shortly after the start it may be about to report. */
  isAway(mailbox: string): boolean {
    const away = this.#deps.away(mailbox)
    return away !== undefined && !this.#isAwaited(mailbox, away)
  }

  #isAwaited(mailbox: string, { isUnheard }: ClusterContent): boolean {
    const { clock, isSilent } = this.#deps
    return isUnheard === true && steadyMs(clock) < this.#heardAtMs && !isSilent(mailbox)
  }

  /** Staged placements, by the state of their newest rollout. */
  get figures(): Readonly<Record<RolloutState, number>> {
    const figures = Object.fromEntries(ROLLOUT_STATES.map(state => [state, 0])) as Record<RolloutState, number>
    for (const { isStaged, rollout } of this.#placements.values()) if (isStaged) figures[rollout?.state ?? 'Done']++
    return figures
  }

  copyChanged(mailbox: string, _key: string, what: CopyChange): void {
    if (!SILENT.has(what)) this.mailboxChanged(mailbox)
  }

  mailboxChanged(mailbox: string): void {
    if (this.#rolling.size === 0) return
    for (const { space, name } of this.#deps.join.placementsOf(mailbox)) {
      const placement = this.#placements.get(keyOf(space, name))
      if (!placement || !this.#rolling.has(placement)) continue
      placement.touched.add(mailbox)
      this.#deps.tasks.add({ type: 'rollout', space, name })
    }
  }

  /** Anything of the destinations of a space's placements may be other now. */
  spaceChanged(space: string): void {
    for (const placement of this.#rolling) {
      if (placement.id.space !== space) continue
      placement.isAllTouched = true
      this.#deps.tasks.add({ type: 'rollout', space, name: placement.id.name })
    }
  }

  /** Labels of a Location may put its cluster into another group. */
  locationChanged(): void {
    for (const { id } of this.#rolling) this.#deps.tasks.add({ type: 'rollout', space: id.space, name: id.name })
  }

  /** A PlacementRollout or PlacementRevision of a space was written, by whomsoever. */
  written(space: string, object: string, revision = Number.POSITIVE_INFINITY): void {
    const placement = this.#placements.get(`${space} ${baseOfRevision(object)}`)
    if (!placement || placement.writtenRevision >= revision) return
    placement.isStale = true
    this.#deps.tasks.add({ type: 'rollout', space, name: placement.id.name })
  }

  async reconcile(space: string, name: string): Promise<ReconcileResult> {
    const placement = this.#placements.get(keyOf(space, name))
    if (!placement) return {}
    const { clock, isKnown } = this.#deps
    if (this.#unloaded.has(placement)) await this.#load(placement)
    // it was deleted meanwhile
    if (this.#placements.get(keyOf(space, name)) !== placement) return {}
    if (!isKnown(space, name)) return { postponed: true }
    const nowMs = steadyMs(clock)
    const waitMs = placement.lookedAtMs + APART_MS - nowMs
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    placement.lookedAtMs = nowMs
    // another run knows by it that nothing of the placement is anywhere yet
    if (placement.isStaged && !placement.rollout) await this.#begin(placement, placement.rows.newest + 1)
    const isFirst = placement.rows.newest === 0 && !placement.isStaged && placement.problem === undefined
    if (isFirst || (placement.dueAtMs ?? Number.POSITIVE_INFINITY) <= nowMs) await this.#cut(placement)
    const rollMs = await this.#roll(placement)
    const dueMs = (placement.dueAtMs ?? Number.POSITIVE_INFINITY) - nowMs
    const againMs = Math.min(dueMs, rollMs)
    return againMs === Number.POSITIVE_INFINITY ? {} : { requeueAfterMs: Math.max(APART_MS, againMs) }
  }

  /** Finds which revision each destination has. */
  async #load(placement: StagedPlacement): Promise<void> {
    const { store, known } = this.#deps
    const { id, strategy } = placement
    const rows = await store.load(id)
    const rollouts = (await store.rollouts(id)).map(rolloutOf).sort((a, b) => a.run - b.run)
    if (!placement.isNew || rows.newest > 0 || rollouts.length > 0) {
      placement.rows = rows
      placement.isStaged = false
      placement.pinned = await store.pinned(id)
      const newest = rollouts.at(-1)
      placement.lastRun = newest?.run ?? 0
      placement.finished = (newest?.state === 'Done' ? newest.revision : newest?.from) ?? 0
      for (const { state, revision, from } of rollouts) {
        if (state === 'RolledBack') placement.rolledBack.set(revision, from)
        if (state === 'Done') placement.approved.add(revision)
        placement.approved.add(from)
      }
      const isInForce = strategy.type !== 'All' || placement.pinned !== undefined
      // one that a revision supersedes stays in force until the rollout of that begins
      const isLive = placement.wasLive || (newest?.state === 'Superseded' && newest.reason === NOT_STAGED)
      if (newest && !isLive && isInForce) {
        placement.rollout = newest
        placement.isStaged = true
        const isOver = ({ revision, state }: RolloutCluster) => state === 'Skipped' || revision === newest.revision
        if (newest.state !== 'Done' || ![...newest.clusters.values()].every(isOver)) {
          // one that another process began and did not write a step of has moved nothing
          const written = rollouts.findLast(({ clusters }) => clusters.size > 0)
          for (const { key, revision, state } of written?.clusters.values() ?? [])
            if (state !== 'Skipped') placement.setRevision(key, revision)
          this.#rolling.add(placement)
        }
        // clusters keep the live content, and have it as a new revision, where contents of theirs are lost
        const used = new Set([...placement.named.values(), placement.finished])
        if ([...used].some(revision => revision > 0 && !rows.isWhole(revision))) {
          placement.isStaged = false
          placement.clearRevisions()
          this.#rolling.delete(placement)
        }
      }
    }
    this.#unloaded.delete(placement)
    known.send('space', id.space)
  }

  /** Makes a revision of what changed since the newest one. */
  async #cut(placement: StagedPlacement): Promise<void> {
    const { join, sources, store, clock, tasks } = this.#deps
    const { id } = placement
    placement.takeEdits()
    const resourceVersion = join.observed.of(id.space, id.name) ?? 0
    const workload = join.workload(id.space)
    const selected = workload.selectedBy(id.name).flatMap(key => {
      const fact = workload.get(key)
      return fact ? [{ fact, implied: !workload.names(id.name, key) }] : []
    })
    try {
      if (placement.problem !== undefined) placement.rows = await store.load(id)
      const { rows } = placement
      const cut = await cutRevision(rows, {
        selected,
        read: fact => sources.read(id.space, fact),
        customizer: reference => join.customizer(id.space, reference),
      })
      const at = timestamp(new Date(clock.now()))
      if (cut) await store.save(id, rows, { ...cut, revision: rows.newest + 1, at, resourceVersion })
      // no rollout of these edits says that they are none
      else tasks.report(id.space, id.name)
    } catch (error) {
      // it may be half written, and is read anew before the next attempt
      placement.problem = `a revision could not be stored, and clusters keep what they have: ${messageOf(error)}`
      placement.cutAgainAt(steadyMs(clock) + RETRY_MS)
      tasks.report(id.space, id.name)
      if (!isStatusError(error)) throw error
      return
    }
    if (placement.problem !== undefined) tasks.report(id.space, id.name)
    placement.problem = undefined
    const { rows } = placement
    if (!placement.isStaged && placement.strategy.type === 'All') {
      placement.finished = rows.newest
      placement.approved.add(rows.newest)
    }
    await this.#trim(placement)
  }

  /** Forgets the oldest revisions but those that somebody needs. */
  async #trim(placement: StagedPlacement): Promise<void> {
    const { rows, historyLimit, finished, pinned, rollout, named } = placement
    const needed = new Set([...named.values(), finished, pinned, rollout?.revision, rollout?.from])
    for (const revision of rows.revisions.slice(0, -historyLimit))
      if (!needed.has(revision)) await this.#deps.store.forget(placement.id, rows, revision)
  }

  /** Answers in how many milliseconds to look again; infinite: when something changes. */
  async #roll(placement: StagedPlacement): Promise<number> {
    const never = Number.POSITIVE_INFINITY
    if (placement.isStale) await this.#refresh(placement)
    const { rows, strategy, pinned, written } = placement
    // another run would not know of a pin of a placement without a strategy
    if (written === undefined || (strategy.type === 'All' && pinned === undefined)) {
      await this.#goLive(placement)
      return never
    }
    if (!placement.isStaged) await this.#goStaged(placement)
    if (!placement.isStaged) return never
    const goal = placement.goal
    if (goal === 0 || !rows.has(goal)) return never
    if (placement.rollout?.revision !== goal || placement.rollout.state === 'RolledBack')
      await this.#begin(placement, goal)
    if (!this.#rolling.has(placement)) return never
    return await this.#step(placement, placement.rollout!)
  }

  /** Takes in what people wrote. */
  async #refresh(placement: StagedPlacement): Promise<void> {
    const { store } = this.#deps
    placement.isStale = false
    placement.pinned = await store.pinned(placement.id)
    const { rollout } = placement
    const object = rollout && (await store.rollout(placement.id, rollout.revision))
    if (!rollout || !object) return
    const { paused, urgent, approvals } = rolloutOf(object)
    placement.rollout = { ...rollout, paused, urgent, approvals }
  }

  /** No revision is staged any more: all destinations read the live content. */
  async #goLive(placement: StagedPlacement): Promise<void> {
    const { join, store } = this.#deps
    const { id, rollout, written } = placement
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
      this.#rolling.delete(placement)
    }
    if (written !== undefined) return
    this.forget(id.space, id.name)
    join.unstage(id.space, id.name)
  }

  /** All destinations have the live content. From now on they have the newest revision, which says the same. */
  async #goStaged(placement: StagedPlacement): Promise<void> {
    const { join } = this.#deps
    const { id } = placement
    if (placement.dueAtMs !== undefined && placement.problem === undefined) await this.#cut(placement)
    // an older revision, or none, would take from the clusters what they have
    if (placement.problem !== undefined) return
    const { newest } = placement.rows
    if (newest > 0) await this.#begin(placement, newest, { isDone: true })
    join.restage(id.space, id.name, () => {
      placement.isStaged = true
      placement.finished = newest
      placement.approved.add(newest)
    })
  }

  /** A rollout to a revision begins, in place of the one before. */
  async #begin(placement: StagedPlacement, revision: number, { isDone = false } = {}): Promise<void> {
    const { store, clock, join } = this.#deps
    const { id, rollout: before, finished, written, rows } = placement
    const at = timestamp(new Date(clock.now()))
    if (before && before.state !== 'Done' && before.state !== 'RolledBack') {
      const message = `revision ${revision} takes its place`
      await store.writeStatus(id, before.revision, {
        state: 'Superseded',
        reason: 'NewerRevision',
        message,
        finishedAt: at,
      })
    }
    const run = placement.lastRun + 1
    // an edit that comes just then has its stages
    const isWayBack = before?.state === 'RolledBack' && before.from === revision
    placement.rolledBack.delete(revision)
    // nobody waits for an approval or a window on the way back to what has passed them
    const isReturn = revision < (before?.revision ?? 0) && placement.approved.has(revision)
    const spec = {
      placement: id.name,
      placementUID: id.uid,
      revision,
      run,
      // a start that finds it without a state finds the revision that all clusters have
      from: isDone ? revision : finished,
      by: rows.authorOf(revision),
      at,
      ...(written !== undefined && { strategy: isReturn ? withoutGates(written) : written }),
      ...(isWayBack && { urgent: true }),
    }
    const object = await store.beginRollout(id, spec)
    placement.writtenRevision = Number(object.metadata.resourceVersion)
    const rollout = {
      ...rolloutOf({ ...object, status: undefined }),
      state: isDone ? 'Done' : 'Running',
    } satisfies Rollout
    placement.lastRun = run
    placement.isAllTouched = true
    if (isDone) {
      rollout.finishedAt = at
      await this.#writeStatus(placement, rollout)
    } else {
      const ways = join.waysOf(id.space, id.name) ?? NOWHERE
      for (const mailbox of ways.keys()) placement.setRevision(mailbox, placement.revisionAt(mailbox))
      this.#rolling.add(placement)
    }
    placement.rollout = rollout
  }

  async #step(placement: StagedPlacement, before: Rollout): Promise<number> {
    let rollout = before
    const { join, clock } = this.#deps
    const { space, name } = placement.id
    const ways = join.waysOf(space, name)
    if (!ways) return Number.POSITIVE_INFINITY
    const nowMs = clock.now()
    const clusters = this.#look(placement, rollout, ways)
    if (!clusters) return this.#heardAtMs - steadyMs(clock)
    const asked = {
      clusters: clusters.map(({ facts }) => facts),
      nowMs,
      isPaused: join.spec(space, name)?.isPaused === true,
    }
    let found = stepOf(rollout, asked)
    if (found.start.length > 0) {
      // a pause counts from when it is written, and its event may be on the way
      await this.#refresh(placement)
      rollout = placement.rollout ?? rollout
      found = stepOf(rollout, asked)
    }
    const after = this.#stepped(placement, rollout, clusters, found)
    if (after.state === 'Done' || after.state === 'RolledBack') after.finishedAt ||= timestamp(new Date(nowMs))
    try {
      if (!equalJson(statusOf(after), statusOf(rollout))) await this.#writeStatus(placement, after)
    } catch (error) {
      // nothing of what was seen is kept
      placement.isAllTouched = true
      throw error
    }
    placement.rollout = after
    if (after.state === 'Done' && placement.finished !== after.revision) this.#finish(placement, after)
    if (found.start.length > 0) {
      const start = () => {
        for (const mailbox of found.start) placement.setRevision(mailbox, rollout.revision)
      }
      join.restage(space, name, start, found.start)
      // a revision that changes nothing in a cluster names no copy there
      for (const mailbox of found.start) placement.touched.add(mailbox)
    }
    if (after.state === 'Done') this.#settle(placement, after)
    for (const key of rollout.clusters.keys()) if (!ways.has(key)) placement.release(key)
    placement.letGo()
    if (after.state === 'RolledBack') {
      placement.rolledBack.set(after.revision, after.from)
      return 0
    }
    if (found.start.length > 0) return 0
    return (found.recheckAtMs ?? Number.POSITIVE_INFINITY) - nowMs
  }

  /** A destination that joins from now on gets the revision at once. One that was away all the time has its turn once it is back. */
  #finish(placement: StagedPlacement, { revision }: Rollout): void {
    const { space, name } = placement.id
    placement.approved.add(revision)
    this.#deps.join.restage(space, name, () => {
      placement.finished = revision
    })
  }

  /** A rollout ends for good when no destination has another revision. */
  #settle(placement: StagedPlacement, { revision }: Rollout): void {
    for (const has of placement.named.values()) if (has !== revision) return
    placement.clearRevisions()
    this.#rolling.delete(placement)
  }

  /** Facts about the destinations, as they are now; `undefined`: more will be known soon. */
  #look(placement: StagedPlacement, rollout: Rollout, ways: Ways): Seen[] | undefined {
    const { clock, labels, pathOf, look } = this.#deps
    const { space } = placement.id
    const nowMs = clock.now()
    const { touched, isAllTouched } = placement
    const seen: Seen[] = []
    for (const [mailbox, several] of ways) {
      const before = rollout.clusters.get(mailbox)
      const hasJoined = before?.hasJoined ?? (rollout.clusters.size > 0 && !placement.isNamed(mailbox))
      if (!placement.isNamed(mailbox)) placement.setRevision(mailbox, placement.finished)
      const revision = placement.revisionAt(mailbox)
      const isMoved = revision === rollout.revision || (revision !== rollout.from && revision !== 0)
      const isNews = isAllTouched || touched.has(mailbox) || before?.revision !== revision
      const [content, former] = [placement.content(revision), placement.content(rollout.from).revisedKeys()]
      const now = look({ space, mailbox, content, former, looks: isMoved && isNews })
      if (this.#isAwaited(mailbox, now)) return undefined
      // silence mends nothing
      const isFailure = now.isSilent === true && before?.content === 'failed' && before.revision === revision
      const isKept = isMoved && (!isNews || isFailure)
      const state = isKept ? (before?.content ?? 'unknown') : now.content
      // after an absence it has its time anew
      const isSame = before?.content === state && before.revision === revision && before.isAway === now.isAway
      const [way] = several
      const facts: ClusterFacts = {
        key: mailbox,
        name: way!.locationName,
        inventory: pathOf(way!.cluster) ?? way!.cluster,
        labels: labels(way!),
        revision,
        content: state,
        contentSinceMs: isSame ? before.contentSinceMs : nowMs,
        beganMs: before?.revision === revision ? before.beganMs : undefined,
        wasDone: before?.state === 'Done' && before.revision === revision,
        away: now.isAway,
        ...(now.isSilent && { isSilent: true }),
      }
      const kept = isKept && before?.state === 'Failed' ? before.message : undefined
      seen.push({ facts, hasJoined, detail: now.message, ...(kept !== undefined && { kept }) })
    }
    placement.isAllTouched = false
    touched.clear()
    return seen
  }

  #stepped({ pinned, rows }: StagedPlacement, rollout: Rollout, seen: readonly Seen[], found: Step): Rollout {
    const start = new Set(found.start)
    const clusters = new Map<string, RolloutCluster>()
    for (const { facts, hasJoined, detail, kept } of seen) {
      const { key, name, inventory, revision, content, away } = facts
      const { state, group, reason, message, contentSinceMs, beganMs } = found.states.get(key)!
      const hasBegun = start.has(key)
      clusters.set(key, {
        key,
        cluster: name,
        inventory,
        group,
        state,
        revision: hasBegun ? rollout.revision : revision,
        content: hasBegun ? 'unknown' : content,
        contentSinceMs,
        beganMs,
        reason,
        message: state === 'Failed' ? (kept ?? (detail ? `${message}: ${detail}` : message)) : message,
        isAway: away,
        hasJoined,
      })
    }
    // those that left last come first
    const gone = [...rollout.clusters].filter(([key]) => !clusters.has(key)).slice(0, MAX_GONE)
    for (const [key, before] of gone)
      clusters.set(key, { ...before, state: 'Skipped', reason: 'ClusterGone', message: '' })
    const { reason } = found
    const message = rows.isEmpty(rollout.revision) ? `${found.message}; ${NO_OBJECTS}` : found.message
    return { ...rollout, state: stateOf(found, rollout, pinned), reason, message, clusters }
  }

  async #writeStatus(placement: StagedPlacement, rollout: Rollout): Promise<void> {
    const { store, tasks } = this.#deps
    const { id } = placement
    const written = await store.writeStatus(id, rollout.revision, statusOf(rollout))
    placement.writtenRevision = Number(written.metadata.resourceVersion)
    tasks.report(id.space, id.name)
  }
}

function keyOf(space: string, name: string): string {
  return `${space} ${revisionBase(name)}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function stepOf(
  { strategy, revision, from, paused, approvals, urgent }: Rollout,
  { clusters, nowMs, isPaused }: Pick<RolloutFacts, 'clusters' | 'nowMs'> & { isPaused: boolean },
): Step {
  return step({ strategy, target: revision, from, clusters, nowMs, paused: paused || isPaused, approvals, urgent })
}

interface Seen {
  readonly facts: ClusterFacts
  readonly hasJoined: boolean
  /** About its content, where that was looked at. */
  readonly detail: string
  /** The message about content that is as it was. */
  readonly kept?: string
}

const NOWHERE: Ways = new Map()

const STATES: Readonly<Record<Step['verdict'], RolloutState>> = {
  running: 'Running',
  waiting: 'Waiting',
  paused: 'Paused',
  stuck: 'Stuck',
  failed: 'Failed',
  done: 'Done',
  rollback: 'RolledBack',
}

/** Where there is nothing to go back to, or a pin holds the clusters, a rollout stops. */
function stateOf(
  { verdict }: Step,
  { state, revision, from, urgent }: Rollout,
  pinned: number | undefined,
): RolloutState {
  // those that were away catch up
  if (state === 'Done') return 'Done'
  const isWayBack = from > 0 && from !== revision && !urgent && pinned === undefined
  return verdict === 'rollback' && !isWayBack ? 'Failed' : STATES[verdict]
}
