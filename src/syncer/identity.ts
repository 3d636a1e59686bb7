/**
 * Whether a syncer was given what belongs together: a space that is a mailbox, and the cluster that is served from it. Asked
 * before anything is touched, because a syncer deletes what its predecessor placed and its mailbox does not hold.
 *
 * The cluster keeps a note of its mailbox (`CLUSTER_RECORD`). The first syncer that comes writes it. What does not fit is a
 * TerminalError, whose message is one line for whoever started the syncer.
 */
import { isStatusError } from '../apimachinery/errors.ts'
import { CLUSTER_RECORD, MAILBOX_NAME } from '../apimachinery/mailbox.ts'
import { type GroupVersionResource, isRecord, type KubeObject } from '../apimachinery/object.ts'
import type { SpaceClient } from '../client/client.ts'
import { TerminalError } from '../client/workqueue.ts'
import { getOrNothing } from './downsync.ts'
import { FIELD_MANAGER } from './ownership.ts'

/** What a cluster says about whom it is served by. */
export interface ClusterRecord {
  /** `undefined` when it says something that cannot be understood. */
  mailbox: string | undefined
}

const LOGICAL_CLUSTERS: GroupVersionResource = {
  group: 'core.kcp.io',
  version: 'v1alpha1',
  resource: 'logicalclusters',
}
const CONFIG_MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }
const RECORD_NAME = `ConfigMap ${CLUSTER_RECORD.namespace}/${CLUSTER_RECORD.name}`
const ABOUT = 'From which mailbox the Orrery syncer serves this cluster. See "orrery syncer adopt --help".'

/**
 * The name of the mailbox that a client leads to.
 * @throws TerminalError when it leads to something else
 * @throws StatusError when that cannot be found out now
 */
export async function mailboxOf(space: SpaceClient): Promise<string> {
  const path = await pathOf(space)
  const name = path?.split(':').at(-1) ?? ''
  if (MAILBOX_NAME.test(name)) return name
  const what = path === undefined ? 'a server without spaces' : `the space ${path}`
  throw new TerminalError(
    `the center's kubeconfig leads to ${what}, which is no mailbox; nothing was touched. ` +
      'Use the kubeconfig that "kubectl kubestellar prep-for-syncer" makes for this cluster',
  )
}

/** Of a space, from the root; `undefined` on a server that has none. */
async function pathOf(space: SpaceClient): Promise<string | undefined> {
  try {
    const { metadata } = await space.get(LOGICAL_CLUSTERS, { name: 'cluster' })
    return metadata.annotations?.['kcp.io/path'] ?? ''
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    const { group, resource } = LOGICAL_CLUSTERS
    const served = await space.discover()
    // The kind is there and the object is not: the space is being made, or taken away.
    if (served.some(kind => kind.group === group && kind.resource === resource)) throw error
    return undefined
  }
}

/** @throws TerminalError when the SyncTarget of the mailbox has another uid */
export function checkSyncTarget(mailbox: string, uid: string): void {
  const actual = MAILBOX_NAME.exec(mailbox)?.[2]
  if (actual === uid) return
  throw new TerminalError(
    `the center's kubeconfig leads to the mailbox of the SyncTarget with uid ${actual}, and --sync-target-uid says ${uid}; ` +
      'nothing was touched',
  )
}

/** `undefined` when no syncer served the cluster before. */
export async function recordOf(cluster: SpaceClient): Promise<ClusterRecord | undefined> {
  const object = await getOrNothing(cluster, CONFIG_MAPS, CLUSTER_RECORD)
  if (object === undefined) return undefined
  const mailbox = isRecord(object.data) ? object.data.mailbox : undefined
  return { mailbox: typeof mailbox === 'string' && MAILBOX_NAME.test(mailbox) ? mailbox : undefined }
}

/**
 * Writes the mailbox into a cluster that knows none.
 * @throws TerminalError when the cluster is served from another one
 */
export async function claim(cluster: SpaceClient, mailbox: string): Promise<void> {
  const record = (await recordOf(cluster)) ?? (await firstRecord(cluster, mailbox))
  if (record.mailbox === mailbox) return
  const belongs =
    record.mailbox === undefined
      ? `${RECORD_NAME} of the cluster does not name a mailbox`
      : `the cluster is served from the mailbox ${record.mailbox}`
  throw new TerminalError(
    `${belongs}, and the center's kubeconfig leads to the mailbox ${mailbox}; nothing was touched. ` +
      'Mend the kubeconfigs; if the cluster shall be served from this mailbox from now on, say so with "orrery syncer adopt"',
  )
}

/** Hands the cluster over to a mailbox, whatever it was served from before; that is the answer. */
export async function adopt(cluster: SpaceClient, mailbox: string): Promise<ClusterRecord | undefined> {
  const before = await recordOf(cluster)
  if (before?.mailbox === mailbox) return before
  const record = recordOn(mailbox)
  if (before === undefined) await cluster.create(CONFIG_MAPS, record, { fieldManager: FIELD_MANAGER })
  else await cluster.patch(CONFIG_MAPS, CLUSTER_RECORD, 'merge', { data: record.data }, { fieldManager: FIELD_MANAGER })
  return before
}

async function firstRecord(cluster: SpaceClient, mailbox: string): Promise<ClusterRecord> {
  try {
    await cluster.create(CONFIG_MAPS, recordOn(mailbox), { fieldManager: FIELD_MANAGER })
    return { mailbox }
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    // Another syncer came in the same moment, or the answer to us was lost.
    return (await recordOf(cluster)) ?? { mailbox: undefined }
  }
}

function recordOn(mailbox: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...CLUSTER_RECORD, annotations: { 'kubernetes.io/description': ABOUT } },
    data: { mailbox },
  }
}
