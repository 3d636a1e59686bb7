/**
 * Where the two kubeconfigs of a syncer lead: to a mailbox, and to a server that is not its center. Everything else is a TerminalError,
 * whose message is one line for whoever started the syncer.
 */
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import { str } from '../../apimachinery/fields.ts'
import {
  CLUSTER_ANNOTATION,
  LOGICAL_CLUSTERS,
  PATH_ANNOTATION,
  STORE_ANNOTATION,
} from '../../apimachinery/resources.ts'
import type { SpaceClient } from '../../client/client.ts'
import { TerminalError } from '../../client/reconcileFailures.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { isInMailbox, MAILBOX_NAME, MAILBOX_PARENT } from '../../placement/words/placement.ts'
import { servedBy } from '../sees/served.ts'
import { CONFIG_MAPS, type Mailbox } from './clusterRecord.ts'

/**
 * The mailbox that a client leads to.
 * @throws TerminalError when it leads to something else
 * @throws StatusError when that cannot be found out now
 */
export async function mailboxOf(space: SpaceClient): Promise<Mailbox> {
  const place = await placeOf(space).catch((error: unknown) => {
    if (!isStatusError(error, 'Forbidden')) throw error
    // rights may come, so it is retried; a syncer's own credential has this one always
    throw new StatusError('Forbidden', `${error.message}; ${NOT_A_SYNCERS}`, error.details, { cause: error })
  })
  const name = place?.path.split(':').at(-1) ?? ''
  if (place !== undefined && MAILBOX_NAME.test(name)) return { name, store: place.store, space: place.space }
  const what = place === undefined ? 'a server without spaces' : `the space ${place.path}`
  throw new TerminalError(
    `the center's kubeconfig leads to ${what}, which is no mailbox; nothing was touched. ` +
      'Use the kubeconfig that "kubectl kubestellar prep-for-syncer" makes for this cluster; or are the two swapped?',
  )
}

const NOT_A_SYNCERS =
  'a syncer has to know where its kubeconfig leads (--from-kubeconfig); is this the file that "kubectl kubestellar ' +
  'prep-for-syncer" or "prep-for-cluster" made for this cluster?'

const NOT_A_CLUSTERS =
  "the cluster's kubeconfig leads to a server with spaces, and a syncer has to know whether that is the center; nothing was " +
  'touched. Give it the kubeconfig of the cluster that the syncer shall serve'

interface Place {
  path: string
  store: string
  space: string
}

/** Which space it is, from the root, and of which store; `undefined` on a server that has no spaces. */
async function placeOf(space: SpaceClient): Promise<Place | undefined> {
  try {
    const { annotations } = (await space.get(LOGICAL_CLUSTERS, { name: 'cluster' })).metadata
    return {
      path: annotations?.[PATH_ANNOTATION] ?? '',
      store: annotations?.[STORE_ANNOTATION] ?? '',
      space: annotations?.[CLUSTER_ANNOTATION] ?? '',
    }
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    const served = await servedBy(space)
    // Where the kind is there and the object is not, the space is being made, or taken away.
    if (!served.lacks(LOGICAL_CLUSTERS)) throw error
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

/**
 * A cluster is a different server than the center. In a space of the center the syncer would overwrite its own sources, and the center
 * would carry that to every cluster. A workload space of another Orrery server is a cluster like others. Its root, core space and mailboxes
 * hold the server's own objects, and are not.
 * @throws TerminalError when it is the same server, or such a space
 */
export async function requireOtherServer(mailbox: SpaceClient, cluster: SpaceClient): Promise<void> {
  const place = await placeOf(cluster).catch(async (error: unknown) => {
    if (!isStatusError(error, 'Forbidden')) throw error
    // A plain cluster may forbid what it does not serve. A server with spaces has to be identified.
    if ((await servedBy(cluster)).lacks(LOGICAL_CLUSTERS)) return undefined
    throw new StatusError('Forbidden', `${error.message}; ${NOT_A_CLUSTERS}`, error.details, { cause: error })
  })
  if (place === undefined) return
  const { path } = place
  const wrong = (what: string): TerminalError =>
    new TerminalError(
      `the cluster's kubeconfig leads to the space ${path} of ${what}; nothing was touched. ` +
        'Give it the kubeconfig of the cluster that the syncer shall serve',
    )
  const here = await placeOf(mailbox)
  if (place.store !== '' && place.store === here?.store) throw wrong('the center itself')
  const [center, other] = await Promise.all([authorityOf(mailbox), authorityOf(cluster)])
  if (center !== undefined && center === other) throw wrong('the center itself')
  if (path === 'root' || path === MAILBOX_PARENT || isInMailbox(path))
    throw wrong('an Orrery server, which is no cluster')
}

/** The certificates that a server tells its Pods to trust. */
async function authorityOf(space: SpaceClient): Promise<string | undefined> {
  const object = await unlessGone(space.get(CONFIG_MAPS, { namespace: 'kube-system', name: 'kube-root-ca.crt' }))
  return object && str(object, 'data', 'ca.crt').trim()
}
