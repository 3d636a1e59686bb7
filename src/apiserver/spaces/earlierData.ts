/**
 * What an earlier release stored, brought along: there a space's type was stored and meant nothing, and nobody had to consent
 * to placing. Runs once, before controllers and requests, in steps that may be repeated after a crash; whoever calls it sets
 * the mark that it is done last. A space that holds kinds which its new type would not serve stays universal and goes on
 * serving them: nothing is ever lost by a type.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { SPACE_TYPES, type SpaceType, serves, TYPES_PATH, UNIVERSAL } from '../../apimachinery/spaceTypes.ts'
import type { Key, Store, Stored } from '../../storage/store.ts'
import { RBAC_GROUP } from '../auth/rbacRules.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import { rangeOf } from '../registry/keys.ts'
import type { Registry } from '../registry/registry.ts'
import type { Logger } from '../request/logger.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { OWNER_BINDING } from './spaceContent.ts'
import type { SpaceTree } from './tree.ts'
import { viewOf } from './workspace.ts'

/** What is stored. */
export interface EarlierState {
  /** All objects of a kind, in all spaces. */
  list(kind: GroupResource): AsyncIterable<{ readonly space: string; readonly object: KubeObject }>
  /** Whether there is such an object; cluster-scoped. */
  has(space: string, kind: GroupResource, name: string): Promise<boolean>
  /** From the root; `undefined` when there is no such space. */
  pathOf(space: string): string | undefined
}

/** Told of each space that is about to get another type, before any request; maybe again, after a crash. */
export type BeforeTyped = (space: string, type: SpaceType) => Promise<void>

export interface EarlierDataDeps {
  store: Pick<Store, 'get' | 'list' | 'count'>
  registry: Pick<Registry, 'update'>
  types: TypeRegistry
  tree: SpaceTree
  log: Logger
  /** Who writes. */
  component: string
  beforeTyped?: BeforeTyped | undefined
}

const PAGE = 500
/** Where RBAC and ServiceAccounts act and travel, as they did in every space. */
const WITH_IDENTITIES = 'workload-rbac'
const RBAC_KINDS = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const

/** Gives the spaces of an earlier release their types, but for the one at `last`, whose type is the mark. */
export async function typeEarlierSpaces(
  deps: EarlierDataDeps,
  wanted: (path: string) => string | undefined,
  last: string,
): Promise<void> {
  for await (const page of pages(deps.store, WORKSPACES)) {
    await Promise.all(page.map(stored => typeEarlierSpace(deps, stored, wanted, last)))
  }
}

async function typeEarlierSpace(
  deps: EarlierDataDeps,
  stored: Stored,
  wanted: (path: string) => string | undefined,
  last: string,
): Promise<void> {
  const { tree, log, beforeTyped } = deps
  const { id, type: before } = viewOf(stored)
  const path = tree.pathOf(id)
  if (path === undefined || path === last) return
  let type = SPACE_TYPES.get(wanted(path) ?? '') ?? UNIVERSAL
  const left = await notServed(deps, id, type)
  if (left.length > 0) {
    log.warn(
      { space: id, path, type: type.name, kinds: left },
      'a space holds what its type would not serve: it stays universal',
    )
    type = UNIVERSAL
  }
  if (type.describes && !type.identitiesAct && (await givesRights(deps.store, id))) {
    type = SPACE_TYPES.get(WITH_IDENTITIES)!
  }
  // a name that means nothing stays: people know their spaces by it
  if (before === type.name || (type === UNIVERSAL && !SPACE_TYPES.has(before))) return
  try {
    await beforeTyped?.(id, type)
    await setType(deps, stored.key, type)
  } catch (error) {
    if (!isStatusError(error)) throw error
    log.error(
      { err: error, space: id, path, type: type.name },
      'a space of an earlier release could not be given its type',
    )
    return
  }
  log.info({ space: id, path, type: type.name }, 'a space of an earlier release has a type from now on')
}

/** @throws StatusError when it cannot be written */
export async function setType(
  deps: Pick<EarlierDataDeps, 'registry' | 'types' | 'component'>,
  { space, name }: Pick<Key, 'space' | 'name'>,
  type: SpaceType,
): Promise<void> {
  const kind = deps.types.in('*').find(WORKSPACES.group, WORKSPACES.version, WORKSPACES.resource)
  if (kind === undefined) throw new Error('the kind Workspace is missing from the catalog')
  await deps.registry.update(systemContext(space, deps.component), kind, '', name, workspace => ({
    ...workspace,
    spec: { ...(workspace.spec as object), type: { name: type.name, path: TYPES_PATH } },
  }))
}

/** Names of those of Orrery's kinds of which a space holds objects, and which a type does not serve. */
export async function notServed(
  { store, types }: Pick<EarlierDataDeps, 'store' | 'types'>,
  space: string,
  type: SpaceType,
): Promise<string[]> {
  const others = types.in('*').types.filter(kind => kind.form === 'own' && !serves(type, kind))
  const held = async (kind: ResourceType): Promise<boolean> => (await store.count(rangeOf(kind, { space }))) > 0
  const names = await Promise.all(others.map(async kind => ((await held(kind)) ? [kind.resource] : [])))
  return [...new Set(names.flat())].sort()
}

/** Whether there are rights or accounts beside those that each space has: nobody shall lose them by a type. */
async function givesRights(store: Pick<Store, 'list'>, space: string): Promise<boolean> {
  for (const resource of RBAC_KINDS) {
    const { items } = await store.list({ space, group: RBAC_GROUP, resource }, { limit: 2, uncounted: true })
    if (items.some(({ key }) => key.name !== OWNER_BINDING)) return true
  }
  for await (const page of pages(store, { space, group: '', resource: 'serviceaccounts' })) {
    if (page.some(({ key }) => key.name !== 'default')) return true
  }
  return false
}

export function earlierState({ store, tree }: Pick<EarlierDataDeps, 'store' | 'tree'>): EarlierState {
  return {
    async *list(kind) {
      for await (const page of pages(store, kind)) {
        for (const stored of page) yield { space: stored.key.space, object: decodeObject(stored) }
      }
    },
    has: async (space, { group, resource }, name) =>
      (await store.get({ space, group, resource, namespace: '', name })) !== undefined,
    pathOf: space => tree.pathOf(space),
  }
}

async function* pages(
  store: Pick<Store, 'list'>,
  { space, group, resource }: GroupResource & { space?: string },
): AsyncIterable<Stored[]> {
  const range = { group, resource, ...(space !== undefined && { space }) }
  let after: Key | undefined
  do {
    const { items, more } = await store.list(range, { limit: PAGE, uncounted: true, ...(after && { after }) })
    if (items.length > 0) yield items
    after = more ? items.at(-1)?.key : undefined
  } while (after !== undefined)
}
