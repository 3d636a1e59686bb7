/** How far the newest rollout of a placement is, cluster by cluster, and the command that moves those on that wait. Pure. */
import { at, num, records, str } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { someOf } from '../../../../apimachinery/someOf.ts'
import { NOT_STAGED } from '../../../../placement/rollout/rolloutStates.ts'
import { ago, type Colour, type Paint } from '../../../shell/output.ts'
import type { Place } from '../destinations.ts'

interface StagedCluster {
  readonly location: string
  readonly group?: string
  /** The revision that it may have now; 0: none yet. */
  readonly revision: number
  readonly state: string
  readonly reason?: string
  readonly message?: string
  /** A command that moves it on. Absent: it goes on by itself, or is done. */
  readonly remedy?: string
}

export interface StagesAnswer {
  readonly revision: number
  /** The revision at which clusters are held. */
  readonly pinned?: number
  readonly by: string
  /** RFC 3339. */
  readonly at: string
  readonly state: string
  readonly message: string
  readonly clusters: readonly StagedCluster[]
}

interface Staged {
  /** PlacementRollouts and PlacementRevisions of the space. */
  readonly rollouts: readonly KubeObject[]
  readonly revisions: readonly KubeObject[]
  /** By the inventory and the name of a Location; `undefined`: nobody asks about it. */
  placeOf(inventory: string, location: string): Place | undefined
}

/** @param name of the placement; `undefined`: it has no rollout */
export function stagesOf(name: string, { rollouts, revisions, placeOf }: Staged): StagesAnswer | undefined {
  const own = rollouts.filter(({ spec }) => str(spec, 'placement') === name)
  const newest = own.reduce<KubeObject | undefined>(
    (last, one) => (num(one.spec, 'run') > num(last?.spec, 'run') ? one : last),
    own[0],
  )
  if (!newest || str(newest.status, 'reason') === NOT_STAGED) return undefined
  const { spec, status } = newest
  const pins = revisions.filter(one => str(one.spec, 'placement') === name && at(one.spec, 'pinned') === true)
  const pinned = Math.max(0, ...pins.map(one => num(one.spec, 'revision')))
  const clusters = records(status, 'clusters').flatMap((one): StagedCluster[] => {
    const place = placeOf(str(one, 'inventory'), str(one, 'cluster'))
    if (!place || str(one, 'state') === 'Skipped') return []
    const [group, reason, message] = [str(one, 'group'), str(one, 'reason'), str(one, 'message')]
    const remedy = remedyFor(name, reason, group)
    return [
      {
        location: place.location,
        ...(group && { group }),
        revision: num(one, 'revision'),
        state: str(one, 'state'),
        ...(reason && { reason }),
        ...(message && { message }),
        ...(remedy && { remedy }),
      },
    ]
  })
  return {
    revision: num(spec, 'revision'),
    ...(pinned > 0 && { pinned }),
    by: str(spec, 'by'),
    at: str(spec, 'at'),
    state: str(status, 'state') || 'Running',
    message: str(status, 'message'),
    clusters,
  }
}

const ROLLOUT = 'kubectl kubestellar rollout'

function remedyFor(name: string, reason: string, group: string): string {
  switch (reason) {
    case 'ApprovalRequired':
      return `${ROLLOUT} approve ${name} --group ${group}`
    case 'RolloutPaused':
      return `${ROLLOUT} resume ${name}`
    case 'WindowClosed':
      return `${ROLLOUT} expedite ${name}`
    case 'RolloutFailed':
    case 'ContentFailed':
    case 'ProgressDeadlineExceeded':
    case 'NoProgress':
    case 'ClusterSilent':
      return `${ROLLOUT} undo ${name}`
    default:
      return ''
  }
}

/** Names in a line; `-o wide` shows all. */
const FEW = 5

const COLOURS: Readonly<Record<string, Colour>> = { Failed: 'bad', Stuck: 'bad', Done: 'good' }

interface Shown {
  readonly wide: boolean
  readonly paint: Paint
  readonly nowMs: number
}

/** Clusters of which the same is true share a line. */
export function stagesText(name: string, stages: StagesAnswer, { wide, paint, nowMs }: Shown): string[] {
  const { revision, pinned, by, at, state, message, clusters } = stages
  const when = at === '' ? '' : `, ${ago(at, nowMs)} ago`
  const lines = [`  revision ${revision}${by && ` by ${by}`}${when}: ${state}${message && `: ${message}`}`]
  const groups = new Map<string, StagedCluster[]>()
  for (const one of clusters) {
    const key = JSON.stringify([one.revision, one.state, one.reason, one.group, one.message])
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  for (const some of groups.values()) {
    const { revision: has, state, group, message, remedy } = some[0]!
    const named = someOf(
      some.map(({ location }) => location),
      wide ? some.length : FEW,
    )
    const of = group === undefined ? '' : ` (group ${group})`
    const what = [paint(state, COLOURS[state] ?? 'warn'), message].filter(text => text).join(': ')
    lines.push(`    ${named}${of}: ${has === 0 ? 'no revision' : `revision ${has}`}, ${what}`)
    if (remedy !== undefined) lines.push(`      ${remedy}`)
  }
  if (pinned !== undefined)
    lines.push(`    pinned at revision ${pinned}: ${ROLLOUT} unpin ${name} lets later ones come`)
  return lines
}
