/**
 * Types of space: which of Orrery's own kinds a space serves, and which children it may have. Kubernetes' kinds and a space's
 * own definitions are served everywhere. Shared by all spaces of a type, never copied.
 */
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'
import { LOGICAL_CLUSTERS, WORKSPACES } from '../../apimachinery/resources.ts'
import { PLACEMENT_PREVIEWS } from '../desks/placementPreview.ts'
import {
  CLUSTER_WORK_STATUSES,
  COMBINED_STATUSES,
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  EDGE_SYNC_CONFIGS,
  GRANTED_LOCATIONS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  NOTICE_SINKS,
  PLACEMENT_CONTENTS,
  PLACEMENT_GRANTS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SLICES,
  STATUS_COLLECTORS,
  SYNC_TARGETS,
  SYNCER_CONFIGS,
  WORK_STATUSES,
} from '../words/placement.ts'

export interface SpaceType {
  readonly name: string
  /** Types that a child may have. The first is that of a child that names none; without any there are no children. */
  readonly children: readonly string[]
  /** Names (`resource.group`) of those of Orrery's kinds that it serves; absent: all. */
  readonly serves?: ReadonlySet<string>
  /** Whether it describes workload: what acts elsewhere is inert there. */
  readonly describes: boolean
  /** Whether RBAC and ServiceAccounts act there although it describes workload. */
  readonly identitiesAct?: boolean
}

const INVENTORY_KINDS = [SYNC_TARGETS, LOCATIONS, PLACEMENT_GRANTS, NOTICE_SINKS]
const WORKLOAD_KINDS = [
  ...[EDGE_PLACEMENTS, SLICES, CUSTOMIZERS, INVENTORY_BINDINGS, GRANTED_LOCATIONS, PLACEMENT_PREVIEWS],
  ...[WORK_STATUSES, CLUSTER_WORK_STATUSES, STATUS_COLLECTORS, COMBINED_STATUSES],
  ...[PLACEMENT_REVISIONS, PLACEMENT_CONTENTS, PLACEMENT_ROLLOUTS, NOTICE_SINKS],
]
const MAILBOX_KINDS = [SYNCER_CONFIGS, EDGE_SYNC_CONFIGS]
const WORKLOADS = ['workload', 'workload-rbac']

/** In which space all types are defined. */
export const TYPES_PATH = 'root'

export const UNIVERSAL: SpaceType = {
  name: 'universal',
  children: ['universal', 'inventory', ...WORKLOADS],
  describes: false,
}

const ALL: readonly SpaceType[] = [
  UNIVERSAL,
  {
    name: 'inventory',
    children: ['inventory'],
    serves: names(LOGICAL_CLUSTERS, WORKSPACES, ...INVENTORY_KINDS),
    describes: false,
  },
  {
    name: 'workload',
    children: WORKLOADS,
    serves: names(LOGICAL_CLUSTERS, WORKSPACES, ...WORKLOAD_KINDS),
    describes: true,
  },
  {
    name: 'workload-rbac',
    children: WORKLOADS,
    serves: names(LOGICAL_CLUSTERS, WORKSPACES, ...WORKLOAD_KINDS),
    describes: true,
    identitiesAct: true,
  },
  { name: 'core', children: ['mailbox'], serves: names(LOGICAL_CLUSTERS, WORKSPACES), describes: false },
  { name: 'mailbox', children: [], serves: names(LOGICAL_CLUSTERS, ...MAILBOX_KINDS), describes: false },
]

export const SPACE_TYPES: ReadonlyMap<string, SpaceType> = new Map(ALL.map(type => [type.name, type]))

/** Type that a Workspace's `spec.type.name` gives; without a type it is universal. */
export function spaceType(name: string): SpaceType {
  return SPACE_TYPES.get(name) ?? UNIVERSAL
}

export function serves({ serves }: SpaceType, kind: GroupResource): boolean {
  return serves === undefined || serves.has(groupResourceName(kind))
}

function names(...kinds: readonly GroupResource[]): ReadonlySet<string> {
  return new Set(kinds.map(groupResourceName))
}
