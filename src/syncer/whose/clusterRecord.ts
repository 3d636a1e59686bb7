/**
 * The note that a cluster keeps of its mailbox (ConfigMap `CLUSTER_RECORD`): its content, and how it is written, followed and taken away.
 * The file identity.ts draws the conclusions.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { str } from '../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient } from '../../client/client.ts'
import { Informer } from '../../client/informer.ts'
import type { Runtime } from '../../client/runtime.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { CLUSTER_RECORD, CONFIRM_DELETION_ANNOTATION } from '../../placement/words/placement.ts'
import { SYNCER_MANAGER } from '../objects/marks.ts'

/** Content of a cluster's record of its server. Texts are empty where somebody deleted them. */
export interface ClusterRecord {
  /** The name of a mailbox, unless somebody edited it. */
  mailbox: string
  /** Id of the center's store: names of mailboxes say nothing about which center they are in. */
  store: string
  /**
   * Id of the mailbox's space, which judges a kubeconfig before the center's answer. A mailbox made anew has a new one.
   */
  space: string
  /** Uid of the cluster's Namespace kube-system: a note that was copied or restored into another cluster is not that one's. */
  cluster?: string
  /** A confirmation of its owner: see RemovalBrake. */
  confirmed?: string
}

/** Confirmation in the record of a cluster that is handed over: objects that its new mailbox does not hold are removed. */
export const ADOPTED = 'adopted'

/** A mailbox, as its center tells of it. */
export interface Mailbox {
  readonly name: string
  /** Id of the center's store. */
  readonly store: string
  /** Id of its space. */
  readonly space: string
}

export const CONFIG_MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }

const ABOUT = 'From which mailbox the Orrery syncer serves this cluster. See "orrery syncer adopt --help".'

export async function noteIn(cluster: SpaceClient): Promise<ClusterRecord | undefined> {
  const object = await unlessGone(cluster.get(CONFIG_MAPS, CLUSTER_RECORD))
  return object && recordIn(object)
}

/** Reads the note from its ConfigMap. */
function recordIn(object: Readonly<KubeObject>): ClusterRecord {
  const cluster = str(object, 'data', 'cluster')
  const confirmed = object.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION]
  return {
    mailbox: str(object, 'data', 'mailbox'),
    store: str(object, 'data', 'store'),
    space: str(object, 'data', 'space'),
    ...(cluster && { cluster }),
    ...(confirmed && { confirmed }),
  }
}

/** Identity of a cluster; `undefined` where the syncer may not read it. */
export async function uidOf(cluster: SpaceClient): Promise<string | undefined> {
  try {
    return (await unlessGone(cluster.get(NAMESPACES, { name: CLUSTER_RECORD.namespace })))?.metadata.uid
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return undefined
    throw error
  }
}

/** The mailbox that a note speaks of. */
export function mailboxIn({ mailbox, store, space }: ClusterRecord): Mailbox {
  return { name: mailbox, store, space }
}

/** Whether a note speaks of a mailbox. */
export function isFrom(record: ClusterRecord, { name, store, space }: Mailbox): boolean {
  return record.mailbox === name && record.store === store && record.space === space
}

/** The note of a cluster about a mailbox. */
export async function recordFor(cluster: SpaceClient, { name, store, space }: Mailbox): Promise<ClusterRecord> {
  const uid = await uidOf(cluster)
  return {
    mailbox: name,
    store,
    space,
    ...(uid !== undefined && { cluster: uid }),
  }
}

/** @throws StatusError `AlreadyExists` */
export async function createRecord(cluster: SpaceClient, record: ClusterRecord, confirmed?: string): Promise<void> {
  await cluster.create(CONFIG_MAPS, recordOn(record, confirmed), { fieldManager: SYNCER_MANAGER })
}

function recordOn(record: ClusterRecord, confirmed?: string): KubeObject {
  const more = confirmed && { [CONFIRM_DELETION_ANNOTATION]: confirmed }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...CLUSTER_RECORD, annotations: { 'kubernetes.io/description': ABOUT, ...more } },
    data: { ...record },
  }
}

/** Fields that `record` lacks go. */
export async function writeRecord(cluster: SpaceClient, record: ClusterRecord, confirmed?: string): Promise<void> {
  const data = { cluster: null, ...record }
  const metadata = confirmed && { annotations: { [CONFIRM_DELETION_ANNOTATION]: confirmed } }
  await cluster.patch(
    CONFIG_MAPS,
    CLUSTER_RECORD,
    'merge',
    { ...(metadata && { metadata }), data },
    { fieldManager: SYNCER_MANAGER },
  )
}

/** Follows the note until the signal aborts; tells what it says after each change, `undefined` when it is gone. */
export async function watchRecord(
  options: Runtime & { client: SpaceClient },
  signal: AbortSignal,
  changed: (record: ClusterRecord | undefined) => void,
): Promise<void> {
  const { namespace, name } = CLUSTER_RECORD
  const fieldSelector = `metadata.name=${name}`
  const informer = new Informer({ ...options, resource: CONFIG_MAPS, namespace, fieldSelector })
  informer.subscribe(({ type, object }) => changed(type === 'delete' ? undefined : recordIn(object)))
  await informer.run(signal)
}

/** Hands the cluster over to a mailbox, whatever it was served from before; that is the answer. */
export async function adopt(cluster: SpaceClient, given: Mailbox): Promise<ClusterRecord | undefined> {
  const before = await noteIn(cluster)
  const wanted = await recordFor(cluster, given)
  if (before === undefined) await createRecord(cluster, wanted, ADOPTED)
  else if (!equalJson({ ...before, ...wanted }, before)) await writeRecord(cluster, wanted, ADOPTED)
  return before
}

/** The outcome of {@link adopt}, in words. */
export function adoptionText(before: ClusterRecord | undefined, given: Mailbox): string {
  const former = before === undefined ? 'none' : before.mailbox || 'none that could be read'
  const since = before !== undefined && isFrom(before, given) ? 'already' : `from now on (before: ${former})`
  return `the cluster is served from the mailbox ${given.name} ${since}`
}

/** The confirmed removals of the note are done; a later confirmation is kept. @throws StatusError `Conflict`: to be retried */
export async function forgetConfirmation(cluster: SpaceClient, confirmed: string): Promise<void> {
  const object = await unlessGone(cluster.get(CONFIG_MAPS, CLUSTER_RECORD))
  if (object === undefined || recordIn(object).confirmed !== confirmed) return
  const { resourceVersion = '' } = object.metadata
  const metadata = { resourceVersion, annotations: { [CONFIRM_DELETION_ANNOTATION]: null } }
  await unlessGone(cluster.patch(CONFIG_MAPS, CLUSTER_RECORD, 'merge', { metadata }, { fieldManager: SYNCER_MANAGER }))
}

/** Takes the note out of a cluster that is not served any more: it may be served from any mailbox then. */
export async function forgetMailbox(cluster: SpaceClient): Promise<void> {
  await unlessGone(cluster.delete(CONFIG_MAPS, CLUSTER_RECORD))
}
