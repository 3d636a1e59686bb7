/** `grant`, `ungrant` and `grants`: what an inventory's administrator says about who may place there. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { type LabelSelectorObject, labelSelectorFromObject } from '../../../apimachinery/selectors.ts'
import type { Client, DiscoveredResource, SpaceClient } from '../../../client/client.ts'
import { PLACEMENT_GRANTS } from '../../../placement/words/placement.ts'
import { printObjects, singular } from '../../shell/changes.ts'
import { CommandError } from '../../shell/commandError.ts'
import { type ConfirmOptions, confirm } from '../../shell/confirm.ts'
import { columns, type DocumentOptions } from '../../shell/output.ts'
import { pathOf, type Session } from '../../shell/session/session.ts'
import type { Terminal } from '../../shell/terminal.ts'
import type { InventoryOptions } from '../sessions.ts'
import { type GrantOptions, grantSpec, kindsText } from './grantSpec.ts'
import { grantsIn, noInventory, removeGrants, servesNone, setGrant, spacesOf, specOf } from './grants.ts'

interface GrantCommandOptions extends GrantOptions, InventoryOptions, ConfirmOptions {
  name?: string
  id?: string
  replace?: boolean
  unserved?: boolean
}

const KIND = singular(PLACEMENT_GRANTS)
const HEAD = [
  'NAME',
  'SPACES',
  'LOCATIONS',
  'NAMESPACES',
  'ALLOW',
  'DENY',
  'CLUSTER-SCOPED',
  'GRANTING',
  'ADOPT',
  'UPSYNC',
  'ASSOCIATED',
]

export async function grantCommand(
  session: Session,
  space: string,
  options: GrantCommandOptions,
  terminal: Terminal,
): Promise<KubeObject> {
  const spec = grantSpec(options)
  const inventory = await pathOf(session, options.imw)
  const path = await pathOf(session, space)
  if (options.unserved !== true) await checkKinds(session.client, { inventory, path }, spec)
  const approve = async (before: KubeObject, after: KubeObject): Promise<void> => {
    const [was, is] = [rowOf(before), rowOf(after)]
    for (const [i, field] of HEAD.entries()) if (was[i] !== is[i]) terminal.err(`${field}: ${was[i]} -> ${is[i]}`)
    await confirm(`This changes what ${was[1]} may place on ${inventory}.`, options, terminal)
  }
  try {
    const { object, made } = await setGrant(
      session.client.in(inventory),
      { path, ...(options.id && { cluster: options.id }) },
      spec,
      { name: options.name, isReplaced: options.replace, approve },
    )
    terminal.out(`${KIND}/${object.metadata.name} ${made}`)
    return object
  } catch (error) {
    if (servesNone(error)) throw noInventory(error)
    if (!isStatusError(error, 'Invalid') || !error.message.includes('is another space now')) throw error
    const remedy = `kubectl kubestellar ungrant --imw ${inventory} ${path}`
    throw new CommandError(`${path} is another space now than the one that was granted; first: ${remedy}`, 1, {
      cause: error,
    })
  }
}

/** A kind that neither the inventory nor the space serves is a slip, which would take away what is placed. @throws CommandError */
async function checkKinds(
  client: Client,
  { inventory, path }: { inventory: string; path: string },
  spec: Record<string, unknown>,
): Promise<void> {
  if (['allow', 'deny', 'upsync'].every(field => spec[field] === undefined)) return
  const served = [...(await client.in(inventory).discover()), ...(await servedIn(client.in(path)))]
  for (const [field, flag] of [
    ['allow', '--allow'],
    ['deny', '--deny'],
    ['upsync', '--upsync'],
  ] as const) {
    for (const { apiGroup, resources } of (spec[field] ?? []) as { apiGroup: string; resources: string[] }[]) {
      const unknown = resources.filter(
        resource => resource !== '*' && !served.some(kind => kind.resource === resource && isOf(kind, apiGroup)),
      )
      for (const resource of unknown) {
        const name = groupResourceName({ group: apiGroup, resource })
        const meant = served.find(kind => kind.kind.toLowerCase() === resource.toLowerCase() && isOf(kind, apiGroup))
        if (meant)
          throw new CommandError(`${flag}: "${name}" is no resource; did you mean ${groupResourceName(meant)}?`)
        throw new CommandError(
          `${flag}: neither ${inventory} nor ${path} serves "${name}"; mind plural and group, or add --unserved`,
        )
      }
    }
  }
}

/** Nothing where the space shows itself to its own members only. */
async function servedIn(space: SpaceClient): Promise<DiscoveredResource[]> {
  try {
    return await space.discover()
  } catch (error) {
    if (isStatusError(error, 'Forbidden') || isStatusError(error, 'NotFound')) return []
    throw error
  }
}

function isOf(kind: { group: string }, apiGroup: string): boolean {
  return apiGroup === '*' || kind.group === apiGroup
}

/** @returns the PlacementGrants that it deleted, as they were, and those that it changed */
export async function ungrantCommand(
  session: Session,
  space: string,
  options: InventoryOptions & ConfirmOptions,
  terminal: Terminal,
): Promise<readonly KubeObject[]> {
  const inventory = await pathOf(session, options.imw)
  const path = await pathOf(session, space)
  const what = `This takes back what ${path} was granted on ${inventory}; what it has placed there leaves the clusters.`
  await confirm(what, options, terminal)
  const { deleted, changed, remaining } = await removeGrants(session.client.in(inventory), path)
  for (const { metadata } of deleted) terminal.out(`${KIND} "${metadata.name}" deleted`)
  for (const { metadata } of changed) terminal.out(`${KIND}/${metadata.name} configured`)
  for (const { name, path: above } of remaining) {
    terminal.err(`Note: PlacementGrant "${name}" is for ${above}, and so for ${path} still.`)
  }
  if (deleted.length + changed.length > 0) return [...deleted, ...changed]
  if (remaining.length === 0) throw new CommandError(`no PlacementGrant in ${inventory} is for ${path}`)
  throw new CommandError(`no PlacementGrant in ${inventory} names ${path}; take away what is granted above it`)
}

export async function grantsCommand(
  session: Session,
  options: InventoryOptions & DocumentOptions,
  terminal: Terminal,
): Promise<void> {
  const inventory = await pathOf(session, options.imw)
  const grants = await grantsIn(session.client.in(inventory))
  if (options.output !== undefined) return printObjects(grants, options.output, terminal)
  if (grants.length === 0) terminal.err(`No PlacementGrants found in ${inventory}: nobody may place there.`)
  else for (const line of columns([HEAD, ...grants.map(rowOf)])) terminal.out(line)
}

function rowOf(grant: KubeObject): string[] {
  const { locations, namespaces, allow, deny, clusterScoped, grantingKinds, adoptExisting, upsync, associated } =
    specOf(grant)
  return [
    grant.metadata.name ?? '',
    spacesOf(grant)
      .map(({ path, cluster }) => path ?? cluster ?? '')
      .join(','),
    locations === undefined ? '<all>' : labelSelectorFromObject(locations as LabelSelectorObject).toString() || '<all>',
    Array.isArray(namespaces) ? namespaces.join(',') || '<none>' : '<all>',
    allow === undefined ? '<all>' : kindsText(allow) || '<none>',
    kindsText(deny) || '<none>',
    String(clusterScoped === true),
    String(grantingKinds === true),
    String(adoptExisting === true),
    kindsText(upsync) || '<none>',
    Array.isArray(associated) ? associated.join(',') || '<none>' : '<none>',
  ]
}
