/**
 * Rights of the ClusterRoles `admin`, `edit` and `view` on Orrery's own kinds, beside those on Kubernetes'. A viewer of a space sees where
 * its workload goes; an editor places and describes clusters. Consent between a workload space and an inventory is for administrators: it
 * decides for all users there. No role writes NoticeSinks, as none writes webhooks: the server connects to where these lead. Nobody writes
 * by these roles what the center alone writes; of revisions and rollouts that is all but what the server leaves to people.
 */
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'
import { PLACEMENT_PREVIEWS } from '../desks/placementPreview.ts'
import {
  CLUSTER_WORK_STATUSES,
  COMBINED_STATUSES,
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  GRANTED_LOCATIONS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  NOTICE_SINKS,
  PLACEMENT_GRANTS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SLICES,
  STATUS_COLLECTORS,
  SYNC_TARGETS,
  WORK_STATUSES,
} from '../words/placement.ts'

interface KindRights {
  readonly group: string
  /** With sub-resources. */
  readonly resources: readonly string[]
  readonly verbs: 'read' | 'write' | 'approve' | 'ask'
}

/** Written by the center alone. */
const REPORTED = [SLICES, GRANTED_LOCATIONS, WORK_STATUSES, CLUSTER_WORK_STATUSES, COMBINED_STATUSES]
const EDITED = [EDGE_PLACEMENTS, CUSTOMIZERS, STATUS_COLLECTORS, LOCATIONS, SYNC_TARGETS]
const STAGED = [PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS]
const CONSENT = [INVENTORY_BINDINGS, PLACEMENT_GRANTS]
const WITH_STATUS: ReadonlySet<string> = new Set(
  [EDGE_PLACEMENTS, LOCATIONS, SYNC_TARGETS, PLACEMENT_ROLLOUTS, ...CONSENT].map(groupResourceName),
)

/** By the role that they are added to. `edit` holds what `view` does, `admin` what `edit` does. */
export const OWN_KIND_RIGHTS: Readonly<Record<'admin' | 'edit' | 'view', readonly KindRights[]>> = {
  admin: [rights('write', CONSENT), rights('read', [NOTICE_SINKS]), rights('approve', [PLACEMENT_ROLLOUTS])],
  edit: [rights('write', [...EDITED, ...STAGED])],
  // each object of a preview takes the rights of its own
  view: [rights('read', [...REPORTED, ...EDITED, ...STAGED, ...CONSENT]), rights('ask', [PLACEMENT_PREVIEWS])],
}

function rights(verbs: KindRights['verbs'], kinds: readonly GroupResource[]): KindRights {
  const resources = kinds.flatMap(kind =>
    verbs === 'read' && WITH_STATUS.has(groupResourceName(kind))
      ? [kind.resource, `${kind.resource}/status`]
      : kind.resource,
  )
  return { group: kinds[0]!.group, resources: resources.sort(), verbs }
}
