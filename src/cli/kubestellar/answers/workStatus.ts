/** Outcome of one object in one cluster (WorkStatus), as the commands use it. Pure. */
import { at, num, objects, str, strings } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { COPY_STATES, factsOf } from '../../../placement/outcome/copyStates.ts'
import type { Whereabouts } from './clusters.ts'

/** State of one object in one cluster. */
export interface ClusterState {
  /** Name of the GrantedLocation, with its SyncTarget where that has another name than the Location. */
  readonly location: string
  readonly placements: readonly string[]
  readonly state: string
  readonly reason?: string
  readonly message?: string
  /** RFC 3339. */
  readonly since?: string
  readonly health?: string
  readonly healthMessage?: string
  /** Fields that the cluster does not hold as they were sent. */
  readonly differences?: readonly Readonly<Record<string, unknown>>[]
  /** The generation of the object that the cluster was given. */
  readonly generation?: number
  /** Its resourceVersion. */
  readonly sourceResourceVersion?: string
}

/** Whether nothing is left to be done there. */
export function isDone({ state }: Pick<ClusterState, 'state'>): boolean {
  return factsOf(state)?.count === 'applied'
}

/** Failures first, running but unhealthy objects next, healthy ones last. */
export function rankOf({ state, health }: Pick<ClusterState, 'state' | 'health'>): number {
  const { rank, count } = factsOf(state) ?? COPY_STATES.Unknown
  if (count !== 'applied') return rank
  return BEYOND + (health === 'Degraded' ? 0 : health === 'Progressing' ? 1 : health === 'Unknown' ? 2 : 3)
}

const BEYOND = COPY_STATES.Applied.rank + 1

export function readWorkStatus(object: KubeObject): ClusterState {
  const texts: Partial<Record<'reason' | 'message' | 'since' | 'health' | 'healthMessage', string>> = {}
  for (const field of ['reason', 'message', 'since', 'health', 'healthMessage'] as const) {
    const text = str(object, 'status', field)
    if (text !== '') texts[field] = text
  }
  const differences = objects(object.status, 'differences')
  const generation = num(object, 'status', 'generation')
  const sourceResourceVersion = str(object, 'status', 'sourceResourceVersion')
  return {
    location: locationOf(object),
    placements: strings(object, 'spec', 'placements'),
    state: str(object, 'status', 'state') || 'Unknown',
    ...texts,
    ...(differences.length > 0 && { differences }),
    ...(generation > 0 && { generation }),
    ...(sourceResourceVersion !== '' && { sourceResourceVersion }),
  }
}

/** `<location>:<resource>:<object>`; names of Locations have no colon. */
function locationOf({ metadata, spec }: KubeObject): string {
  const name = metadata.name ?? ''
  const colon = name.indexOf(':')
  return colon < 0 ? str(at(spec, 'location'), 'name') || name : name.slice(0, colon)
}

/** `undefined` where the server does not say. */
export function whereaboutsOf({ spec }: KubeObject): Whereabouts | undefined {
  const at = (field: string): string => str(spec, 'location', field)
  return at('name') === ''
    ? undefined
    : { inventory: at('cluster'), location: at('name'), syncTarget: at('syncTarget') }
}
