/**
 * Whether a syncer was given what belongs together: a space that is a mailbox, and the cluster that is served from it. Asked
 * before anything is touched, because a syncer deletes what its predecessor placed and its mailbox does not hold.
 *
 * The cluster keeps a note of its mailbox (clusterRecord.ts). The first syncer that comes writes it. What does not fit is a
 * TerminalError, whose message is one line for whoever started the syncer.
 */
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import { str } from '../../apimachinery/fields.ts'
import { groupResourceName } from '../../apimachinery/object.ts'
import {
  CLUSTER_ANNOTATION,
  LOGICAL_CLUSTERS,
  PATH_ANNOTATION,
  STORE_ANNOTATION,
} from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { TerminalError } from '../../client/reconcileFailures.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { CLUSTER_RECORD, isInMailbox, MAILBOX_NAME, MAILBOX_PARENT } from '../../placement/words/placement.ts'
import { isOursToDelete, ownMark } from '../objects/ownership.ts'
import { CLUSTER_LIST, listProjected } from '../sees/clusterLists.ts'
import { ServedResources } from '../sees/served.ts'
import {
  type ClusterRecord,
  CONFIG_MAPS,
  createRecord,
  isFrom,
  type Mailbox,
  mailboxIn,
  noteIn,
  recordFor,
  uidOf,
  writeRecord,
} from './clusterRecord.ts'

const RECORD_NAME = `ConfigMap ${CLUSTER_RECORD.namespace}/${CLUSTER_RECORD.name}`

/**
 * The mailbox that a client leads to.
 * @throws TerminalError when it leads to something else
 * @throws StatusError when that cannot be found out now
 */
export async function mailboxOf(space: SpaceClient): Promise<Mailbox> {
  const place = await placeOf(space).catch((error: unknown) => {
    if (!isStatusError(error, 'Forbidden')) throw error
    // rights may come, so it is asked again; a syncer's own credential has this one always
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

/** Of a server some of whose APIs may be another one's that does not answer: about those nothing is known then. */
async function servedBy(space: SpaceClient): Promise<ServedResources> {
  const served = new ServedResources(space)
  await served.refresh()
  return served
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
 * `undefined` when no syncer served the cluster before.
 * @throws TerminalError when the note is another cluster's
 */
export async function recordOf(cluster: SpaceClient): Promise<ClusterRecord | undefined> {
  const [record, uid] = await Promise.all([noteIn(cluster), uidOf(cluster)])
  if (record !== undefined && isOfAnother(record, uid))
    throw new TerminalError(`${writtenElsewhere(record, uid)}; ${NOTHING_TOUCHED}`)
  return record
}

/** @param uid of the cluster that holds the note */
function isOfAnother(record: ClusterRecord, uid: string | undefined): boolean {
  return record.cluster !== undefined && uid !== undefined && record.cluster !== uid
}

function writtenElsewhere(record: ClusterRecord, uid: string | undefined): string {
  return (
    `${RECORD_NAME} was written in another cluster, whose Namespace kube-system has uid ${record.cluster}, and that of ` +
    `this one has ${uid}`
  )
}

/**
 * For a syncer whose note changed while it runs.
 * @throws TerminalError when it is another cluster's now
 */
export async function checkNote(cluster: SpaceClient): Promise<void> {
  const [record, uid] = await Promise.all([noteIn(cluster), uidOf(cluster)])
  if (record === undefined || !isOfAnother(record, uid)) return
  throw new TerminalError(`${writtenElsewhere(record, uid)}; it ends, and leaves what it placed as it is. ${ADOPT}`)
}

/**
 * Before the center hears of the syncer, whose first token ends the session of another one of that mailbox.
 * @param space where the center's kubeconfig leads to: only an id can be judged
 * @throws TerminalError when the cluster is served from another space
 */
export function checkSpace(record: ClusterRecord, space: string): void {
  if (record.space === '' || record.space === space || !SPACE_ID.test(space)) return
  const { mailbox } = record
  throw new TerminalError(
    `the cluster is served from the mailbox ${mailbox}, whose space is ${record.space}, and the center's kubeconfig leads ` +
      `to the space ${space}; ${NOTHING_TOUCHED}`,
  )
}

const SPACE_ID = /^[a-z0-9]{16}$/

/**
 * A cluster is another server than the center: in a space of the center the syncer would overwrite what it was made from, and
 * the center would carry that to every cluster. A workload space of another Orrery server is a cluster like others; its root,
 * its core space and its mailboxes hold what makes that server, and are not.
 * @throws TerminalError when it is the same server, or such a space
 */
export async function requireOtherServer(mailbox: SpaceClient, cluster: SpaceClient): Promise<void> {
  const place = await placeOf(cluster).catch(async (error: unknown) => {
    if (!isStatusError(error, 'Forbidden')) throw error
    // A plain cluster may forbid what it does not serve. Of a server with spaces it has to be known which one it is.
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

/**
 * Writes the mailbox into a cluster that knows none, and the cluster's uid once it may be read. The answer is what stands there.
 * @throws TerminalError when the cluster is served from another one, or looks so
 */
export async function claim(cluster: SpaceClient, given: Mailbox, mailbox: SpaceClient): Promise<ClusterRecord> {
  let record = await recordOf(cluster)
  const wanted = await recordFor(cluster, given)
  if (record === undefined) {
    await requireNoStrangers(cluster, given.name, mailbox)
    record = await firstRecord(cluster, wanted)
  }
  if (!isFrom(record, given)) throw servedFromElsewhere(record, given)
  if (!equalJson(record, { ...record, ...wanted })) await writeRecord(cluster, wanted)
  return { ...record, ...wanted }
}

/**
 * Of a cluster that was out of sight and answers again: whether it is the one that was served, by the uid in `known`, or may be
 * served from now on as one that stands in its place. Who leaves it takes the note away.
 * @throws TerminalError when it is served from another mailbox, or looks so
 */
export async function claimAgain(
  cluster: SpaceClient,
  known: ClusterRecord,
  { mailbox, isLeaving }: { mailbox: SpaceClient; isLeaving: boolean },
): Promise<ClusterRecord> {
  const given = mailboxIn(known)
  const [record, uid] = await Promise.all([recordOf(cluster), uidOf(cluster)])
  if (record === undefined && isLeaving) return known
  if (record === undefined && uid !== known.cluster) return await claim(cluster, given, mailbox)
  if (record === undefined) await noteAgain(cluster, given)
  else if (!isFrom(record, given)) throw handedOver(record, given)
  return { ...known, ...record }
}

/**
 * The same without writing: whether the cluster is served from the mailbox, or may be from now on.
 * @throws TerminalError when it is served from another one, or looks so
 */
export async function checkClaim(cluster: SpaceClient, given: Mailbox, mailbox: SpaceClient): Promise<void> {
  const record = await recordOf(cluster)
  if (record === undefined) await requireNoStrangers(cluster, given.name, mailbox)
  else if (!isFrom(record, given)) throw servedFromElsewhere(record, given)
}

/**
 * Writes the note again that somebody deleted under a running syncer. Whose the cluster is was found out when it began: what
 * it placed since then, and what is just leaving the mailbox, is no stranger's.
 * @throws TerminalError when another one wrote its own meanwhile
 */
export async function noteAgain(cluster: SpaceClient, given: Mailbox): Promise<void> {
  const record = await firstRecord(cluster, await recordFor(cluster, given))
  if (!isFrom(record, given)) throw handedOver(record, given)
}

/** For a syncer that begins. */
function servedFromElsewhere(record: ClusterRecord, given: Mailbox): TerminalError {
  return new TerminalError(
    `${belongs(record, given)}, and the center's kubeconfig leads to ${nameOf(given, mailboxIn(record))}; ${NOTHING_TOUCHED}`,
  )
}

/** For a syncer that has served the cluster until now. */
export function handedOver(record: ClusterRecord, given: Mailbox): TerminalError {
  return new TerminalError(
    `${belongs(record, given)} from now on, and this syncer serves ${nameOf(given, mailboxIn(record))}: it ends, and leaves what it ` +
      `placed as it is. ${ADOPT}`,
  )
}

function belongs(record: ClusterRecord, given: Mailbox): string {
  if (!MAILBOX_NAME.test(record.mailbox))
    return `${RECORD_NAME} of the cluster says ${JSON.stringify(record.mailbox)}, which is no mailbox: somebody edited it`
  if (record.mailbox === given.name && (record.store === '' || record.space === ''))
    return `${RECORD_NAME} of the cluster lacks the id of the store or of the mailbox's space: somebody edited it`
  return `the cluster is served from ${nameOf(mailboxIn(record), given)}`
}

/** More than the name is worth a word only where two mailboxes have one. */
function nameOf({ name, store, space }: Mailbox, other: Mailbox): string {
  if (name !== other.name) return `the mailbox ${name}`
  return store === other.store
    ? `the mailbox ${name} in space ${space}`
    : `the mailbox ${name} of the center with store ${store}`
}

const ADOPT = 'If the cluster shall be served from this mailbox from now on, say so with "orrery syncer adopt"'
const NOTHING_TOUCHED = `nothing was touched. Mend the kubeconfigs. ${ADOPT}`

/**
 * Where no note says whose a cluster is, what was placed there does.
 * @throws TerminalError when a syncer placed something that this mailbox does not hold, and that we would delete
 */
async function requireNoStrangers(cluster: SpaceClient, name: string, mailbox: SpaceClient): Promise<void> {
  const listed = [...(await servedBy(cluster)).all()].filter(
    ({ verbs }) => verbs.includes('list') && verbs.includes('delete'),
  )
  const placed = await Promise.all(
    listed.map(async resource => ({
      resource,
      objects: (await listProjected(cluster, resource)).filter(isOursToDelete),
    })),
  )
  const found = placed.filter(({ objects }) => objects.length > 0)
  if (found.length === 0) return
  const held = await servedBy(mailbox)
  /** One object, by uid, may be served in several groups, of which the mailbox knows one. */
  const known = new Set<string | undefined>()
  for (const { resource, objects } of found) {
    const same = held.find(resource)
    if (same === undefined && !held.lacks(resource))
      throw new StatusError(
        'ServiceUnavailable',
        `the mailbox does not say whether it serves ${groupResourceName(resource)}`,
      )
    const there = new Set(same ? (await listAll(mailbox, same, CLUSTER_LIST)).items.map(ownMark) : [])
    for (const object of objects) if (there.has(ownMark(object))) known.add(object.metadata.uid)
  }
  const stranger = found.flatMap(({ objects }) => objects).find(({ metadata: { uid } }) => !known.has(uid))
  if (stranger === undefined) return
  throw new TerminalError(
    `the cluster holds what a syncer placed there, such as ${ownMark(stranger)}, and the mailbox ${name} does not; ${NOTHING_TOUCHED}`,
  )
}

async function firstRecord(cluster: SpaceClient, wanted: ClusterRecord): Promise<ClusterRecord> {
  try {
    await createRecord(cluster, wanted)
    return wanted
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    // Another syncer came in the same moment, or the answer to us was lost.
    const record = await recordOf(cluster)
    if (record === undefined) throw error // and it is gone again: the next attempt tells
    return record
  }
}
