/**
 * Meanings of the states of a copy and of its health, for docs/reference/states.md, which `npm run pages` writes. The texts are Markdown,
 * and links start at docs/reference.
 */
import type { CopyState } from './copyStates.ts'
import type { Health } from './health.ts'

interface StateText {
  readonly meaning: string
  readonly remedy?: string
  /** Causes by reason, where the state has several. */
  readonly reasons?: Readonly<Record<string, string>>
}

export const STATE_TEXTS: Readonly<Record<CopyState, StateText>> = {
  NotPlaced: {
    meaning: 'The copy may not go there, or the center found an obstacle.',
    remedy: 'The message names the person or space to contact.',
    reasons: {
      NotBound: 'The space is [bound](kinds/inventorybinding.md) to no inventory with the Location.',
      NotGranted: 'No [PlacementGrant](kinds/placementgrant.md) of the inventory is for the space there.',
      KindNotGranted: 'The grants leave out the kind.',
      NamespaceNotGranted: 'The grants leave out the namespace.',
      ClusterScopedNotGranted: 'The grants allow no objects without a namespace.',
      GrantingKindNotGranted: 'The grants allow no kinds that grant rights.',
      Unschedulable: 'The cluster takes [nothing new](../off-a-cluster.md#cordon).',
      KindNotServed: 'The mailbox does not serve the kind: its definition is refused there, or has yet to come.',
      CustomizationFailed: '[Parameters or Customizer](../customization.md#customization) failed for this cluster.',
      NotTaken: 'The mailbox does not take the content; the message has its words.',
      CarriedUp: 'An [upsync set](../travel.md#kinds-that-travel) of the space carries the object up from there.',
    },
  },
  Conflict: {
    meaning: '[Another space owns](../travel.md#one-owner) the object there.',
    remedy: 'Use another name, or agree on a hand-over.',
  },
  Paused: {
    meaning:
      'The EdgePlacement, the object or the Location [is paused](../brake.md#pauses). The cluster keeps its content, whether newest or not.',
    remedy: 'End the pause. Copies without a placement stay until then, too.',
  },
  Stale: {
    meaning: 'The cluster is silent, so its last report does not count.',
    remedy: 'Wait, or contact the administrator of the cluster.',
    reasons: { ClusterUnreachable: 'Its syncer reports and does not reach the cluster.' },
  },
  Projecting: { meaning: 'The center writes the copy. The reason `NotTaken` shows an obstacle.' },
  Pending: { meaning: 'The cluster has not processed the newest content yet.' },
  Unknown: {
    meaning: 'The syncer lists 300 objects in trouble and counts more: this may be one of them.',
    remedy: 'Mend the listed ones.',
  },
  Refused: {
    meaning: 'The cluster, or its owner, refuses the object.',
    remedy: "Mend the object; the message is the cluster's.",
    reasons: {
      AlreadyInCluster:
        'The cluster had the object before, and its placement does not [adopt](../placement.md#ownership-in-a-cluster) it.',
      NotAllowed: "The [syncer's flags](../syncers.md#refusals-by-a-cluster) do not allow it.",
      Forbidden: 'The RBAC of the cluster denies it.',
      VersionNotServed: 'The definition in the cluster does not serve the version.',
      NamesNotAccepted: 'Another definition in the cluster has these names: change yours.',
      InvalidWave: 'The annotation is no whole number from -1000 to 1000: change it.',
      NoOwner: 'The syncer impersonates spaces, and the copy names none.',
    },
  },
  Retrying: { meaning: 'The syncer failed and retries.' },
  Waiting: {
    meaning: 'A dependency is missing in the cluster.',
    reasons: {
      EarlierWave: 'The message names an object of an earlier [wave](../placement.md#order) and its state.',
      DefinitionNotEstablished: 'The definition of the kind is placed too, and the cluster has not established it.',
      NamespaceMissing: 'The Namespace is not in the cluster.',
      NamespaceTerminating: 'The Namespace in the cluster is on its way out.',
    },
  },
  Unserved: { meaning: 'The cluster does not have the kind. No other object waits for this one.' },
  Terminating: { meaning: 'The former object in the cluster is on its way out.' },
  Held: {
    meaning: 'The syncer has the order to hold still.',
    remedy: 'End the [pause of the cluster](../clusters.md#pause-a-cluster).',
    reasons: {
      DeletionHeld:
        'No placement wants the copy any more, and [the brake](../brake.md#the-brake) keeps it. Undo the change, or confirm as the message says.',
    },
  },
  Drifted: {
    meaning:
      'A person or program in the cluster keeps changing the object. The message names the field, both values and the field manager.',
    remedy: 'Mend the writer, or leave the field to the cluster with `spec.ignoreDifferences`.',
  },
  Altered: {
    meaning:
      'The cluster dropped or changed a field that [decides whether or how the object runs](#fields-that-decide).',
    remedy: 'Mend the object in the cluster, or leave the field to the cluster.',
  },
  Applied: {
    meaning: 'The cluster holds the content that was sent.',
    reasons: {
      FieldsDropped: 'The cluster dropped fields that do not decide.',
      FieldsChanged: 'The cluster changed such fields.',
      StatusTooLarge: 'The status has more than 256 KiB of JSON and stays in the cluster.',
    },
  },
  Finished: {
    meaning:
      'The object ran to its end, and the cluster removed it. It [does not run again](../placement.md#objects-that-end-by-themselves).',
    remedy: 'To run it again, change its spec, or delete and recreate it.',
    reasons: { Succeeded: 'It succeeded, and counts as healthy.', Failed: 'It failed, and counts as degraded.' },
  },
}

export const HEALTH_TEXTS: Readonly<Record<Health, string>> = {
  Healthy:
    'The object does its work: all replicas of the newest spec are available, a Job is complete, a custom object reports `Ready`. Kinds without a status, such as ConfigMaps, are healthy by presence.',
  Progressing: 'It is on its way, or its status is not about the newest spec yet.',
  Degraded:
    'Waiting will not help: a Deployment past its deadline, a failed Job, a container that does not start, a lost volume.',
  Suspended: 'A person stopped it. It counts as healthy.',
}
