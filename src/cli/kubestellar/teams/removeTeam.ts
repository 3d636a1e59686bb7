/** `remove team`: takes back all that `ensure team` makes, and shows before what goes with it. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { objects, str } from '../../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import { NAMESPACES, WORKSPACES } from '../../../apimachinery/resources.ts'
import { someOf } from '../../../apimachinery/someOf.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { boundPath } from '../../../placement/consent/consentObjects.ts'
import { EDGE_PLACEMENTS, INVENTORY_BINDINGS, PLACEMENT_GRANTS, SLICES } from '../../../placement/words/placement.ts'
import { singular } from '../../shell/changes.ts'
import { CommandError } from '../../shell/commandError.ts'
import { confirm } from '../../shell/confirm.ts'
import { type DeletionOptions, deleteSpace } from '../../shell/session/deleteSpace.ts'
import { pathOf, type Session } from '../../shell/session/session.ts'
import { ROOT_SPACE, splitPath } from '../../shell/session/spacePath.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { grantsIn, removeGrants, spacesOf } from '../grants/grants.ts'
import { requireRights } from '../requireRights.ts'
import { pathBelowRoot } from '../workloadSpaces.ts'
import { CLUSTER_ROLE_BINDINGS, MEMBERS_BINDING } from './teamRights.ts'

export interface RemoveTeamOptions extends DeletionOptions {
  /** The inventory whose grants go. Absent: those that the space uses. */
  imw?: string
}

const KIND = singular(PLACEMENT_GRANTS)
const PAGE = { limit: 500 }
/** Names that are shown. */
const SHOWN = 5
/** Namespaces that every space has. */
const OWN_NAMESPACES = /^(?:default|kube-.*)$/

/**
 * Deletes the space first, so that nothing is held back for a missing grant, and its grants when it is gone.
 * @returns the objects that were there, as they were
 * @throws CommandError when there is no such team, or it is not confirmed
 */
export async function removeTeam(
  session: Session,
  name: string,
  options: RemoveTeamOptions,
  terminal: Terminal,
): Promise<readonly KubeObject[]> {
  const { client } = session
  const path = pathBelowRoot(name)
  const { parent = ROOT_SPACE, name: own } = splitPath(path)
  await requireRights(client, [{ space: parent, verb: 'delete', resource: WORKSPACES }])
  const seen = await unlessGone(client.in(parent).get(WORKSPACES, { name: own }))
  const isThere = seen !== undefined
  if (isThere) await requireTeam(client.in(path), path)
  const inventories = options.imw === undefined ? [] : [await pathOf(session, options.imw)]
  if (isThere && options.imw === undefined) inventories.push(...(await boundBy(client.in(path))))
  const granted = new Map<string, readonly string[]>()
  for (const inventory of inventories) {
    const names = await grantNamesIn(client.in(inventory), path)
    if (names === undefined) terminal.err(left(inventory, path))
    else if (names.length > 0) granted.set(inventory, names)
  }
  const removed: KubeObject[] = []
  if (isThere || granted.size > 0) {
    const what = [
      ...(isThere ? [`the workspace ${path}${await contentOf(client.in(path))}`] : []),
      ...[...granted].map(([inventory, names]) => `PlacementGrant ${some(names)} in ${inventory}`),
    ]
    const sentence = `This deletes team "${own}": ${what.join('; ')}.`
    if (options.yes === true || terminal.ask === undefined) terminal.err(sentence)
    await confirm(sentence, options, terminal)
  }
  if (isThere || granted.size === 0) {
    try {
      const deleted = await deleteSpace(session, path, { ...options, yes: true, seen }, terminal)
      if (deleted !== undefined) removed.push(deleted)
    } catch (error) {
      for (const inventory of granted.keys())
        terminal.err(`Note: its grants are still there; when it is gone: ${line(inventory, path)}`)
      throw error
    }
  }
  for (const inventory of granted.keys()) {
    try {
      const { deleted, changed } = await removeGrants(client.in(inventory), path)
      for (const { metadata } of deleted) terminal.out(`${KIND} "${metadata.name}" deleted`)
      for (const { metadata } of changed) terminal.out(`${KIND}/${metadata.name} configured`)
      removed.push(...deleted, ...changed)
    } catch (error) {
      if (!isStatusError(error, 'Forbidden')) throw error
      terminal.err(left(inventory, path))
    }
  }
  return removed
}

/** @throws CommandError for a space of another use: an inventory, say */
async function requireTeam(space: SpaceClient, path: string): Promise<void> {
  if ((await unlessGone(space.get(CLUSTER_ROLE_BINDINGS, { name: MEMBERS_BINDING }))) !== undefined) return
  throw new CommandError(
    `${path} is no team's space: it has no ClusterRoleBinding "${MEMBERS_BINDING}"; to delete it all the same: kubectl ws delete :${path}`,
  )
}

async function boundBy(space: SpaceClient): Promise<string[]> {
  const { items } = await listAll(space, INVENTORY_BINDINGS, PAGE)
  return [...new Set(items.map(boundPath).filter(inventory => inventory !== ''))]
}

/** `undefined` where the user may not see them; none where there is no inventory any more. */
async function grantNamesIn(inventory: SpaceClient, path: string): Promise<string[] | undefined> {
  try {
    const grants = await grantsIn(inventory)
    return grants
      .filter(grant => spacesOf(grant).some(space => space.path === path))
      .map(({ metadata }) => metadata.name ?? '')
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return undefined
    if (error instanceof CommandError || isStatusError(error, 'NotFound')) return []
    throw error
  }
}

/** How much goes with a space, and which clusters it leaves. */
async function contentOf(space: SpaceClient): Promise<string> {
  const [namespaces, placements, below] = await Promise.all([
    namesOf(space, NAMESPACES),
    namesOf(space, EDGE_PLACEMENTS),
    namesOf(space, WORKSPACES),
  ])
  const slices = (await listAll(space, SLICES, PAGE)).items
  const clusters = new Set(slices.flatMap(slice => objects(slice, 'destinations').map(row => str(row, 'locationName'))))
  const own = namespaces.filter(name => !OWN_NAMESPACES.test(name))
  const parts = [
    ['EdgePlacements', placements],
    ['namespaces', own],
    ['workspaces', below],
  ] as const
  const texts = parts.filter(([, names]) => names.length > 0).map(([what, names]) => `${what} ${some(names)}`)
  const all = texts.length === 0 ? ' with all that is in it' : ` with all that is in it (${texts.join('; ')})`
  return clusters.size === 0 ? all : `${all} and what it placed in the clusters ${some([...clusters].sort())}`
}

async function namesOf(space: SpaceClient, resource: GroupVersionResource): Promise<string[]> {
  return (await listAll(space, resource, PAGE, ({ metadata }) => metadata.name ?? '')).items
}

function some(names: readonly string[]): string {
  return someOf(names, SHOWN)
}

function line(inventory: string, path: string): string {
  return `kubectl kubestellar ungrant --imw ${inventory} ${path}`
}

function left(inventory: string, path: string): string {
  return `Note: you may not take back what ${path} was granted in ${inventory}; an administrator there does so by: ${line(inventory, path)}`
}
