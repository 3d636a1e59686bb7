/**
 * `ensure location` and `remove location`: one SyncTarget and one Location of the same name. The SyncTarget carries the
 * label `id: NAME`, by which the Location selects it; both carry the labels that placement selects by.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { objects, str } from '../../../apimachinery/fields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { didYouMean } from '../../../apimachinery/nearest.ts'
import { type GroupVersionResource, isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import {
  type DetachPolicy,
  EDGE_API_VERSION,
  FORCE_DETACH_ANNOTATION,
  LOCATIONS,
  SYNC_TARGETS,
} from '../../../placement/words/placement.ts'
import { singular } from '../../shell/changes.ts'
import { CommandError, NOT_LABELED, NOT_LEFT, NOT_MADE } from '../../shell/commandError.ts'
import { type ConfirmOptions, confirm } from '../../shell/confirm.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { waitFor } from '../../shell/waitFor.ts'
import type { LabelArguments } from '../arguments.ts'

export interface InventoryEntry extends LabelArguments {
  readonly name: string
  /** Annotations of the Location; `null` takes one away. */
  readonly annotations?: Readonly<Record<string, string | null>>
}

const OPTIONS = { fieldManager: 'kubectl-kubestellar' }
export const DEFAULT_REFUSED = "Sorry, 'default' is not an acceptable name for these objects"
/** Names that are looked at for one that may have been meant. */
const ALIKE_PAGE = { limit: 2_000 }

/**
 * Makes what is missing, sets labels and takes some away; labels that are not named stay. The Location `default` is removed: it would take
 * every SyncTarget of the space.
 * @returns both, as they are now
 * @throws CommandError exit code 3 when something cannot be made, 4 when it cannot be labelled
 */
export async function ensureLocation(
  space: SpaceClient,
  entry: InventoryEntry,
  terminal: Terminal,
): Promise<KubeObject[]> {
  const made = await ensureBoth(space, entry, terminal)
  await removeDefault(space, terminal)
  return made
}

/** {@link ensureLocation}, and the Location `default` stays. */
export async function ensureBoth(space: SpaceClient, entry: InventoryEntry, terminal: Terminal): Promise<KubeObject[]> {
  const { name, labels, annotations, removed } = entry
  if (name === 'default') throw new CommandError(DEFAULT_REFUSED)
  const selector = { matchLabels: { id: name } }
  const { group, version, resource } = SYNC_TARGETS
  const target = named('SyncTarget', name, { id: name, ...labels })
  const madeTarget = await ensure(space, { resource: SYNC_TARGETS, wanted: target, removed }, terminal)
  const location = named('Location', name, labels)
  const given = Object.entries(annotations ?? {}).filter(([, value]) => value !== null)
  if (given.length > 0) location.metadata.annotations = Object.fromEntries(given) as Record<string, string>
  location.spec = { resource: { group, version, resource }, instanceSelector: selector }
  const madeLocation = await ensure(space, { resource: LOCATIONS, wanted: location, removed, annotations }, terminal)
  if (!isRecord(madeLocation.spec) || !equalJson(madeLocation.spec.instanceSelector, selector)) {
    terminal.err(`Warning: Location "${name}" was there before, and it does not select by id=${name}; it is left so.`)
  }
  return [madeTarget, madeLocation]
}

export async function removeDefault(space: SpaceClient, terminal: Terminal): Promise<void> {
  const found = await find(space, LOCATIONS, 'default')
  if (await remove(space, LOCATIONS, found)) terminal.out(deletion(LOCATIONS, 'default'))
}

export interface RemoveOptions extends ConfirmOptions {
  /** Fate of the workload in the cluster; default: as the SyncTarget has it. */
  workload?: string
  force?: boolean
  ignoreNotFound?: boolean
  /** Seconds to wait for the syncer. */
  timeout: number
}

/** Shows a person what is in the cluster, before the question. */
type Showing = (target: KubeObject) => Promise<void>

/**
 * Deletes both, and waits until the syncer has left the cluster.
 * @returns those that were there, as they were
 * @throws CommandError when neither is there, or, with exit code 6, when it has not left in time
 */
export async function removeLocation(
  space: SpaceClient,
  name: string,
  { workload, force, timeout: timeoutSeconds, yes, ignoreNotFound = false }: RemoveOptions,
  { terminal, show }: { terminal: Terminal; show: Showing },
): Promise<KubeObject[]> {
  const detachPolicy = workload === undefined ? undefined : detachPolicyOf(workload)
  const target = await find(space, SYNC_TARGETS, name)
  const location = await find(space, LOCATIONS, name)
  const asking = { yes: yes === true }
  if (target) {
    const fate = detachPolicy ?? str(target.spec, 'detachPolicy')
    const workloadGoes = fate === 'Delete' && !force
    const what = workloadGoes ? 'deletes what was placed there' : 'leaves what was placed there as it is'
    if (yes !== true && terminal.ask) await show(target)
    await confirm(`This takes the cluster "${name}" out of the inventory, and ${what}.`, asking, terminal)
  } else if (location) {
    const what = `This deletes the Location "${name}", and takes what it leads to its clusters off them.`
    await confirm(what, asking, terminal)
  }
  const uid = target?.metadata.uid ?? ''
  if (target && detachPolicy !== undefined)
    await unlessGone(
      space.patch(SYNC_TARGETS, { name }, 'merge', { metadata: { uid }, spec: { detachPolicy } }, OPTIONS),
    )
  if (target && force) {
    const body = { metadata: { uid, annotations: { [FORCE_DETACH_ANNOTATION]: uid } } }
    await unlessGone(space.patch(SYNC_TARGETS, { name }, 'merge', body, OPTIONS))
  }
  // before the Location: from now on the mailbox stays as it is, and the syncer decides what goes
  const deletedTarget = await remove(space, SYNC_TARGETS, target)
  const deletedLocation = await remove(space, LOCATIONS, location)
  const deleted = [deletedTarget, deletedLocation].filter(object => object !== undefined)
  if (deleted.length === 0 && !ignoreNotFound) throw await noLocation(space, name)
  if (deletedLocation) terminal.out(deletion(LOCATIONS, name))
  if (target) await waitUntilLeft(space, target, { timeoutSeconds, terminal })
  if (deletedTarget) terminal.out(deletion(SYNC_TARGETS, name))
  return deleted
}

export async function noLocation(space: SpaceClient, name: string): Promise<CommandError> {
  const lists = await Promise.all([SYNC_TARGETS, LOCATIONS].map(one => space.list(one, ALIKE_PAGE)))
  const names = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name ?? ''))
  return new CommandError(`there is no SyncTarget and no Location "${name}"${didYouMean(name, names)}`)
}

async function waitUntilLeft(
  space: SpaceClient,
  { metadata: { name = '', uid } }: KubeObject,
  { timeoutSeconds, terminal }: { timeoutSeconds: number; terminal: Terminal },
): Promise<void> {
  let printed: string | undefined
  const { reached } = await waitFor({
    client: space,
    resource: SYNC_TARGETS,
    ref: { name },
    done(object) {
      if (object === undefined || object.metadata.uid !== uid) return true
      const leaving = objects(object.status, 'conditions').find(({ type }) => type === 'Leaving')
      const message = str(leaving, 'message').split('; to let it go')[0]!
      if (message !== '' && message !== printed) terminal.err(`${singular(SYNC_TARGETS)}/${name} ${message}`)
      printed = message || printed
      return false
    },
    signal: AbortSignal.timeout(timeoutSeconds * 1000),
  })
  if (reached) return
  throw new CommandError(
    `SyncTarget "${name}" still ${printed || 'waits for its syncer'} after ${timeoutSeconds} s; it goes when that is done. ` +
      'If the syncer will not come back, say the same again with --force: the cluster keeps what it holds',
    NOT_LEFT,
  )
}

function detachPolicyOf(workload: string): DetachPolicy {
  if (workload === 'keep') return 'Orphan'
  if (workload === 'delete') return 'Delete'
  throw new CommandError(`--workload: ${JSON.stringify(workload)} is neither "keep" nor "delete"`)
}

interface Wanted {
  resource: GroupVersionResource
  wanted: KubeObject
  /** Keys of labels. */
  removed: readonly string[]
  annotations?: InventoryEntry['annotations'] | undefined
}

/** @returns the object as it is now */
async function ensure(
  space: SpaceClient,
  { resource, wanted, removed, annotations = {} }: Wanted,
  terminal: Terminal,
): Promise<KubeObject> {
  const name = wanted.metadata.name!
  const found = (await find(space, resource, name)) ?? (await create(space, resource, wanted, terminal))
  const now = found.metadata.labels ?? {}
  const set = Object.entries(wanted.metadata.labels ?? {}).filter(([key, value]) => now[key] !== value)
  const gone = removed.filter(key => Object.hasOwn(now, key)).map(key => [key, null] as const)
  const noted = Object.entries(annotations).filter(
    ([key, value]) => (found.metadata.annotations?.[key] ?? null) !== value,
  )
  if (set.length + gone.length + noted.length === 0) return found
  try {
    const [asLabels, asAnnotations] = [[...set, ...gone], noted].map(pairs => Object.fromEntries(pairs))
    const body = { metadata: { labels: asLabels, annotations: asAnnotations } }
    const changed = await space.patch(resource, { name }, 'merge', body, OPTIONS)
    // in kubectl's words
    const done = set.length > 0 ? 'labeled' : gone.length > 0 ? 'unlabeled' : 'annotated'
    terminal.out(`${singular(resource)}/${name} ${done}`)
    return changed
  } catch (error) {
    throw failed(`failed to change labels of ${wanted.kind}`, NOT_LABELED, error)
  }
}

async function create(
  space: SpaceClient,
  resource: GroupVersionResource,
  wanted: KubeObject,
  terminal: Terminal,
): Promise<KubeObject> {
  try {
    const created = await space.create(resource, wanted, OPTIONS)
    terminal.out(`${singular(resource)}/${wanted.metadata.name} created`)
    return created
  } catch (error) {
    // somebody else was faster: then it is theirs, and gets its labels below
    const name = wanted.metadata.name!
    const found = isStatusError(error, 'AlreadyExists') ? await find(space, resource, name) : undefined
    if (found) return found
    throw failed(`Creation of ${wanted.kind} failed`, NOT_MADE, error)
  }
}

async function find(space: SpaceClient, resource: GroupVersionResource, name: string): Promise<KubeObject | undefined> {
  try {
    return await space.get(resource, { name })
  } catch (error) {
    if (isStatusError(error, 'NotFound') && error.details?.kind === resource.resource) return undefined
    throw error
  }
}

/** Deletes this very object, and none that came into its place. @returns it, where it was still there */
async function remove(
  space: SpaceClient,
  resource: GroupVersionResource,
  object: KubeObject | undefined,
): Promise<KubeObject | undefined> {
  if (object === undefined) return undefined
  const { name = '', uid = '' } = object.metadata
  try {
    await space.delete(resource, { name }, { preconditions: { uid } })
    return object
  } catch (error) {
    if (!isStatusError(error, 'NotFound') || error.details?.kind !== resource.resource) throw error
    return undefined
  }
}

/** In kubectl's words. */
function deletion(resource: GroupVersionResource, name: string): string {
  return `${singular(resource)} "${name}" deleted`
}

function named(kind: string, name: string, labels: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: EDGE_API_VERSION, kind, metadata: { name, labels: { ...labels } } }
}

function failed(what: string, exitCode: number, error: unknown): CommandError {
  return new CommandError(`${what}: ${messageOf(error)}`, exitCode, {
    cause: error,
  })
}
