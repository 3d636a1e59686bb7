/**
 * `cordon`, `drain` and `uncordon` of the clusters for which a Location stands, by `spec.unschedulable` and `spec.evictAfter` of their
 * SyncTargets. No other way takes workload off a cluster that stays. A drain shows before what leaves, and waits until the cluster is empty.
 */

import { conditionOf } from '../../../apimachinery/conditions.ts'
import { at, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { SYNC_TARGETS } from '../../../placement/words/placement.ts'
import { singular } from '../../shell/changes.ts'
import { CommandError, NOT_LEFT } from '../../shell/commandError.ts'
import { type ConfirmOptions, confirm } from '../../shell/confirm.ts'
import { pathOf, type Session } from '../../shell/session/session.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { waitFor } from '../../shell/waitFor.ts'
import { requireRights } from '../requireRights.ts'
import { type InventoryOptions, inInventory } from '../sessions.ts'
import { remainingIn } from './eviction.ts'
import { clustersNamed, type NamedClusters } from './namedClusters.ts'
import { showUsers } from './usersCommand.ts'

export interface DrainOptions extends InventoryOptions, ConfirmOptions {
  /** Seconds to wait until the cluster is empty. */
  timeout: number
}

const MANAGER = 'kubectl-kubestellar'
const KIND = singular(SYNC_TARGETS)

/** @returns the SyncTargets, as they are now */
export async function cordon(options: InventoryOptions, terminal: Terminal, name: string): Promise<KubeObject[]> {
  return await ofClusters(
    options,
    terminal,
    name,
    async (space, { targets }) =>
      await patchEach(space, targets, { unschedulable: true }, printer(terminal, 'cordoned')),
  )
}

/** @returns the SyncTargets, as they are now */
export async function uncordon(options: InventoryOptions, terminal: Terminal, name: string): Promise<KubeObject[]> {
  return await ofClusters(
    options,
    terminal,
    name,
    async (space, { targets }) =>
      await patchEach(space, targets, { unschedulable: false, evictAfter: null }, printer(terminal, 'uncordoned')),
  )
}

/**
 * @returns the SyncTargets, as they are when they are empty
 * @throws CommandError when it is not confirmed, or, with exit code 6, when the cluster is not empty in time
 */
export async function drain(options: DrainOptions, terminal: Terminal, name: string): Promise<KubeObject[]> {
  const { timeout: timeoutSeconds } = options
  return await ofClusters(options, terminal, name, async (space, clusters, session, inventory) => {
    const { unknown } = await showUsers(session, inventory, clusters, terminal)
    const more = unknown.length > 0 ? ', also what is not known,' : ''
    await confirm(
      `This takes all of it${more} off "${name}", and nothing is placed there until it is uncordoned.`,
      options,
      terminal,
    )
    const cordoned = await patchEach(space, clusters.targets, { unschedulable: true }, printer(terminal, 'cordoned'))
    const evicted = await Promise.all(cordoned.map(target => evict(space, target)))
    const signal = AbortSignal.timeout(timeoutSeconds * 1000)
    const empty = await Promise.all(evicted.map(target => waitUntilEmpty(space, target, { signal, terminal })))
    const left = empty.filter(({ isEmpty }) => !isEmpty)
    for (const { target, isEmpty } of empty) if (isEmpty) terminal.out(`${KIND}/${target.metadata.name} drained`)
    if (left.length === 0) return empty.map(({ target }) => target)
    const counts = left.map(
      ({ target }) => `${remainingIn(target) ?? 'an unknown number'} in SyncTarget "${target.metadata.name}"`,
    )
    throw new CommandError(
      `copies are still there after ${timeoutSeconds} s: ${counts.join(', ')}. They leave when what keeps them ends (a pause, a finalizer in the cluster, a silent syncer): ` +
        `kubectl kubestellar users ${name} --imw ${inventory}; to undo: kubectl kubestellar uncordon ${name} --imw ${inventory}`,
      NOT_LEFT,
    )
  })
}

async function ofClusters(
  options: InventoryOptions,
  terminal: Terminal,
  name: string,
  change: (space: SpaceClient, clusters: NamedClusters, session: Session, inventory: string) => Promise<KubeObject[]>,
): Promise<KubeObject[]> {
  return await inInventory(options, terminal, async (space, session) => {
    const inventory = await pathOf(session, options.imw)
    const clusters = await clustersNamed(space, name)
    const leaving = clusters.targets.find(({ metadata }) => metadata.deletionTimestamp !== undefined)
    if (leaving)
      throw new CommandError(
        `SyncTarget "${leaving.metadata.name}" is being removed: what becomes of its workload stands in its spec.detachPolicy`,
      )
    await requireRights(session.client, [{ space: inventory, verb: 'patch', resource: SYNC_TARGETS }])
    return await change(space, clusters, session, inventory)
  })
}

/** In the words of `kubectl cordon`. */
function printer(terminal: Terminal, word: string) {
  return ({ metadata: { name } }: KubeObject, isChanged: boolean): void =>
    terminal.out(`${KIND}/${name} ${isChanged ? '' : 'already '}${word}`)
}

async function patchEach(
  space: SpaceClient,
  targets: readonly KubeObject[],
  spec: { unschedulable: boolean; evictAfter?: null },
  report: (target: KubeObject, isChanged: boolean) => void,
): Promise<KubeObject[]> {
  const changed: KubeObject[] = []
  for (const target of targets) {
    const { name = '', uid = '' } = target.metadata
    const isSame =
      (at(target.spec, 'unschedulable') === true) === spec.unschedulable &&
      (spec.evictAfter === undefined || str(target.spec, 'evictAfter') === '')
    const body = { metadata: { uid }, spec }
    changed.push(isSame ? target : await space.patch(SYNC_TARGETS, { name }, 'merge', body, { fieldManager: MANAGER }))
    report(target, !isSame)
  }
  return changed
}

/** From now on, by the server's clock as far as that is known. An eviction that has begun goes on. */
async function evict(space: SpaceClient, target: KubeObject): Promise<KubeObject> {
  const { name = '', uid = '', managedFields = [] } = target.metadata
  const writes = managedFields.filter(({ manager }) => manager === MANAGER).map(({ time }) => Date.parse(time ?? ''))
  const known = Math.max(...writes.filter(ms => !Number.isNaN(ms)))
  const nowMs = Math.min(Date.now(), Number.isFinite(known) ? known : Number.POSITIVE_INFINITY)
  const before = Date.parse(str(target.spec, 'evictAfter'))
  if (before <= Date.now()) return target
  const evictAfter = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  const body = { metadata: { uid }, spec: { evictAfter } }
  return await space.patch(SYNC_TARGETS, { name }, 'merge', body, { fieldManager: MANAGER })
}

async function waitUntilEmpty(
  space: SpaceClient,
  target: KubeObject,
  { signal, terminal }: { signal: AbortSignal; terminal: Terminal },
): Promise<{ target: KubeObject; isEmpty: boolean }> {
  const { name = '', uid } = target.metadata
  let last = target
  let printed: string | undefined
  const { reached } = await waitFor({
    client: space,
    resource: SYNC_TARGETS,
    ref: { name },
    done(object) {
      if (object?.metadata.uid !== uid) throw new CommandError(`SyncTarget "${name}" was removed meanwhile`)
      if (str(object?.spec, 'evictAfter') !== str(target.spec, 'evictAfter'))
        throw new CommandError(`SyncTarget "${name}" was uncordoned meanwhile, or is to be drained later`)
      last = object!
      const remaining = remainingIn(last)
      if (remaining === 0) return true
      const silent = conditionOf(last, 'Ready')?.status === 'False' ? '; its syncer is silent' : ''
      const words =
        remaining === undefined ? '' : `${remaining} ${remaining === 1 ? 'copy is' : 'copies are'} left${silent}`
      if (words !== '' && words !== printed) terminal.err(`${KIND}/${name} ${words}`)
      printed = words || printed
      return false
    },
    progress: (_, seconds) => terminal.err(`${KIND}/${name} is not empty after ${seconds} s; waiting...`),
    signal,
  })
  return { target: last, isEmpty: reached }
}
