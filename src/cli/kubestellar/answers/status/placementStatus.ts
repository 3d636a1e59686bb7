/** The first stage at which a placement is not well, from its conditions and counts. */
import { at, num, objects, str, strings } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { COUNT_NAMES, type OutcomeCounts } from '../../../../placement/outcome/copyStates.ts'
import { namedOf } from '../brokenPlaces.ts'
import type { Clusters } from '../clusters.ts'
import type { Known } from '../known.ts'
import { whereaboutsOf } from '../workStatus.ts'
import type { Trouble } from './clusterStatus.ts'

/** `deletionHeld`: of the plan of the space that the brake holds; none of `copies`. */
type Counts = OutcomeCounts & { readonly deletionHeld: number }

export interface PlacementStatus {
  /** Path, where the answer is about several. */
  readonly space?: string
  readonly name: string
  readonly trouble: Trouble
  /** The first stage at which it is not well, in its own word; `Healthy` or `Applied` where all is. */
  readonly state: string
  readonly message?: string
  /** Since when that stage is so; RFC 3339. */
  readonly since?: string
  readonly counts: Counts
}

const COUNTS = [
  ...['clusters', 'objects', 'copies'],
  ...COUNT_NAMES,
  ...['deletionHeld', 'healthy', 'progressing', 'degraded', 'differing'],
]

/** Conditions in the order of the stages, with the status that is well and how bad another one is. */
const STAGES = [
  { type: 'IntakeWaits', good: 'False', state: 'IntakeWaits' },
  { type: 'DeletionHeld', good: 'False', state: 'DeletionHeld' },
  { type: 'Resolved', good: 'True' },
  { type: 'Permitted', good: 'True' },
  { type: 'Applied', good: 'True' },
  { type: 'Projected', good: 'True' },
  { type: 'Placed', good: 'True' },
  { type: 'Healthy', good: 'True' },
  { type: 'Scheduled', good: 'True' },
  { type: 'RestoreUnsettled', good: 'False', state: 'RestoreUnsettled' },
  { type: 'Paused', good: 'False', state: 'Paused' },
] as const
/** Reasons for which nobody has to do anything yet. */
const PASSING: ReadonlySet<string> = new Set([
  'Pending',
  'Projecting',
  'Stale',
  'Waiting',
  'Progressing',
  'TooMuchTrouble',
  'IntakeWaits',
  'NotResolved',
  'Unschedulable',
  'Paused',
  'Held',
  'NotApplied',
])

export function placementStatus({ metadata, spec, status }: KubeObject): PlacementStatus {
  const name = metadata.name ?? ''
  const counts = Object.fromEntries(COUNTS.map(field => [field, num(status, 'counts', field)])) as unknown as Counts
  const conditions = objects(status, 'conditions')
  if (conditions.length === 0) return { name, trouble: 'warn', state: 'Pending', message: NOTHING_REPORTED, counts }
  for (const stage of STAGES) {
    let found = conditions.find(({ type }) => type === stage.type)
    if (!found || found.status === stage.good) continue
    // a placement that leads nowhere because its clusters refuse all reports that
    if (stage.type === 'Resolved') found = conditions.find(isKeptOut) ?? found
    const state = 'state' in stage ? stage.state : str(found, 'reason') || stage.type
    const [message, since] = [str(found, 'message'), str(found, 'lastTransitionTime')]
    const words = { ...(message !== '' && { message }), ...(since !== '' && { since }) }
    return { name, trouble: PASSING.has(state) ? 'warn' : 'bad', state, ...words, counts }
  }
  if (!isOfThisSpec(metadata, status)) return { name, trouble: 'warn', state: 'Pending', message: SPEC_BEFORE, counts }
  if (counts.objects === 0 && objects(spec, 'downsync').length > 0 && selectsNothing(conditions)) {
    return { name, trouble: 'warn', state: 'NothingSelected', message: NOTHING_SELECTED, counts }
  }
  const last = conditions.find(({ type }) => type === 'Healthy') ?? conditions.find(({ type }) => type === 'Applied')
  const [state, since] = [str(last, 'type') || 'Applied', str(last, 'lastTransitionTime')]
  return { name, trouble: 'none', state, ...(since !== '' && { since }), counts }
}

/** The condition counts what makes progress; WorkStatuses name it. */
export function namingProgress(
  one: PlacementStatus,
  progressing: Known | undefined,
  clusters: Clusters,
): PlacementStatus {
  if (one.state !== 'Progressing') return one
  const first = progressing?.items.find(({ spec }) => strings(spec, 'placements').includes(one.name))
  const where = first && whereaboutsOf(first)
  if (!where) return one
  const named = namedOf(at(first.spec, 'sourceRef'), str(first.status, 'healthMessage') || 'it makes progress')
  return { ...one, message: `${one.message}; at ${clusters.labelOf(where)}, ${named}` }
}

/** The message of a placement without a status: its counts are none. */
export const NOTHING_REPORTED = 'nothing is reported of it yet'

const NOTHING_SELECTED =
  'no object of this space passes spec.downsync: kubectl kubestellar why KIND/NAME says what one of them lacks'

function isKeptOut({ type, status }: Readonly<Record<string, unknown>>): boolean {
  return type === 'Scheduled' && status === 'False'
}

const SPEC_BEFORE = 'the report is still about its former spec'

/** Whether the status concerns the placement as it is now. */
function isOfThisSpec({ generation }: KubeObject['metadata'], status: unknown): boolean {
  const observed = num(status, 'observedGeneration')
  return observed === 0 || generation === undefined || observed === generation
}

function selectsNothing(conditions: readonly Readonly<Record<string, unknown>>[]): boolean {
  return conditions.some(({ type, reason }) => type === 'Applied' && reason === 'NothingSelected')
}
