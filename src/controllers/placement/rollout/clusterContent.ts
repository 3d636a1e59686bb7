/** How a placement's content does in one cluster: the content that the cluster may have now, and never that of an earlier revision. */
import { UNREPORTED } from '../../../placement/outcome/clusterOutcome.ts'
import { type CopyVerdict, healthIn } from '../../../placement/outcome/copyState.ts'
import { COPY_STATES, type CopyCount } from '../../../placement/outcome/copyStates.ts'
import type { ContentState } from '../../../placement/rollout/step.ts'
import { describeObject, parseObjectKey } from '../../../placement/words/names.ts'
import type { LeadContent } from '../join/leadContent.ts'
import type { CopyHealth } from '../mailboxes/copyHealth.ts'
import type { Pauses } from '../retention/pauses.ts'
import { type SightedMailbox, SpaceCluster, type SpaceClusterDeps } from '../status/spaceCluster.ts'

export interface ClusterContentDeps extends SpaceClusterDeps {
  health: (mailbox: string) => Pick<CopyHealth, 'of'> | undefined
  isLeaving: (mailbox: string) => boolean
  pauses: Pick<Pauses, 'locationOf' | 'holdsCopy'>
}

export interface ClusterContent {
  readonly content: ContentState
  /** No report of its syncer came in this run: it may be silent, or about to report. */
  readonly isUnreported?: true
  /** Silent, at a paused Location or leaving. */
  readonly isAway: boolean
  /** It is away since nothing comes from it. */
  readonly isSilent?: true
  /** About the object that decides. */
  readonly message: string
}

const AWAY: ClusterContent = { content: 'unknown', isAway: true, message: '' }

const SILENT: ClusterContent = { ...AWAY, isSilent: true }

/** From the best to the worst. */
const RANK: Readonly<Record<ContentState, number>> = {
  healthy: 0,
  paused: 1,
  progressing: 2,
  unknown: 3,
  failed: 4,
}

/** By the count that a copy's state belongs to. */
const CONTENT: Readonly<Record<CopyCount, ContentState>> = {
  applied: 'healthy',
  pending: 'unknown',
  stale: 'unknown',
  notPlaced: 'failed',
  conflict: 'failed',
  refused: 'failed',
  retrying: 'progressing',
  altered: 'failed',
  waiting: 'progressing',
  unknown: 'progressing',
  held: 'paused',
  paused: 'paused',
}

export interface ClusterQuestion {
  readonly space: string
  readonly mailbox: string
  readonly content: LeadContent
  /** Keys that the cluster may have had before. */
  readonly former: Iterable<string>
  /** Whether the content is to be looked at: else it is known only whether the cluster is away. */
  readonly looks: boolean
}

/** A cluster that is away; `undefined`: it is there. */
export function clusterAway(deps: ClusterContentDeps, mailbox: string): ClusterContent | undefined {
  if (deps.isLeaving(mailbox) || deps.pauses.locationOf(mailbox) !== undefined) return AWAY
  const known = deps.mailbox(mailbox)
  const outcome = known && deps.outcome(known.space)
  if (outcome === undefined || outcome === UNREPORTED) return { ...SILENT, isUnreported: true }
  return outcome.live && !outcome.unreachable ? undefined : SILENT
}

export function clusterContent(deps: ClusterContentDeps, question: ClusterQuestion): ClusterContent {
  const { space, mailbox, content, looks } = question
  const away = clusterAway(deps, mailbox)
  if (away) return away
  if (!looks) return { content: 'unknown', isAway: false, message: '' }
  const known = deps.mailbox(mailbox)
  const outcome = deps.outcome(known!.space)
  const cluster = new SpaceCluster(deps, space, mailbox)
  let found = formerIn(known!, question, deps)
  let message = found === 'healthy' ? '' : 'objects that left the placement are still there'
  for (const key of content.keys()) {
    // a grant keeps it out there, whatever the revision
    if (!deps.join.brings(space, mailbox, key)) continue
    const verdict = cluster.verdict(key)
    const state = contentOf(verdict, () =>
      healthIn(verdict, deps.health(mailbox)?.of(key), outcome.exceptions.get(key)?.health),
    )
    if (RANK[state.content] <= RANK[found]) continue
    found = state.content
    message = `${describeObject(parseObjectKey(key))}: ${state.message}`
    if (found === 'failed') break
  }
  return { content: found, isAway: false, message }
}

/** The state of what the content has no more; `healthy`: the cluster holds nothing of it. */
function formerIn(
  known: SightedMailbox,
  { space, mailbox, content, former }: ClusterQuestion,
  { join, pauses }: ClusterContentDeps,
): ContentState {
  let found: ContentState = 'healthy'
  for (const key of former) {
    if (content.get(key)) continue
    if (known.changes.hasDeparted(key)) return 'unknown'
    if (!known.copies.has(key) || known.ownerOf(key) !== space || join.brings(space, mailbox, key)) continue
    if (!pauses.holdsCopy(mailbox, key, space)) return 'unknown'
    found = 'paused'
  }
  return found
}

function contentOf(
  verdict: CopyVerdict,
  health: () => ReturnType<typeof healthIn>,
): { content: ContentState; message: string } {
  const content = CONTENT[COPY_STATES[verdict.state].count]
  if (content !== 'healthy') return { content, message: verdict.message || verdict.reason }
  const found = health()
  if (found?.health === 'Degraded') return { content: 'failed', message: found.message }
  if (found?.health === 'Progressing') return { content: 'progressing', message: found.message }
  return { content, message: '' }
}
