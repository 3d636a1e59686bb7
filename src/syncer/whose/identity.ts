/**
 * Whether a cluster is served from a mailbox. Established before any write, because a syncer deletes objects of its predecessor that its
 * mailbox does not hold.
 *
 * The cluster keeps a note of its mailbox (clusterRecord.ts). The first syncer that comes writes it. A mismatch is a TerminalError, whose
 * message is one line for the operator of the syncer.
 */
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import { groupResourceName } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { TerminalError } from '../../client/reconcileFailures.ts'
import { CLUSTER_RECORD, MAILBOX_NAME } from '../../placement/words/placement.ts'
import { isOursToDelete, ownMark } from '../objects/marks.ts'
import { CLUSTER_LIST, listProjected } from '../sees/clusterLists.ts'
import { servedBy } from '../sees/served.ts'
import {
  type ClusterRecord,
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
 * Precedes the syncer's first request to the center, whose token ends the session of another one of that mailbox.
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
 * For a cluster that answers again. It is the one that was served, by the uid in `known`, or may be served from now on in its place. A
 * departure takes the note away.
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
 * Writes the note again that somebody deleted under a running syncer. The owner of the cluster was established at the start. Objects that
 * the syncer placed since then, and those that are just leaving the mailbox, are no stranger's.
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
