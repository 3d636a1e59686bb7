/**
 * The spaces that every server has from its first start: the core, the exports, one for inventory, one for workload. And what
 * is in them from then on, as far as whoever builds the server says; it is made once, so what a user deletes stays away.
 */
import { isStatusError, statusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type GroupVersionResource, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { spaceType, TYPES_PATH } from '../../apimachinery/spaceTypes.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Store } from '../../storage/store.ts'
import { systemContext } from '../registry/context.ts'
import { keyOf } from '../registry/keys.ts'
import type { Registry } from '../registry/registry.ts'
import type { Logger } from '../request/logger.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import {
  type BeforeTyped,
  type EarlierState,
  earlierState,
  notServed,
  setType,
  typeEarlierSpaces,
} from './earlierData.ts'
import { ROOT, type SpaceTree } from './tree.ts'

/** Names under the root, with their types. */
export const INITIAL_SPACES: Readonly<Record<string, string>> = {
  espw: 'core',
  compute: 'universal',
  imw1: 'inventory',
  wmw1: 'workload',
}
export const BOOTSTRAP = 'bootstrap'

/** Made last: where it is, and is of its type, the first start was finished, or an earlier release's data brought along. */
const LAST = 'espw'

/** An object that an initial space has from the first start. */
export interface FirstObject {
  /** Of the space. */
  readonly path: string
  readonly resource: GroupVersionResource
  readonly object: KubeObject
}

/** What whoever builds the server knows of an earlier release's data; the server itself knows no placement. */
export interface EarlierData {
  /** Name of the type that a space gets by its path, beside the initial spaces; `undefined`: it is universal. */
  typeOf(path: string): string | undefined
  /** Objects that must be there so that everything goes on as it is. Asked when the types are what they will be. */
  objects(state: EarlierState): AsyncIterable<FirstObject>
}

export interface InitialSpacesDeps {
  store: Pick<Store, 'get' | 'list' | 'count'>
  types: TypeRegistry
  registry: Pick<Registry, 'create' | 'update'>
  tree: SpaceTree
  log: Logger
  firstObjects: readonly FirstObject[]
  /** Absent: nothing is brought along but the types of the initial spaces. */
  earlier?: EarlierData | undefined
  beforeTyped?: BeforeTyped | undefined
}

/** Makes what is missing. Returns once the Workspaces exist; they become Ready by themselves. */
export async function ensureInitialSpaces(deps: InitialSpacesDeps): Promise<void> {
  const { tree } = deps
  const last = tree.resolve(`${ROOT}:${LAST}`)
  await Promise.all(
    Object.keys(INITIAL_SPACES)
      .filter(name => name !== LAST)
      .map(name => ensureWorkspace(deps, name)),
  )
  if (!last.found) for (const first of deps.firstObjects) await ensureObject(deps, first)
  else if (last.space.type.name !== INITIAL_SPACES[LAST]) await bringAlong(deps)
  await ensureWorkspace(deps, LAST)
}

/** In this order: consent is stored where the types serve it, and the mark is set when all else is done. */
async function bringAlong({ earlier, ...deps }: InitialSpacesDeps): Promise<void> {
  const { tree, log } = deps
  const writing = { ...deps, component: BOOTSTRAP }
  const last = `${ROOT}:${LAST}`
  const initial = new Map(Object.entries(INITIAL_SPACES).map(([name, type]) => [`${ROOT}:${name}`, type]))
  await typeEarlierSpaces(writing, path => initial.get(path) ?? earlier?.typeOf(path), last)
  for await (const object of earlier?.objects(earlierState(deps)) ?? []) {
    try {
      await ensureObject(deps, object)
    } catch (error) {
      // what cannot be made stops no server: its maker is told what is missing, and everything else goes on
      if (!isStatusError(error)) throw error
      const { path, resource } = object
      const at = { err: error, path, resource: resource.resource, name: object.object.metadata.name }
      log.error(at, 'an object that goes with data of an earlier release could not be made; make it by hand')
    }
  }
  const marked = tree.resolve(last)
  if (!marked.found) return
  const type = spaceType(INITIAL_SPACES[LAST]!)
  const hidden = await notServed(deps, marked.space.id, type)
  if (hidden.length > 0) {
    log.warn({ path: last, kinds: hidden }, 'a space holds objects that are kept, but not served from now on')
  }
  await setType(writing, { space: ROOT, name: LAST }, type)
}

async function ensureWorkspace(deps: InitialSpacesDeps, name: string): Promise<void> {
  await ensureObject(deps, {
    path: ROOT,
    resource: WORKSPACES,
    object: {
      apiVersion: apiVersionOf(WORKSPACES),
      kind: 'Workspace',
      metadata: { name },
      spec: { type: { name: INITIAL_SPACES[name], path: TYPES_PATH } },
    },
  })
}

/** What is there already is not asked for again: admission could have reasons to refuse another one. */
async function ensureObject(
  { store, tree, types, registry }: Pick<InitialSpacesDeps, 'store' | 'tree' | 'types' | 'registry'>,
  { path, resource, object }: FirstObject,
): Promise<void> {
  const resolved = tree.resolve(path)
  if (!resolved.found) return
  const space = resolved.space.id
  const kind = types.in(space).find(resource.group, resource.version, resource.resource)
  const { name = '' } = object.metadata
  if (kind === undefined) throw statusError.notFound(resource, name)
  if ((await store.get(keyOf(space, kind, '', name))) !== undefined) return
  try {
    // a copy: the registry changes what it is given, and another server of the process is given the same
    await registry.create(systemContext(space, BOOTSTRAP), kind, '', cloneJson(object))
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}
