/**
 * Leaves a cluster. Either the placed objects stay, and the syncer's marks come off, so that no syncer takes them for its own again. Or the
 * syncers' objects are deleted, and the rest (adopted, or hands off) is left unmarked. Objects that the flags of this syncer do not allow
 * stay as they are.
 *
 * It is over when a look at the whole cluster finds nothing more, which also means that what was deleted is gone. Then the
 * cluster's note of its mailbox goes: it may be served from any other one.
 */

import { isStatusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { shortened } from '../../apimachinery/shortened.ts'
import { atMost } from '../../client/atMost.ts'
import type { DiscoveredResource } from '../../client/client.ts'
import { pause } from '../../client/clock.ts'
import { refOf } from '../../client/refOf.ts'
import { retrying } from '../../client/retrying.ts'
import type { Runtime } from '../../client/runtime.ts'
import { type DetachPolicy, DOWNSYNCED } from '../../placement/words/placement.ts'
import { fieldsOf, keyOf, keyText } from '../mailbox/mirror.ts'
import type { LeaveReport } from '../mailbox/orders.ts'
import { isOurs, isOursToDelete, ownerOf, ownMark, SYNCER_MANAGER } from '../objects/marks.ts'
import { referencesOfOurs, UNMARKED } from '../objects/release.ts'
import { listProjected } from '../sees/clusterLists.ts'
import { type DownsyncContext, inNameOf } from './context.ts'

interface DepartureDeps extends Runtime, Pick<DownsyncContext, 'cluster' | 'as' | 'served' | 'allowance' | 'echoes'> {
  /** Removes the cluster's note of its mailbox. */
  forgetMailbox(): Promise<void>
  signal: AbortSignal
}

interface Marked {
  readonly resource: DiscoveredResource
  readonly object: KubeObject
}

const AT_ONCE = 8
/** Between two looks, while something is still going away or resists. */
const AGAIN_MS = { first: 500, most: 15_000 }
const MESSAGE_LIMIT = 500

type Report = (report: LeaveReport) => void

/** Leaves by the latest order: an earlier departure is cut short. */
export class Departure {
  readonly #deps: DepartureDeps
  #current: { cut: AbortController; done: Promise<void> } | undefined

  constructor(deps: DepartureDeps) {
    this.#deps = deps
  }

  /** Resolves when it is done, another order came or the syncer ended; `report` takes how far it is. */
  async leave(policy: DetachPolicy, report: Report): Promise<void> {
    this.#current?.cut.abort()
    await this.#current?.done
    const cut = new AbortController()
    const signal = AbortSignal.any([this.#deps.signal, cut.signal])
    const done = leaveCluster({ ...this.#deps, signal }, policy, report)
    this.#current = { cut, done }
    await done
  }
}

async function leaveCluster(deps: DepartureDeps, policy: DetachPolicy, report: Report): Promise<void> {
  const { logger, clock, signal } = deps
  const persist = <T>(what: string, attempt: () => Promise<T>): Promise<T | undefined> =>
    retrying({ ...deps, what }, attempt)
  for (let waitMs = AGAIN_MS.first; !signal.aborted; waitMs = Math.min(2 * waitMs, AGAIN_MS.most)) {
    const found = await persist('looking for what was placed in the cluster', () => markedIn(deps))
    if (found === undefined) return
    if (found.length === 0) break
    const trouble = await releaseAll(deps, policy, found)
    report({
      policy,
      done: false,
      remaining: found.length,
      message: shortened(trouble ?? waitsFor(found), MESSAGE_LIMIT),
    })
    if (trouble !== undefined || policy === 'Delete') await pause(clock, waitMs, signal)
  }
  if (signal.aborted) return
  await persist("removing the cluster's note of its mailbox", () => deps.forgetMailbox())
  if (signal.aborted) return
  logger.info(
    { policy },
    'the cluster has left; nothing in it is marked as placed any more, and this syncer can be removed',
  )
  report({ policy, done: true, remaining: 0 })
}

/** Namespaces and definitions go last, once nothing else is left. */
async function markedIn({ cluster, served, allowance, echoes, logger }: DepartureDeps): Promise<Marked[]> {
  await served.refresh()
  const listed = [...served.all()]
    .filter(({ verbs }) => verbs.includes('list') && verbs.includes('patch'))
    .filter(resource => allowance.mayCarry(resource, resource.namespaced))
  const found = await Promise.all(
    listed.map(async resource => {
      const objects = await listProjected(cluster, resource, err =>
        logger.warn({ err }, `what was placed among ${groupResourceName(resource)} cannot be seen; it stays as it is`),
      )
      return objects
        .filter(object => isMarked(object) && !allowance.refusalOf(keyOf(resource, object)))
        .map(object => ({ resource, object: echoes.recognized(keyText(keyOf(resource, object)), object) }))
    }),
  )
  const all = found.flat()
  const first = all.filter(({ resource }) => !NEEDED.has(groupResourceName(resource)))
  return first.length > 0 ? first : all
}

const NEEDED = new Set([NAMESPACES, CRDS].map(groupResourceName))

/** Whether a syncer made it or wrote to it. Children of such objects may inherit label and annotation. */
function isMarked(object: Readonly<KubeObject>): boolean {
  const { managedFields = [] } = object.metadata
  return isOurs(object, DOWNSYNCED) || managedFields.some(({ manager }) => manager === SYNCER_MANAGER)
}

/** @returns what one of them resists with */
async function releaseAll(
  deps: DepartureDeps,
  policy: DetachPolicy,
  found: readonly Marked[],
): Promise<string | undefined> {
  let trouble: string | undefined
  let clings = false
  const work = async (marked: Marked): Promise<void> => {
    if (deps.signal.aborted) return
    try {
      await release(deps, policy, marked)
    } catch (error) {
      clings ||= referencesOfOurs(marked.object).length > 0
      trouble ??= `${ownMark(marked.object)}: ${messageOf(error)}`
      const fields = fieldsOf(keyOf(marked.resource, marked.object))
      deps.logger.warn({ err: error, ...fields }, 'not released yet, trying again')
    }
  }
  const goes = ({ object }: Marked): boolean => policy === 'Delete' && isOurs(object, DOWNSYNCED)
  // what stays lets go of its owners before these go
  for (const some of [found.filter(one => !goes(one)), found.filter(goes)]) {
    await atMost(AT_ONCE, some, work)
    if (clings) break
  }
  return trouble
}

async function release(deps: DepartureDeps, policy: DetachPolicy, { resource, object }: Marked): Promise<void> {
  const key = keyOf(resource, object)
  const { uid = '', deletionTimestamp } = object.metadata
  const client = inNameOf(ownerOf(object), deps)
  try {
    if (policy === 'Delete' && isOurs(object, DOWNSYNCED)) {
      if (deletionTimestamp !== undefined) return // waited for
      if (isOursToDelete(object)) {
        await client.delete(resource, refOf(key), { propagationPolicy: 'Background', preconditions: { uid } })
        deps.logger.info(fieldsOf(key, uid), 'deleted from the cluster: the cluster leaves, with what was placed there')
        return
      }
    }
    const unmarked = policy === 'Delete' ? withoutOwners(object) : UNMARKED
    await client.patch(resource, refOf(key), 'merge', unmarked, { fieldManager: SYNCER_MANAGER })
  } catch (error) {
    // gone, or another one by now: the next look tells
    if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
  }
}

/** An object that stays, without its owners that go: they would take it along. */
function withoutOwners({ metadata: { uid, resourceVersion, ownerReferences = [], ...more } }: KubeObject): object {
  const ours = new Set(referencesOfOurs({ metadata: { ownerReferences, ...more } }))
  if (ours.size === 0) return UNMARKED
  const others = ownerReferences.filter(owner => !ours.has(owner))
  return { metadata: { ...UNMARKED.metadata, uid, resourceVersion, ownerReferences: others } }
}

function waitsFor(found: readonly Marked[]): string {
  const going = found.find(({ object }) => object.metadata.deletionTimestamp !== undefined)
  return going === undefined ? 'under way' : `${ownMark(going.object)} is being deleted`
}
