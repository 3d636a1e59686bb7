/**
 * The two consents that placing takes, made with a user's own rights: the InventoryBinding in the workload space and the
 * PlacementGrant in the inventory.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import {
  bindingName,
  boundPath,
  grantName,
  inventoryBinding,
  placementGrant,
} from '../../../placement/consent/consentObjects.ts'
import { INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../../../placement/words/placement.ts'
import { CommandError } from '../../shell/commandError.ts'

interface GrantedTo {
  readonly path?: string
  readonly cluster?: string
}

/** A space as it is granted. `cluster`: its id, where it is known; a grant for another space that was at the path is none. */
interface Grantee extends GrantedTo {
  readonly path: string
}

export interface Ensured {
  readonly object: KubeObject
  readonly made: 'created' | 'configured' | 'unchanged'
}

const OPTIONS = { fieldManager: 'kubectl-kubestellar' }
const PAGE = { limit: 500 }
const NAMES_TRIED = 10

/**
 * Has a workload space use the inventory at a path, unless it does.
 * @returns the InventoryBinding
 */
export async function ensureBinding(space: SpaceClient, inventory: string): Promise<Ensured> {
  for (let i = 1; ; i++) {
    const { items } = await listAll(space, INVENTORY_BINDINGS, PAGE)
    const found = items.find(binding => boundPath(binding) === inventory)
    if (found) return { object: found, made: 'unchanged' }
    // root:a-b and root:a:b would be called the same
    const name = i === 1 ? bindingName(inventory) : bindingName(`${inventory}-${i}`)
    try {
      const object = await space.create(INVENTORY_BINDINGS, inventoryBinding(name, inventory), OPTIONS)
      return { object, made: 'created' }
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists') || i === NAMES_TRIED) throw error
    }
  }
}

/** Grants a space on an inventory, unless something is granted to it there. `spec` without `spaces`. */
export async function ensureGrant(
  inventory: SpaceClient,
  grantee: Grantee,
  spec: Record<string, unknown>,
): Promise<Ensured> {
  const { path, cluster } = grantee
  const isFor = (space: GrantedTo): boolean =>
    space.path === path && (cluster === undefined || space.cluster === undefined || space.cluster === cluster)
  const found = (await grantsIn(inventory)).find(grant => spacesOf(grant).some(isFor))
  if (found) return { object: found, made: 'unchanged' }
  return await setGrant(inventory, grantee, spec)
}

interface GrantChange {
  /** Name of the PlacementGrant; default: the space's path. */
  readonly name?: string | undefined
  /** Fields that `spec` does not name go; else they stay as they are. */
  readonly isReplaced?: boolean | undefined
  /** Called with a PlacementGrant that would change, and with what it would be. May throw. */
  readonly approve?: (before: KubeObject, after: KubeObject) => Promise<void>
}

/**
 * Makes the PlacementGrant of that name, or gives it the fields of `spec`; other spaces that it is for stay.
 * @throws CommandError when it is for other spaces only: they would be granted something else
 */
export async function setGrant(
  inventory: SpaceClient,
  grantee: Grantee,
  spec: Record<string, unknown>,
  { name = grantName(grantee.path), isReplaced = false, approve }: GrantChange = {},
): Promise<Ensured> {
  const { path, cluster } = grantee
  try {
    const object = await inventory.create(PLACEMENT_GRANTS, placementGrant(name, grantee, spec), OPTIONS)
    return { object, made: 'created' }
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
  const found = await inventory.get(PLACEMENT_GRANTS, { name })
  const before = spacesOf(found)
  const own = before.find(space => space.path === path)
  if (own === undefined) {
    throw new CommandError(`PlacementGrant "${name}" is for other spaces; give this one a name of its own with --name`)
  }
  const spaces = before.map(space => (space.path === path ? grantee : space))
  // a later space at the path is granted nothing that the one before it was
  const isAnother = cluster !== undefined && own.cluster !== undefined && own.cluster !== cluster
  const kept = isReplaced || isAnother ? {} : specOf(found)
  const changed = { ...found, spec: { ...kept, ...spec, spaces } }
  if (!equalJson(changed.spec, found.spec)) await approve?.(found, changed)
  const object = await inventory.update(PLACEMENT_GRANTS, changed, OPTIONS)
  const same = object.metadata.resourceVersion === found.metadata.resourceVersion
  return { object, made: same ? 'unchanged' : 'configured' }
}

interface Ungranted {
  /** PlacementGrants that were for this space alone. */
  readonly deleted: readonly KubeObject[]
  /** Those that go on for other spaces. */
  readonly changed: readonly KubeObject[]
  /** Those that are for a space above this one, and so for this one still. */
  readonly remaining: readonly { name: string; path: string }[]
}

/** Takes a space, by its path, out of every PlacementGrant of an inventory. */
export async function removeGrants(inventory: SpaceClient, path: string): Promise<Ungranted> {
  const [deleted, changed]: [KubeObject[], KubeObject[]] = [[], []]
  const remaining: { name: string; path: string }[] = []
  for (const grant of await grantsIn(inventory)) {
    const { name = '', uid, resourceVersion } = grant.metadata
    const spaces = spacesOf(grant)
    const left = spaces.filter(space => space.path !== path)
    const above = left.find(space => space.path !== undefined && path.startsWith(`${space.path}:`))
    if (above?.path !== undefined) remaining.push({ name, path: above.path })
    if (left.length === spaces.length) continue
    if (left.length === 0) {
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
      await inventory.delete(PLACEMENT_GRANTS, { name }, { preconditions })
      deleted.push(grant)
    } else {
      const spec = { ...specOf(grant), spaces: left }
      changed.push(await inventory.update(PLACEMENT_GRANTS, { ...grant, spec }, OPTIONS))
    }
  }
  return { deleted, changed, remaining }
}

/** Request to an inventory's administrator; `more` are further arguments. */
export function grantLine(inventory: string, path: string, ...more: readonly string[]): string {
  return ['kubectl kubestellar grant --imw', inventory, path, ...more].join(' ')
}

/** All PlacementGrants of an inventory. @throws CommandError when the space serves none */
export async function grantsIn(inventory: SpaceClient): Promise<KubeObject[]> {
  try {
    return (await listAll(inventory, PLACEMENT_GRANTS, PAGE)).items
  } catch (error) {
    throw servesNone(error) ? noInventory(error) : error
  }
}

/** Error for a space without such a kind. */
export function noInventory(error: unknown): CommandError {
  return new CommandError('this space is no inventory: name the one whose Locations are granted with --imw', 1, {
    cause: error,
  })
}

/** Whether it says that the space has no PlacementGrants at all, as opposed to no such space or object. */
export function servesNone(error: unknown): boolean {
  return isStatusError(error, 'NotFound') && error.details?.name === undefined
}

export function spacesOf(grant: KubeObject): GrantedTo[] {
  const { spaces } = specOf(grant)
  return (Array.isArray(spaces) ? spaces : []).filter(isRecord)
}

export function specOf({ spec }: KubeObject): Record<string, unknown> {
  return isRecord(spec) ? spec : {}
}
