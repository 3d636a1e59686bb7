/**
 * Whether a syncer was given what belongs together: a space that is a mailbox, and the cluster that is served from it. Asked
 * before anything is touched, because a syncer deletes what its predecessor placed and its mailbox does not hold.
 *
 * The cluster keeps a note of its mailbox (`CLUSTER_RECORD`). The first syncer that comes writes it. What does not fit is a
 * TerminalError, whose message is one line for whoever started the syncer.
 */
import { isStatusError, StatusError } from '../apimachinery/errors.ts'
import { str } from '../apimachinery/fields.ts'
import { type GroupVersionResource, groupResourceName, type KubeObject } from '../apimachinery/object.ts'
import {
  CLUSTER_RECORD,
  CONFIRM_DELETION_ANNOTATION,
  isInMailbox,
  MAILBOX_NAME,
  MAILBOX_PARENT,
  PROJECTED_LABEL,
  PROJECTED_VALUE,
} from '../apimachinery/placement.ts'
import {
  CLUSTER_ANNOTATION,
  LOGICAL_CLUSTERS,
  NAMESPACES,
  PATH_ANNOTATION,
  STORE_ANNOTATION,
} from '../apimachinery/resources.ts'
import { equalJson } from '../apimachinery/values.ts'
import type { SpaceClient } from '../client/client.ts'
import type { Clock } from '../client/clock.ts'
import { Informer } from '../client/informer.ts'
import { listAll } from '../client/listWatch.ts'
import type { Logger } from '../client/logger.ts'
import { TerminalError } from '../client/reconcileFailures.ts'
import { unlessGone } from '../client/unlessGone.ts'
import { CLUSTER_LIST } from './listLimit.ts'
import { FIELD_MANAGER, isOursToDelete, ownMark } from './ownership.ts'
import { ADOPTED } from './removalBrake.ts'
import { ServedResources } from './served.ts'

/** What a cluster says about whom it is served by. A release that knew less of it wrote only the mailbox. */
export interface ClusterRecord {
  /** The name of a mailbox, unless somebody edited it. */
  mailbox: string
  /** Id of the center's store: names of mailboxes say nothing about which center they are in. */
  store?: string
  /** Id of the mailbox's space, by which a kubeconfig is judged before the center is asked. A mailbox made anew has another one. */
  space?: string
  /** Uid of the cluster's Namespace kube-system: a note that was copied or restored into another cluster is not that one's. */
  cluster?: string
  /** What its owner confirmed: see RemovalBrake. */
  confirmed?: string
}

/** A mailbox, as its center tells of it. */
export interface Mailbox {
  readonly name: string
  /** Of a center of an earlier release nothing is known. */
  readonly store: string | undefined
  /** Id of its space. */
  readonly space?: string | undefined
}

export const CONFIG_MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }
const RECORD_NAME = `ConfigMap ${CLUSTER_RECORD.namespace}/${CLUSTER_RECORD.name}`
const ABOUT = 'From which mailbox the Orrery syncer serves this cluster. See "orrery syncer adopt --help".'

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
  if (MAILBOX_NAME.test(name)) return { name, store: place?.store, space: place?.space }
  const what = place === undefined ? 'a server without spaces' : `the space ${place.path}`
  throw new TerminalError(
    `the center's kubeconfig leads to ${what}, which is no mailbox; nothing was touched. ` +
      'Use the kubeconfig that "kubectl kubestellar prep-for-syncer" makes for this cluster; or are the two swapped?',
  )
}

const NOT_A_SYNCERS =
  'a syncer has to know where its kubeconfig leads (--from-kubeconfig); is this the file that "kubectl kubestellar ' +
  'prep-for-syncer" or "prep-for-cluster" made for this cluster?'

interface Place {
  path: string
  store: string | undefined
  space: string | undefined
}

/** Which space it is, from the root, and of which store; `undefined` on a server that has no spaces. */
async function placeOf(space: SpaceClient): Promise<Place | undefined> {
  try {
    const { annotations } = (await space.get(LOGICAL_CLUSTERS, { name: 'cluster' })).metadata
    return {
      path: annotations?.[PATH_ANNOTATION] ?? '',
      store: annotations?.[STORE_ANNOTATION],
      space: annotations?.[CLUSTER_ANNOTATION],
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

async function noteIn(cluster: SpaceClient): Promise<ClusterRecord | undefined> {
  const object = await unlessGone(cluster.get(CONFIG_MAPS, CLUSTER_RECORD))
  return object && recordIn(object)
}

/** By which a cluster is told from others; `undefined` where the syncer may not ask. */
async function uidOf(cluster: SpaceClient): Promise<string | undefined> {
  try {
    return (await unlessGone(cluster.get(NAMESPACES, { name: CLUSTER_RECORD.namespace })))?.metadata.uid
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return undefined
    throw error
  }
}

/** Of the ConfigMap that says so. */
export function recordIn(object: Readonly<KubeObject>): ClusterRecord {
  const [store, space, cluster] = ['store', 'space', 'cluster'].map(field => str(object, 'data', field))
  const mailbox = str(object, 'data', 'mailbox')
  const confirmed = object.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION]
  const known = { ...(store && { store }), ...(space && { space }), ...(cluster && { cluster }) }
  return { mailbox, ...known, ...(confirmed && { confirmed }) }
}

/** The mailbox that a note speaks of. */
export function mailboxIn({ mailbox, store, space }: ClusterRecord): Mailbox {
  return { name: mailbox, store, space }
}

/**
 * Before the center hears of the syncer, whose first token ends the session of another one of that mailbox.
 * @param space where the center's kubeconfig leads to: only an id can be judged
 * @throws TerminalError when the cluster is served from another space
 */
export function checkSpace(record: ClusterRecord, space: string): void {
  if (record.space === undefined || record.space === space || !SPACE_ID.test(space)) return
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
  const place = await placeOf(cluster).catch((error: unknown) => {
    // Whoever may not ask is on a plain cluster: a syncer's credential for a space lets it.
    if (isStatusError(error, 'Forbidden')) return undefined
    throw error
  })
  if (place === undefined) return
  const { path } = place
  const wrong = (what: string): TerminalError =>
    new TerminalError(
      `the cluster's kubeconfig leads to the space ${path} of ${what}; nothing was touched. ` +
        'Give it the kubeconfig of the cluster that the syncer shall serve',
    )
  const here = await placeOf(mailbox)
  if (place.store !== undefined && place.store === here?.store) throw wrong('the center itself')
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
 * Writes the mailbox into a cluster that knows none, and what an earlier release did not write. The answer is what stands there.
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
  if (!equalJson(record, { ...record, ...wanted })) await write(cluster, wanted)
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

/** Whether a note speaks of a mailbox; what one of both does not say is no contradiction. */
export function isFrom(record: ClusterRecord, { name, store, space }: Mailbox): boolean {
  const agree = (a: string | undefined, b: string | undefined): boolean => a === undefined || b === undefined || a === b
  return record.mailbox === name && agree(record.store, store) && agree(record.space, space)
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
  return MAILBOX_NAME.test(record.mailbox)
    ? `the cluster is served from ${nameOf(mailboxIn(record), given)}`
    : `${RECORD_NAME} of the cluster says ${JSON.stringify(record.mailbox)}, which is no mailbox: somebody edited it`
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
 * Where no note says whose a cluster is (of release 0.1.0, or deleted), what was placed there does.
 * @throws TerminalError when a syncer placed something that this mailbox does not hold, and that we would delete
 */
async function requireNoStrangers(cluster: SpaceClient, name: string, mailbox: SpaceClient): Promise<void> {
  const listed = [...(await servedBy(cluster)).all()].filter(
    ({ verbs }) => verbs.includes('list') && verbs.includes('delete'),
  )
  const placed = await Promise.all(
    listed.map(async resource => ({ resource, objects: await placedIn(cluster, resource) })),
  )
  const found = placed.filter(({ objects }) => objects.length > 0)
  if (found.length === 0) return
  const held = await servedBy(mailbox)
  for (const { resource, objects } of found) {
    const same = held.find(resource)
    if (same === undefined && !held.lacks(resource))
      throw new StatusError(
        'ServiceUnavailable',
        `the mailbox does not say whether it serves ${groupResourceName(resource)}`,
      )
    const there = same ? (await listAll(mailbox, same, CLUSTER_LIST)).items : []
    const known = new Set(there.map(object => ownMark(object)))
    const stranger = objects.map(object => ownMark(object)).find(mark => !known.has(mark))
    if (stranger === undefined) continue
    throw new TerminalError(
      `the cluster holds what a syncer placed there, such as ${stranger}, and the mailbox ${name} does not; ${NOTHING_TOUCHED}`,
    )
  }
}

/** Nothing for kinds that cannot be listed: what we cannot see we do not delete either. */
async function placedIn(cluster: SpaceClient, resource: GroupVersionResource): Promise<KubeObject[]> {
  try {
    const { items } = await listAll(cluster, resource, {
      labelSelector: `${PROJECTED_LABEL}=${PROJECTED_VALUE}`,
      ...CLUSTER_LIST,
    })
    return items.filter(isOursToDelete)
  } catch (error) {
    if (isStatusError(error, 'Forbidden', 'NotFound', 'MethodNotAllowed', 'BadRequest')) return []
    throw error
  }
}

/** Follows the note until the signal aborts; tells what it says after each change, `undefined` when it is gone. */
export async function watchRecord(
  options: { client: SpaceClient; logger: Logger; clock: Clock },
  signal: AbortSignal,
  changed: (record: ClusterRecord | undefined) => void,
): Promise<void> {
  const { namespace, name } = CLUSTER_RECORD
  const informer = new Informer({
    ...options,
    resource: CONFIG_MAPS,
    namespace,
    fieldSelector: `metadata.name=${name}`,
  })
  informer.subscribe(({ type, object }) => changed(type === 'delete' ? undefined : recordIn(object)))
  await informer.run(signal)
}

/** Hands the cluster over to a mailbox, whatever it was served from before; that is the answer. */
export async function adopt(cluster: SpaceClient, given: Mailbox): Promise<ClusterRecord | undefined> {
  const before = await noteIn(cluster)
  const wanted = await recordFor(cluster, given)
  if (before === undefined)
    await cluster.create(CONFIG_MAPS, recordOn(wanted, ADOPTED), { fieldManager: FIELD_MANAGER })
  else if (!equalJson({ ...before, ...wanted }, before)) await write(cluster, wanted, ADOPTED)
  return before
}

/** What the note confirms was done; what it confirms since is kept. @throws StatusError `Conflict`: to be asked for again */
export async function forgetConfirmation(cluster: SpaceClient, confirmed: string): Promise<void> {
  const object = await unlessGone(cluster.get(CONFIG_MAPS, CLUSTER_RECORD))
  if (object === undefined || recordIn(object).confirmed !== confirmed) return
  const { resourceVersion = '' } = object.metadata
  const metadata = { resourceVersion, annotations: { [CONFIRM_DELETION_ANNOTATION]: null } }
  await unlessGone(cluster.patch(CONFIG_MAPS, CLUSTER_RECORD, 'merge', { metadata }, { fieldManager: FIELD_MANAGER }))
}

/** Takes the note out of a cluster that is not served any more: it may be served from any mailbox then. */
export async function forgetMailbox(cluster: SpaceClient): Promise<void> {
  await unlessGone(cluster.delete(CONFIG_MAPS, CLUSTER_RECORD))
}

async function firstRecord(cluster: SpaceClient, wanted: ClusterRecord): Promise<ClusterRecord> {
  try {
    await cluster.create(CONFIG_MAPS, recordOn(wanted), { fieldManager: FIELD_MANAGER })
    return wanted
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    // Another syncer came in the same moment, or the answer to us was lost.
    const record = await recordOf(cluster)
    if (record === undefined) throw error // and it is gone again: the next attempt tells
    return record
  }
}

async function recordFor(cluster: SpaceClient, { name, store, space }: Mailbox): Promise<ClusterRecord> {
  const uid = await uidOf(cluster)
  return {
    mailbox: name,
    ...(store !== undefined && { store }),
    ...(space !== undefined && { space }),
    ...(uid !== undefined && { cluster: uid }),
  }
}

async function write(cluster: SpaceClient, record: ClusterRecord, confirmed?: string): Promise<void> {
  const data = { store: null, space: null, cluster: null, ...record }
  const metadata = confirmed && { annotations: { [CONFIRM_DELETION_ANNOTATION]: confirmed } }
  await cluster.patch(
    CONFIG_MAPS,
    CLUSTER_RECORD,
    'merge',
    { ...(metadata && { metadata }), data },
    { fieldManager: FIELD_MANAGER },
  )
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
