/** `ensure wmw` and `remove wmw`: workload description spaces under the root. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION, LOGICAL_CLUSTERS } from '../../apimachinery/resources.ts'
import type { SpaceClient } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { EVERYTHING } from '../../placement/consent/consentObjects.ts'
import { INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../../placement/words/placement.ts'
import { singular } from '../shell/changes.ts'
import { CommandError, NOT_ENTERED } from '../shell/commandError.ts'
import { type DeletionOptions, deleteSpace } from '../shell/session/deleteSpace.ts'
import { enter } from '../shell/session/enter.ts'
import { pathOf, type Session } from '../shell/session/session.ts'
import { ROOT_SPACE, resolveDots } from '../shell/session/spacePath.ts'
import { ensureSpace } from '../shell/session/spaces.ts'
import type { Terminal } from '../shell/terminal.ts'
import { type Ensured, ensureBinding, ensureGrant, grantLine, servesNone } from './grants/grants.ts'

export const WORKLOAD_TYPE = 'root:workload'
export const DEFAULT_INVENTORY = 'root:imw1'
/** Flags that grant {@link EVERYTHING}. */
const ALL_OF_IT = ['--cluster-scoped', '--granting-kinds', "--upsync '*'", "--associated '*'"]

interface WmwOptions {
  withKube: boolean
  /** Paths of the inventories to use, as users write them. Absent: {@link DEFAULT_INVENTORY}, if the space uses none. */
  inventories?: readonly string[] | undefined
  enter: boolean
}

/**
 * Makes the space when it is missing, and has it use inventories. A grant that an administrator took away is requested, not made again.
 * @returns the Workspaces of its path, and the consents that it found or made
 */
export async function ensureWmw(
  session: Session,
  name: string,
  options: WmwOptions,
  terminal: Terminal,
): Promise<readonly KubeObject[]> {
  const path = pathBelowRoot(name)
  const listeners = { created: terminal.out, progress: terminal.err }
  const spaces = await orNotEntered(ensureSpace(session.client, path, listeners, WORKLOAD_TYPE))
  const consents: KubeObject[] = []
  if (!options.withKube) {
    terminal.err('Note: every space serves the kinds of Kubernetes; --with-kube false takes none away.')
  }
  const requested = (options.inventories ?? []).filter(inventory => inventory !== '')
  for (const inventory of requested)
    consents.push(...(await useInventory(session, path, { inventory, isRequested: true }, terminal)))
  if (options.inventories === undefined) {
    consents.push(
      ...(await useInventory(session, path, { inventory: DEFAULT_INVENTORY, isRequested: false }, terminal)),
    )
  }
  if (options.enter) await orNotEntered(enter(session, path, {}, terminal))
  else terminal.out(`${path} is ready; enter it with: kubectl ws ${path}`)
  return [...spaces, ...consents]
}

/** @throws CommandError {@link NOT_ENTERED} for a refusal: scripts tell it from other troubles */
async function orNotEntered<R>(doing: Promise<R>): Promise<R> {
  try {
    return await doing
  } catch (error) {
    if (!(error instanceof CommandError) && !isStatusError(error, 'Forbidden')) throw error
    throw new CommandError(error.message, NOT_ENTERED, { cause: error })
  }
}

/** Both consents, as far as the user may give them; else what to ask for. */
async function useInventory(
  session: Session,
  path: string,
  { inventory: argument, isRequested }: { inventory: string; isRequested: boolean },
  terminal: Terminal,
): Promise<KubeObject[]> {
  const inventory = await pathOf(session, argument)
  const space = session.client.in(path)
  let binding: Ensured
  try {
    if (!isRequested && (await listAll(space, INVENTORY_BINDINGS, { limit: 1 })).items.length > 0) return []
    binding = await ensureBinding(space, inventory)
    if (binding.made === 'created')
      terminal.out(`${singular(INVENTORY_BINDINGS)}/${binding.object.metadata.name} created`)
  } catch (error) {
    if (servesNone(error)) throw noWorkloadSpace(path, error)
    if (!isStatusError(error, 'Forbidden')) throw error
    // who may only work there enters all the same
    if (isRequested) terminal.err(`Note: you may not bind ${path} to ${inventory}; an administrator of ${path} may.`)
    return []
  }
  if (binding.made !== 'created' && !isRequested) return [binding.object]
  const cluster = await idOf(space)
  try {
    const grantee = { path, ...(cluster !== undefined && { cluster }) }
    const { object, made } = await ensureGrant(session.client.in(inventory), grantee, EVERYTHING)
    if (made !== 'unchanged')
      terminal.out(`${singular(PLACEMENT_GRANTS)}/${object.metadata.name} ${made} in ${inventory}`)
    return [binding.object, object]
  } catch (error) {
    if (!isStatusError(error, 'Forbidden', 'NotFound')) throw error
    terminal.err(
      `Note: ${path} may place nothing on ${inventory} yet. An administrator of that inventory grants it with:`,
    )
    terminal.err(`  ${grantLine(inventory, path, ...(cluster === undefined ? [] : ['--id', cluster]), ...ALL_OF_IT)}`)
    return [binding.object]
  }
}

/** `undefined` to those who may not see it. */
export async function idOf(space: SpaceClient): Promise<string | undefined> {
  try {
    return (await space.get(LOGICAL_CLUSTERS, { name: 'cluster' })).metadata.annotations?.[CLUSTER_ANNOTATION]
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return undefined
    throw error
  }
}

export function noWorkloadSpace(path: string, cause: unknown): CommandError {
  return new CommandError(`${path} is no workload space: it serves no InventoryBindings; choose another name`, 1, {
    cause,
  })
}

/** Deletes the space with all that is in it, and waits until it is gone. @throws CommandError when there is none */
export async function removeWmw(
  session: Session,
  name: string,
  options: DeletionOptions,
  terminal: Terminal,
): Promise<KubeObject | readonly KubeObject[]> {
  const path = pathBelowRoot(name)
  return (await deleteSpace(session, path, options, terminal)) ?? []
}

export function pathBelowRoot(name: string): string {
  const text = name.replace(/^:/, '')
  const path = resolveDots(text.startsWith(`${ROOT_SPACE}:`) ? text : `${ROOT_SPACE}:${text}`)
  if (!path.includes(':')) throw new CommandError(`${JSON.stringify(name)} does not name a workspace under root`)
  return path
}
