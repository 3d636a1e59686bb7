/**
 * The next step of a rollout: which clusters may have its revision now, how far each is, and what the rollout waits for. Pure,
 * without a clock: whoever carries the steps out keeps what a step returns and hands it in with the next one.
 *
 * Groups come in their order and begun clusters before others. A cluster takes a slot from its beginning until its content has
 * been healthy for `minSuccessTime`. A failed one frees its slot and counts against `maxFailures`. A cluster that is away takes
 * no slot, counts for nothing and blocks nothing; it is planned like others once it is back. One that falls silent after it began
 * is no such cluster: a revision may have cut it off. It keeps its slot over newer revisions, and fails at its deadline.
 */

import { someOf } from '../../apimachinery/someOf.ts'
import { compareTexts } from '../../apimachinery/values.ts'
import { clustersOf, groupsMatching, type RolloutStrategy, type Share } from './strategy.ts'
import { openWindow, windowText } from './windows.ts'

/**
 * Content of a cluster's own revision there; `unknown`: not processed yet. An altered, refused or degraded object has failed.
 * `paused`: all objects but paused ones are healthy, and nobody knows whether those are as the revision has them.
 */
export type ContentState = 'unknown' | 'progressing' | 'paused' | 'healthy' | 'failed'

/** One destination of the placement. */
export interface ClusterFacts {
  /** Unique among the destinations. */
  readonly key: string
  readonly name: string
  readonly inventory: string
  readonly labels: Readonly<Record<string, string>>
  /** The revision that it may have now; 0: none yet. */
  readonly revision: number
  readonly content: ContentState
  /** Since when the content is so, by the center's clock. */
  readonly contentSinceMs: number
  /** When its step to its revision began, in this rollout or in one before, if it has not been done with that since. */
  readonly beganMs?: number | undefined
  /** Whether it was `Done` in an earlier step of this rollout. */
  readonly wasDone?: boolean
  /** Silent, at a paused Location or leaving. */
  readonly away: boolean
  /** Away since nothing comes from it. Its content is the last that was known to have failed, or `unknown`. */
  readonly isSilent?: boolean
}

export interface RolloutFacts {
  readonly strategy: RolloutStrategy
  readonly target: number
  /** The newest finished revision before the target; 0: none. */
  readonly from: number
  readonly clusters: readonly ClusterFacts[]
  readonly nowMs: number
  readonly paused: boolean
  /** Names of approved groups. */
  readonly approvals: ReadonlySet<string>
  /** Past all stages and gates, and past a pause. */
  readonly urgent?: boolean
}

export type ClusterState =
  | 'Planned'
  | 'Running'
  | 'Waiting'
  | 'Paused'
  | 'Stuck'
  | 'Failed'
  | 'Done'
  | 'Superseded'
  | 'Skipped'

export interface ClusterStep {
  readonly state: ClusterState
  /** Name of its group; empty: it is in none. */
  readonly group: string
  readonly reason: string
  readonly message: string
  /** To be kept: they are never after now, so a clock that is set back makes no wait endless. */
  readonly contentSinceMs: number
  readonly beganMs: number | undefined
}

export type Verdict = 'running' | 'waiting' | 'paused' | 'stuck' | 'failed' | 'done' | 'rollback'

export interface Step {
  /** Keys of clusters that may have the target now. */
  readonly start: readonly string[]
  readonly states: ReadonlyMap<string, ClusterStep>
  readonly verdict: Verdict
  /** Reason of the wait or of the failure. */
  readonly reason: string
  readonly message: string
  /** When time alone may change the step. */
  readonly recheckAtMs: number | undefined
}

/** A cluster on its way for so long is called stuck where no deadline is set. */
export const STUCK_MS = 5 * 60_000

export function step(facts: RolloutFacts): Step {
  return new Stepping(facts).step()
}

type Progress = 'away' | 'planned' | 'halfway' | 'running' | 'stuck' | 'soaking' | 'done' | 'failed' | 'timedOut'

interface Seen {
  readonly cluster: ClusterFacts
  readonly group: number
  /** Groups after the first one that select it, too. */
  readonly others: readonly number[]
  readonly progress: Progress
  readonly contentSinceMs: number
  readonly beganMs: number | undefined
}

/** Groups whose clusters are taken together. The stages after it wait until all its clusters are done or have failed. */
export interface Stage {
  /** Positions; `groups.length` stands for the clusters that are in no group. */
  readonly groups: readonly number[]
  readonly maxFailures: Share
}

/** Stages in their order: mandatory groups one by one, then the others one by one or together. */
export function stagesOf({ type, groups, mandatory, maxFailures }: RolloutStrategy): Stage[] {
  const others = [...groups.keys(), groups.length].filter(group => !mandatory.includes(group))
  const together = type === 'ProgressivePerGroup' ? others.map(group => [group]) : [others]
  return [
    ...mandatory.map(group => ({ groups: [group], maxFailures: { count: 0 } })),
    ...together.map(groups => ({ groups, maxFailures })),
  ]
}

/** Clusters of a stage that may be on their way at once: `members` are in it, `there` in the rollout. */
export function slotsOf({ type, maxConcurrency }: RolloutStrategy, members: number, there: number): number {
  if (maxConcurrency === undefined) return there
  return clustersOf(maxConcurrency, type === 'ProgressivePerGroup' ? members : there)
}

/** Those that have neither finished nor failed with the target, or were on their way when another revision was superseded. */
const TAKES_SLOT: ReadonlySet<Progress> = new Set(['running', 'stuck', 'soaking', 'halfway'])
const ON_ITS_WAY: ReadonlySet<Progress> = new Set(['running', 'stuck', 'soaking'])
const HAS_FAILED: ReadonlySet<Progress> = new Set(['failed', 'timedOut'])
const NOT_BEGUN: ReadonlySet<Progress> = new Set(['planned', 'halfway'])
/** Neither done nor failed. */
const IS_OPEN: ReadonlySet<Progress> = NOT_BEGUN.union(ON_ITS_WAY)

type StageMembers = Stage & { readonly members: readonly Seen[] }

interface Reason {
  readonly reason: string
  readonly message: string
}

class Stepping {
  readonly #facts: RolloutFacts
  readonly #seen: readonly Seen[]
  readonly #start = new Set<string>()
  #recheckAtMs = Number.POSITIVE_INFINITY
  /** Why nothing more begins, where a stage holds. */
  #held: Reason | undefined
  #failed: Reason | undefined

  constructor(facts: RolloutFacts) {
    this.#facts = facts
    this.#seen = facts.clusters.map(cluster => this.#see(cluster)).sort(inOrder)
  }

  step(): Step {
    const there = this.#seen.filter(({ progress }) => progress !== 'away')
    const stages = stagesOf(this.#facts.strategy).map(stage => ({
      ...stage,
      members: there.filter(({ group }) => stage.groups.includes(group)),
    }))
    for (const stage of stages) this.#failed ??= this.#failure(stage)
    if (!this.#isStopped) {
      for (const stage of stages) {
        this.#begin(stage, there)
        if (stage.members.some(({ progress }) => IS_OPEN.has(progress)) && !this.#facts.urgent) break
      }
    }
    return {
      start: [...this.#start],
      states: new Map(this.#seen.map(seen => [seen.cluster.key, this.#stateOf(seen)])),
      ...this.#withOverlap(this.#verdict(there)),
      recheckAtMs: this.#recheckAtMs === Number.POSITIVE_INFINITY ? undefined : this.#recheckAtMs,
    }
  }

  get #isStopped(): boolean {
    return !this.#facts.urgent && (this.#failed !== undefined || this.#facts.paused)
  }

  #see(cluster: ClusterFacts): Seen {
    const { nowMs, strategy } = this.#facts
    // after a clock is set back, times of before lie ahead
    const contentSinceMs = Math.min(cluster.contentSinceMs, nowMs)
    const beganMs = this.#beganMs(cluster, contentSinceMs)
    const [group = strategy.groups.length, ...others] = groupsMatching(strategy, cluster.labels)
    return {
      cluster,
      group,
      others,
      contentSinceMs,
      beganMs,
      progress: this.#progress(cluster, contentSinceMs, beganMs),
    }
  }

  /** A cluster that was done, and whose content is not healthy any more, begins anew. One that is well waits for its turn. */
  #beganMs({ wasDone, content, away, beganMs, revision }: ClusterFacts, contentSinceMs: number): number | undefined {
    if (wasDone && content !== 'healthy' && !away) return contentSinceMs
    if (revision !== this.#facts.target && content === 'healthy' && !away) return undefined
    return beganMs === undefined ? undefined : Math.min(beganMs, this.#facts.nowMs)
  }

  /** Whether its revision may have cut it off. On the way back to the finished revision such a cluster holds up no other. */
  #isCutOff({ isSilent, revision, beganMs, wasDone }: ClusterFacts): boolean {
    const { target, from } = this.#facts
    if (isSilent !== true || beganMs === undefined || wasDone) return false
    return revision === target || target !== from
  }

  #progress(cluster: ClusterFacts, contentSinceMs: number, beganMs = contentSinceMs): Progress {
    const { target, from, strategy } = this.#facts
    const { revision, content, away, wasDone } = cluster
    const isCutOff = this.#isCutOff(cluster)
    if (away && !isCutOff) return 'away'
    if (revision !== target) {
      const hasBegun = cluster.beganMs !== undefined || (revision !== from && revision !== 0)
      return hasBegun && (content !== 'healthy' || isCutOff) ? 'halfway' : 'planned'
    }
    if (content === 'failed') return 'failed'
    if (content === 'healthy' && !isCutOff) {
      // health of an earlier revision counts for nothing
      const isDone = wasDone || this.#isPast(Math.max(contentSinceMs, beganMs) + strategy.minSuccessMs)
      return isDone ? 'done' : 'soaking'
    }
    const { progressDeadlineMs = STUCK_MS } = strategy
    if (!this.#isPast(beganMs + progressDeadlineMs)) return 'running'
    // somebody's pause is no failure of the content
    return strategy.progressDeadlineMs === undefined || content === 'paused' ? 'stuck' : 'timedOut'
  }

  /** Whether the time has come; else it is one at which to look again. */
  #isPast(atMs: number): boolean {
    if (this.#facts.nowMs >= atMs) return true
    this.#recheckAtMs = Math.min(this.#recheckAtMs, atMs)
    return false
  }

  #failure({ maxFailures, groups, members }: StageMembers): Reason | undefined {
    const failed = members.filter(({ progress }) => HAS_FAILED.has(progress))
    const allowed = clustersOf(maxFailures, members.length)
    if (failed.length <= allowed) return undefined
    const isOfGroup = groups.length === 1 && this.#facts.strategy.groups.length > 0
    const where = isOfGroup ? ` of ${this.#groupText(groups[0]!)}` : ''
    const message = `${failed.length} of ${members.length} clusters${where} failed and ${allowed} may: ${names(failed)}`
    return { reason: 'TooManyFailures', message }
  }

  #begin({ groups, members }: StageMembers, there: readonly Seen[]): void {
    const { strategy, urgent, target, from } = this.#facts
    const waiting = groups.flatMap(group => {
      const mine = members.filter(seen => seen.group === group && NOT_BEGUN.has(seen.progress))
      if (mine.length > 0 && !urgent) this.#held ??= this.#gate(group)
      return this.#held && !urgent ? [] : mine
    })
    const limit = urgent ? there.length : slotsOf(strategy, members.length, there.length)
    const count = (those: ReadonlySet<Progress>): number => there.filter(({ progress }) => those.has(progress)).length
    let [taken, onTheirWay] = [count(TAKES_SLOT), count(ON_ITS_WAY)]
    for (const { cluster, progress } of waiting) {
      // one that was left halfway has its slot already; content that was finished once may mend all of them together
      const isMending = progress === 'halfway' && (target === from || onTheirWay < limit)
      if (!isMending && taken >= limit) continue
      if (progress !== 'halfway') taken++
      onTheirWay++
      this.#start.add(cluster.key)
    }
    // clusters that are halfway and not on turn yet must not stop what mends them
    const isAnyOnItsWay = this.#start.size > 0 || there.some(({ progress }) => ON_ITS_WAY.has(progress))
    if (!isAnyOnItsWay && waiting[0]) this.#start.add(waiting[0].cluster.key)
  }

  /** The gate that is closed for a group whose clusters would begin. */
  #gate(position: number): Reason | undefined {
    const { strategy, approvals, nowMs } = this.#facts
    const group = strategy.groups[position]
    const text = this.#groupText(position)
    if (group?.approval && !approvals.has(group.name))
      return { reason: 'ApprovalRequired', message: `${text} waits for an approval` }
    for (const windows of [strategy.windows, group?.windows ?? []]) {
      const { isOpen, opensAtMs } = openWindow(windows, nowMs)
      if (isOpen) continue
      this.#isPast(opensAtMs ?? nowMs)
      return { reason: 'WindowClosed', message: `${text} waits for a window: ${windows.map(windowText).join('; ')}` }
    }
    return undefined
  }

  #verdict(there: readonly Seen[]): Reason & { verdict: Verdict } {
    const { paused, urgent, strategy } = this.#facts
    const those = (...among: Progress[]): Seen[] => there.filter(({ progress }) => among.includes(progress))
    const so = `${those('done').length} of ${there.length} clusters are done`
    if (this.#failed && !urgent)
      return { verdict: strategy.onFailure === 'Rollback' ? 'rollback' : 'failed', ...this.#failed }
    if (there.length === 0 && this.#seen.length > 0)
      return { verdict: 'waiting', reason: 'ClustersAway', message: `all ${this.#seen.length} clusters are away` }
    const isOver = !there.some(({ progress }) => IS_OPEN.has(progress))
    if (isOver && this.#failed) return { verdict: 'failed', ...this.#failed }
    if (isOver) return { verdict: 'done', reason: 'Done', message: so }
    if (paused && !urgent)
      return { verdict: 'paused', reason: 'RolloutPaused', message: `${so}; nothing begins until it is resumed` }
    if (this.#start.size > 0 || those('running').length > 0)
      return { verdict: 'running', reason: 'Progressing', message: so }
    const [soaking, stuck] = [those('soaking'), those('stuck')]
    if (soaking.length > 0)
      return {
        verdict: 'waiting',
        reason: 'MinSuccessTime',
        message: `${so}; these stay under watch: ${names(soaking)}`,
      }
    if (stuck.length > 0) {
      const remedy =
        'mend or resume them, edit the objects or undo; from the next edit on a progressDeadline counts those without a pause as failed'
      return {
        verdict: 'stuck',
        reason: 'NoProgress',
        message: `${so}; not healthy for long: ${names(stuck)}; ${remedy}`,
      }
    }
    return { verdict: 'waiting', ...(this.#held ?? NOT_ITS_TURN) }
  }

  #withOverlap<R extends Reason>(found: R): R {
    const twice = this.#seen.filter(({ others }) => others.length > 0)
    const [first] = twice
    if (!first) return found
    const groups = [first.group, ...first.others].map(position => this.#facts.strategy.groups[position]?.name)
    const overlap = `${twice.length} clusters are in several groups and count in the first, such as ${first.cluster.name} in ${groups.join(', ')}`
    return { ...found, message: `${found.message}; ${overlap}` }
  }

  #stateOf({ cluster, group, progress, contentSinceMs, beganMs }: Seen): ClusterStep {
    const { nowMs, paused, urgent, strategy } = this.#facts
    const name = strategy.groups[group]?.name ?? ''
    if (this.#start.has(cluster.key)) {
      // silence does not begin anew with each edit
      const isSilent = this.#isCutOff(cluster)
      const began = { group: name, contentSinceMs: nowMs, beganMs: isSilent ? beganMs : nowMs }
      return { ...REPORTED.running, ...(isSilent && CUT_OFF.running), ...began }
    }
    const kept = { group: name, contentSinceMs, beganMs }
    if (progress === 'away' && cluster.wasDone) return { ...DONE_AWAY, ...kept }
    if (!NOT_BEGUN.has(progress))
      return { ...REPORTED[progress], ...(this.#isCutOff(cluster) && CUT_OFF[progress]), ...kept }
    if (this.#failed && !urgent)
      return { state: 'Planned', reason: 'RolloutFailed', message: 'nothing begins any more', ...kept }
    if (paused && !urgent)
      return { state: 'Paused', reason: 'RolloutPaused', message: 'it begins when the rollout is resumed', ...kept }
    return { state: 'Planned', ...(this.#held ?? NOT_ITS_TURN), ...kept }
  }

  #groupText(position: number): string {
    const name = this.#facts.strategy.groups[position]?.name
    return name === undefined ? 'the clusters in no group' : `group ${JSON.stringify(name)}`
  }
}

/** Reason of a cluster that is away, and that no revision may have cut off. */
export const PASSED_OVER = 'ClusterAway'

const NOT_ITS_TURN: Reason = { reason: 'NotItsTurn', message: 'other clusters come first' }

const REPORTED: Readonly<Record<Progress, Reason & { readonly state: ClusterState }>> = {
  away: { state: 'Waiting', reason: PASSED_OVER, message: 'it is planned once its cluster is back' },
  planned: { state: 'Planned', ...NOT_ITS_TURN },
  halfway: { state: 'Planned', ...NOT_ITS_TURN },
  running: { state: 'Running', reason: 'Progressing', message: 'its content is not healthy yet' },
  stuck: {
    state: 'Stuck',
    reason: 'NoProgress',
    message: 'its content is not healthy for long: it is paused there, or this rollout began without a deadline',
  },
  soaking: { state: 'Waiting', reason: 'MinSuccessTime', message: 'its content is healthy, and stays under watch' },
  done: { state: 'Done', reason: 'Healthy', message: '' },
  failed: { state: 'Failed', reason: 'ContentFailed', message: 'its content is refused, altered or degraded there' },
  timedOut: { state: 'Stuck', reason: 'ProgressDeadlineExceeded', message: 'its content was not healthy in time' },
}

/** It stays done, so that it has its time anew when it is back. */
const DONE_AWAY: Reason & { readonly state: ClusterState } = {
  state: 'Done',
  reason: PASSED_OVER,
  message: 'it was done before its cluster went away',
}

/** Reasons for a cluster that fell silent after it began. */
const CUT_OFF: Partial<Record<Progress, Reason>> = {
  running: { reason: 'ClusterSilent', message: 'its cluster fell silent after it began, and keeps its place' },
  stuck: {
    reason: 'ClusterSilent',
    message: 'its cluster fell silent after it began, and keeps its place: mend, pause or remove it, or undo',
  },
  timedOut: {
    reason: 'ProgressDeadlineExceeded',
    message: 'its cluster fell silent after it began, and did not come back in time',
  },
}

/** Names in a message. */
const SHOWN = 5

function names(clusters: readonly Seen[]): string {
  const shown = clusters.slice(0, SHOWN).map(({ cluster }) => `${cluster.name}${cluster.away ? ' (silent)' : ''}`)
  return someOf(shown, SHOWN, clusters.length)
}

/** By group, those left halfway first, then by name. */
function inOrder(a: Seen, b: Seen): number {
  const rank = ({ progress }: Seen): number => (progress === 'halfway' ? 0 : 1)
  return (
    a.group - b.group ||
    rank(a) - rank(b) ||
    compareTexts(a.cluster.name, b.cluster.name) ||
    compareTexts(a.cluster.key, b.cluster.key)
  )
}
