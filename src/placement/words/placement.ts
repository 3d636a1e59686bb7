/**
 * The words of placement, which controllers, syncer and command line share: kinds, marks on objects, and what a mailbox is.
 *
 * A mailbox is a child of the mailbox parent with a mailbox's name. The place in the tree decides, and nothing inside a space. Only
 * administrators make children of the mailbox parent, names never change, and an id is given once. So no syncer or tenant makes a mailbox
 * of another space, or another space of its mailbox.
 */
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'

export const EDGE_GROUP = 'edge.kubestellar.io'
const VERSION = 'v2alpha1'
export const EDGE_API_VERSION = `${EDGE_GROUP}/${VERSION}`

const edge = (resource: string): GroupVersionResource => ({ group: EDGE_GROUP, version: VERSION, resource })
export const EDGE_PLACEMENTS = edge('edgeplacements')
export const SLICES = edge('singleplacementslices')
export const LOCATIONS = edge('locations')
export const SYNC_TARGETS = edge('synctargets')
export const CUSTOMIZERS = edge('customizers')
/** In an inventory space: who may place there what. */
export const PLACEMENT_GRANTS = edge('placementgrants')
/** In a workload space: which inventory it uses. */
export const INVENTORY_BINDINGS = edge('inventorybindings')
/** In a workload space, written by the center only: a Location that it may place on. */
export const GRANTED_LOCATIONS = edge('grantedlocations')
/** On a work status: the name of the GrantedLocation by which its cluster was chosen. */
export const LOCATION_LABEL = `${EDGE_GROUP}/location`
/** Prefix of a work status, once for each Location that leads to its cluster; the GrantedLocation's name follows. */
export const LOCATION_LABELS = `location.${EDGE_GROUP}/`
/** In a workload space, answered and not stored: what became of each object in each cluster. */
export const WORK_STATUSES: GroupVersionResource = { ...edge('workstatuses'), version: 'v1alpha1' }
export const CLUSTER_WORK_STATUSES: GroupVersionResource = { ...edge('clusterworkstatuses'), version: 'v1alpha1' }
/** In a workload space: a question about objects over many clusters. */
export const STATUS_COLLECTORS: GroupVersionResource = { ...edge('statuscollectors'), version: 'v1alpha1' }
/** In a workload space, answered and not stored: the answers to it. */
export const COMBINED_STATUSES: GroupVersionResource = { ...edge('combinedstatuses'), version: 'v1alpha1' }
/** In a workload space, written by the center: what a placement wanted at a time. */
export const PLACEMENT_REVISIONS: GroupVersionResource = { ...edge('placementrevisions'), version: 'v1alpha1' }
/** In a workload space, the center's alone: one object as it is in a run of revisions. */
export const PLACEMENT_CONTENTS: GroupVersionResource = { ...edge('placementcontents'), version: 'v1alpha1' }
/** In a workload space, written by the center: how a revision comes to the clusters. */
export const PLACEMENT_ROLLOUTS: GroupVersionResource = { ...edge('placementrollouts'), version: 'v1alpha1' }
/** In a workload or inventory space: where Events about placement are sent. */
export const NOTICE_SINKS: GroupVersionResource = { ...edge('noticesinks'), version: 'v1alpha1' }
export const SYNCER_CONFIGS = edge('syncerconfigs')
export const EDGE_SYNC_CONFIGS = edge('edgesyncconfigs')
/** The component that decides where objects go; it alone tells what came of bindings and grants. */
export const WHERE_RESOLVER = 'where-resolver'
/** The components that carry objects to other places: what holds where they write does not bind them. */
export const MAILBOX_CONTROLLER = 'mailbox-controller'
export const PLACEMENT_TRANSLATOR = 'placement-translator'

export const CARRIERS: readonly string[] = [WHERE_RESOLVER, MAILBOX_CONTROLLER, PLACEMENT_TRANSLATOR]

/**
 * On a SyncerConfig, by the center: what is to be carried down is what was projected into the mailbox, and is not listed beside that.
 * Readers of anything but stored configs get the lists, without this.
 */
export const CARRIES_ANNOTATION = `${EDGE_GROUP}/carries`
export const CARRIES_PROJECTED = 'projected'

/** The one SyncerConfig that the center keeps in each mailbox. */
export const SYNCER_CONFIG_NAME = 'the-one'

/** On a SinglePlacementSlice: its EdgePlacement's name, or the beginning of that and a hash. */
export const PLACEMENT_LABEL = `${EDGE_GROUP}/edge-placement`

/**
 * On the center's objects in a mailbox, and on their form in a cluster. Children there may inherit it: it proves no ownership.
 */
export const PROJECTED_LABEL = `${EDGE_GROUP}/projected`
export const PROJECTED_VALUE = 'yes'
/** On the copy: which keys and fields came from the source, so that their removal reaches the copy too. */
export const PROJECTED_KEYS_ANNOTATION = `${EDGE_GROUP}/projected-keys`
/**
 * On the copy: id of the space whose object it is. A later placement of that name waits until that claim ends. In a cluster, where
 * requested: the space in whose name it was applied.
 */
export const OWNER_ANNOTATION = `${EDGE_GROUP}/owner`
/** On the copy, RFC 3339: since when it is that space's, where it was another's before. */
export const OWNED_SINCE_ANNOTATION = `${EDGE_GROUP}/owned-since`
/** On the copy, JSON: those owners of the object that go to the same cluster. */
export const OWNER_REFERENCES_ANNOTATION = `${EDGE_GROUP}/owner-references`
/** On the copy, JSON: pointers to the fields that are left to the cluster once the object is there. */
export const LEFT_FIELDS_ANNOTATION = `${EDGE_GROUP}/left-fields`
/** On copies in mailboxes: wishes for associated objects, as JSON. */
export const ASSOCIATED_ANNOTATION = `${EDGE_GROUP}/associated`

/** On a report of a cluster, JSON: fields that the cluster does not hold as they were sent, with both values. */
export const DIFFERENCES_ANNOTATION = `${EDGE_GROUP}/differences`
/** On a report of a cluster, JSON: live values of fields that are left to the cluster. */
export const LIVE_FIELDS_ANNOTATION = `${EDGE_GROUP}/live-fields`
/** On a report of a cluster, RFC 3339: the time of the last word of the cluster, while it is silent. */
export const SILENT_SINCE_ANNOTATION = `${EDGE_GROUP}/silent-since`

/**
 * On the copy of a definition, "true": nobody placed it, it came along with objects of its kind. In a cluster it is made where
 * there is none, and never takes the place of another one.
 */
export const IMPLIED_ANNOTATION = `${EDGE_GROUP}/implied`

/** On the object in the WDS: whether its text is a template for each destination, and which Customizer changes it. */
export const EXPAND_ANNOTATION = `${EDGE_GROUP}/expand-parameters`
export const CUSTOMIZER_ANNOTATION = `${EDGE_GROUP}/customizer`
/** On the object in the WDS: what went wrong while it was customized. Never projected. */
export const CUSTOMIZATION_ERROR_ANNOTATION = `${EDGE_GROUP}/customization-error`
/** On the object in the WDS: where another space owns the object of that name. Never projected. */
export const CONFLICT_ANNOTATION = `${EDGE_GROUP}/object-conflict`
/** On the object in the WDS: id or path of the space that is to own it wherever both spaces place it. */
export const HAND_OVER_ANNOTATION = `${EDGE_GROUP}/hand-over-to`
/** On a SyncTarget: ids or paths of spaces, comma-separated, that give way there to whoever else places the same objects. */
export const RELEASE_OWNER_ANNOTATION = `${EDGE_GROUP}/release-owner`
/** On a SyncTarget that a syncer has reported to: it goes when that has left the cluster, or an administrator no longer waits. */
export const CLUSTER_FINALIZER = `${EDGE_GROUP}/cluster`
/** On a SyncTarget that is being deleted, with its uid: nobody waits for the syncer any more. */
export const FORCE_DETACH_ANNOTATION = `${EDGE_GROUP}/force-detach`
/**
 * On a SyncTarget, "true": its syncer holds still. The center says the same on SyncerConfig `the-one`. On a Location or a workload
 * object: copies stay as they are in the mailboxes.
 */
export const PAUSED_ANNOTATION = `${EDGE_GROUP}/paused`
/** On SyncerConfig `the-one`, by the center: the syncer is to leave its cluster, `Orphan` or `Delete`. */
export const LEAVE_ANNOTATION = `${EDGE_GROUP}/leave`

/** Fate of the workload of a cluster that leaves: it stays without an owner, or the syncers' objects go. */
export type DetachPolicy = 'Orphan' | 'Delete'

/** On an EdgePlacement: the hash of held deletions that are meant. */
export const CONFIRM_DELETION_ANNOTATION = `${EDGE_GROUP}/confirm-deletion`
/** On an EdgePlacement, by the server: which kinds its wide tests select, as far as their author might read them. */
export const SELECTED_KINDS_ANNOTATION = `${EDGE_GROUP}/selected-kinds`

/**
 * On the copy and in the cluster, "true": who placed it wants the cluster to keep it, unmarked, when it is not placed any more.
 * Nobody's but the center's to say.
 */
export const PRESERVE_ANNOTATION = `${EDGE_GROUP}/preserve`

/** On the object in the WDS whose state is wanted: the number of its destinations. Never projected. */
export const EXECUTING_COUNT_ANNOTATION = 'kubestellar.io/executing-count'

/** On a ReplicaSet of a WDS that the server made of what clusters report of its Deployment: what it is. */
export const STAND_IN_ANNOTATION = `${EDGE_GROUP}/stand-in`

/** The syncer's marks: the object that it made in the cluster, and the one that it made in the mailbox. */
export const DOWNSYNCED = `${EDGE_GROUP}/downsynced`
export const UPSYNCED = `${EDGE_GROUP}/upsynced`
/** On associated objects in mailboxes: their way to the copy that they belong to, as JSON. */
export const ASSOCIATED_WITH = `${EDGE_GROUP}/associated-with`
/** Why a syncer does not carry an object up, in the status of its SyncerConfig: the mailbox's budget for that is used up. */
export const UPSYNC_FULL = 'UpsyncBudgetExceeded'
/** On the upsynced object in the mailbox, by the center: ids of the spaces with a matching set, comma-separated. */
export const UPSYNCED_FOR = `${EDGE_GROUP}/upsynced-for`
/** On the object: whether the center's word goes when it is in the cluster already. */
export const OVERWRITE = `${EDGE_GROUP}/downsync-overwrite`
/** On the object in the WDS, "true": it may become of what a cluster held under its name before. */
export const ADOPT = `${EDGE_GROUP}/adopt`

/** On the object in the WDS, "true": it is made where it is missing, and not changed then. It goes with its source. */
export const CREATE_ONLY = `${EDGE_GROUP}/create-only`
/** On the object in the WDS, "true": clusters keep it, unmarked, when it is not placed any more. */
export const KEEP_ON_DELETE = `${EDGE_GROUP}/keep-on-delete`

/** On the object in the WDS: before and after which others of its space it comes into a cluster. See `wave.ts`. */
export const WAVE = `${EDGE_GROUP}/wave`

/** Whether an object is the center's copy of one in a WDS, on its way to a cluster. */
export function isProjected(object: Readonly<Pick<KubeObject, 'metadata'>>): boolean {
  return object.metadata.labels?.[PROJECTED_LABEL] === PROJECTED_VALUE
}

/** The space whose children the mailboxes are. */
export const MAILBOX_PARENT = 'root:espw'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const NAME = `([a-z0-9]+)-mb-(${UUID})`

/** Only Workspaces named like this are ever taken for mailboxes: the id of the SyncTarget's space and the SyncTarget's uid. */
export const MAILBOX_NAME = new RegExp(`^${NAME}$`)

const MAILBOX = new RegExp(`^${MAILBOX_PARENT}:${NAME}$`)
/** Paths of mailboxes, and of what lies below them. */
export const IN_MAILBOX = new RegExp(`^${MAILBOX_PARENT}:${NAME}(?::|$)`)

/** `cluster` is the logical-cluster id of the SyncTarget's space. */
export function mailboxName(cluster: string, syncTargetUID: string): string {
  return `${cluster}-mb-${syncTargetUID}`
}

/** Whether a space is a mailbox itself. `path` is from the root. */
export function isMailbox(path: string): boolean {
  return path.startsWith(MAILBOX_PARENT) && MAILBOX.test(path)
}

/** Whether a space is a mailbox or lies below one: whoever may write a mailbox may make spaces in it. `path` is from the root. */
export function isInMailbox(path: string): boolean {
  return path.startsWith(MAILBOX_PARENT) && IN_MAILBOX.test(path)
}

/** The ConfigMap in a workload execution cluster that says from which mailbox it is served. It is never carried anywhere. */
export const CLUSTER_RECORD = { namespace: 'kube-system', name: 'orrery-syncer' } as const
/** On the Lease of that name: which syncer stands by, and since when. */
export const STANDBY_ANNOTATION = `${EDGE_GROUP}/stands-by`

/** On a mailbox Workspace: the name of its SyncTarget, for people and tools. */
export const SYNC_TARGET_NAME_ANNOTATION = `${EDGE_GROUP}/sync-target-name`

/** The syncer's ServiceAccount in each mailbox. Earlier releases called the roles so that they gave it. */
export const SYNCER_NAME = 'kubestellar-syncer'
export const SYNCER_NAMESPACE = 'default'

/** The one group that a downsync test asks for. */
export function groupOfTest({ apiGroup }: { readonly apiGroup?: unknown }): string | undefined {
  return typeof apiGroup === 'string' && apiGroup !== '*' ? apiGroup : undefined
}
