/** `ensure team`: what a team needs to place its workload on the clusters of an inventory, and nothing more. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { formatFieldError } from '../../../apimachinery/fieldErrors.ts'
import { didYouMean } from '../../../apimachinery/nearest.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import { WORKSPACES } from '../../../apimachinery/resources.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { grantName } from '../../../placement/consent/consentObjects.ts'
import { BUDGET_ANNOTATIONS, budgetErrors } from '../../../placement/spaces/spaceBudget.ts'
import { INVENTORY_BINDINGS, LOCATIONS, PLACEMENT_GRANTS, SYNC_TARGETS } from '../../../placement/words/placement.ts'
import { singular } from '../../shell/changes.ts'
import { CommandError } from '../../shell/commandError.ts'
import type { ConfirmOptions } from '../../shell/confirm.ts'
import { pathOf, type Session } from '../../shell/session/session.ts'
import { splitPath } from '../../shell/session/spacePath.ts'
import { discovers, ensureSpace, enterable } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { grantCommand } from '../grants/grantCommands.ts'
import { grantSpec } from '../grants/grantSpec.ts'
import { type Ensured, ensureBinding, grantsIn, servesNone, spacesOf } from '../grants/grants.ts'
import { type Right, requireRights } from '../requireRights.ts'
import type { InventoryOptions } from '../sessions.ts'
import { idOf, noWorkloadSpace, pathBelowRoot, WORKLOAD_TYPE } from '../workloadSpaces.ts'
import { CLUSTER_ROLE_BINDINGS, ensureTeamRights, subjectsIn, subjectsText, type Team, teamIn } from './teamRights.ts'

export interface TeamOptions extends InventoryOptions, ConfirmOptions {
  locations?: string
  namespaces?: string
  members?: string
  leads?: string
  /** Quantities. */
  objects?: string
  bytes?: string
}

/** A quarter of what a space may hold by itself. */
const QUOTA = { objects: '50k', bytes: '256Mi' } as const
const OPTIONS = { fieldManager: 'kubectl-kubestellar' }
const PAGE = { limit: 500 }

/**
 * Makes space, InventoryBinding, PlacementGrant, rights and budget, in this order. Settings that no flag names stay as they are.
 * @returns all of these objects, as they are now
 * @throws CommandError before anything is made when a right, the inventory or the team's members are missing
 */
export async function ensureTeam(
  session: Session,
  name: string,
  options: TeamOptions,
  terminal: Terminal,
): Promise<readonly KubeObject[]> {
  grantSpec(options)
  checkQuota(options)
  const named = {
    members: options.members === undefined ? undefined : subjectsIn('--members', options.members),
    leads: options.leads === undefined ? undefined : subjectsIn('--leads', options.leads),
  }
  const { client } = session
  const path = pathBelowRoot(name)
  const inventory = await pathOf(session, options.imw)
  const space = client.in(path)
  await checkRights(session, path, inventory)
  const grants = await grantsIn(client.in(inventory))
  const former = await teamIn(space)
  const team: Team = { members: named.members ?? former.members, leads: named.leads ?? former.leads }
  if (team.members.length === 0)
    throw new CommandError(`nothing was changed: name the groups of the team's members with --members`)
  if (options.locations !== undefined) await warnOfSelector(client.in(inventory), { ...options, inventory }, terminal)
  for (const grant of grants) {
    const { name: other } = grant.metadata
    if (other !== grantName(path) && spacesOf(grant).some(granted => granted.path === path))
      terminal.err(`Note: PlacementGrant "${other}" of ${inventory} is for ${path}, too; grants add up.`)
  }

  const report = (resource: GroupVersionResource, { object, made }: Ensured): void =>
    terminal.out(`${singular(resource)}/${object.metadata.name} ${made}`)
  const workspaces = await ensureTeamSpace(session, path, terminal)
  const binding = await bound(space, path, inventory)
  report(INVENTORY_BINDINGS, binding)
  const id = await idOf(space)
  const grant = await grantCommand(
    session,
    path,
    { ...options, imw: inventory, unserved: true, ...(id !== undefined && { id }) },
    terminal,
  )
  for (const [who, role] of [
    ['MEMBERS', 'members'],
    ['LEADS', 'leads'],
  ] as const) {
    const [was, is] = [subjectsText(former[role]), subjectsText(team[role])]
    if (former.members.length > 0 && was !== is) terminal.err(`${who}: ${was} -> ${is}`)
  }
  const rights = await ensureTeamRights(space, team, former, report)
  const workspace = await ensureQuota(session, path, options, terminal)
  terminal.out(`${path} is ready; a member's kubeconfig: kubectl kubestellar kubeconfig --for USER --space ${path}`)
  return [...workspaces.slice(0, -1), workspace, binding.object, grant, ...rights]
}

/** All that the steps take, so that none is done where a later one is refused. */
async function checkRights({ client }: Session, path: string, inventory: string): Promise<void> {
  // for an inventory that is not there: the error names the nearest
  if ((await discovers(client, inventory)) === 'missing') await enterable(client, inventory)
  const { parent = path, name } = splitPath(path)
  const inside: Right[] = [
    { space: path, verb: 'create', resource: INVENTORY_BINDINGS },
    { space: path, verb: 'create', resource: CLUSTER_ROLE_BINDINGS },
  ]
  await requireRights(client, [
    ...((await isThere(client.in(parent), name)) ? inside : [{ space: parent, verb: 'create', resource: WORKSPACES }]),
    { space: parent, verb: 'patch', resource: WORKSPACES },
    { space: inventory, verb: 'create', resource: PLACEMENT_GRANTS },
    { space: inventory, verb: 'update', resource: PLACEMENT_GRANTS },
  ])
}

/** As far as the user may see that. */
async function isThere(parent: SpaceClient, name: string): Promise<boolean> {
  try {
    return (await unlessGone(parent.get(WORKSPACES, { name }))) !== undefined
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return true
    throw error
  }
}

async function ensureTeamSpace({ client }: Session, path: string, terminal: Terminal): Promise<KubeObject[]> {
  let isNew = false
  const created = (line: string): void => {
    isNew = true
    terminal.out(line)
  }
  const workspaces = await ensureSpace(client, path, { created, progress: terminal.err }, WORKLOAD_TYPE)
  if (!isNew) terminal.out(`${singular(WORKSPACES)}/${splitPath(path).name} unchanged`)
  return workspaces
}

async function bound(space: SpaceClient, path: string, inventory: string): Promise<Ensured> {
  try {
    return await ensureBinding(space, inventory)
  } catch (error) {
    throw servesNone(error) ? noWorkloadSpace(path, error) : error
  }
}

/** A selector that chooses nothing is mostly a slip; a grant for clusters to come is none. */
async function warnOfSelector(
  space: SpaceClient,
  { locations = '', inventory }: Pick<TeamOptions, 'locations'> & { inventory: string },
  terminal: Terminal,
): Promise<void> {
  for (const [resource, kind] of [
    [LOCATIONS, 'Location'],
    [SYNC_TARGETS, 'SyncTarget'],
  ] as const) {
    try {
      if ((await listAll(space, resource, { ...PAGE, labelSelector: locations })).items.length > 0) continue
      const { items } = await listAll(space, resource, PAGE)
      const labels = items.flatMap(({ metadata }) => Object.entries(metadata.labels ?? {}).map(pair => pair.join('=')))
      const hint = didYouMean(locations, labels)
      terminal.err(`Warning: no ${kind} of ${inventory} has ${locations}: nothing is placed there until one has${hint}`)
      return
    } catch (error) {
      if (!isStatusError(error, 'Forbidden')) throw error
    }
  }
}

/** @throws CommandError for what is no quantity */
function checkQuota(options: TeamOptions): void {
  for (const measure of ['objects', 'bytes'] as const) {
    const text = options[measure]
    const [problem] = text === undefined ? [] : budgetErrors({ [BUDGET_ANNOTATIONS[measure]]: text })
    if (problem !== undefined) throw new CommandError(formatFieldError({ ...problem, field: `--${measure}` }))
  }
}

/** The budget of the space, on its Workspace. @returns the Workspace */
async function ensureQuota(
  { client }: Session,
  path: string,
  options: TeamOptions,
  terminal: Terminal,
): Promise<KubeObject> {
  const { parent = path, name } = splitPath(path)
  const above = client.in(parent)
  const found = await above.get(WORKSPACES, { name })
  const annotations: Record<string, string> = {}
  const texts: string[] = []
  let isFirst = true
  for (const measure of ['objects', 'bytes'] as const) {
    const key = BUDGET_ANNOTATIONS[measure]
    const was = found.metadata.annotations?.[key]
    const is = options[measure] ?? was ?? QUOTA[measure]
    texts.push(`${is} ${measure}`)
    if (was !== undefined) isFirst = false
    if (is === was) continue
    if (was !== undefined) terminal.err(`QUOTA: ${was} ${measure} -> ${is} ${measure}`)
    annotations[key] = is
  }
  const isSame = Object.keys(annotations).length === 0
  const made = isSame ? 'unchanged' : isFirst ? 'created' : 'configured'
  const workspace = isSame
    ? found
    : await above.patch(WORKSPACES, { name }, 'merge', { metadata: { annotations } }, OPTIONS)
  terminal.out(`budget of ${path} ${made}: ${texts.join(', ')}`)
  return workspace
}
