/**
 * The spaces that every server has from its first start: the core, the exports, one for inventory, one for workload. The builder of the
 * server gives their content from then on. It is created once, so a deletion by a user stands.
 */
import { isStatusError, statusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type GroupVersionResource, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { TYPES_PATH } from '../../placement/spaces/spaceTypes.ts'
import type { Store } from '../../storage/store.ts'
import { systemContext } from '../registry/context.ts'
import { keyOf } from '../registry/keys.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { ROOT, type SpaceTree } from './tree.ts'

/** Names under the root, with their types. */
const INITIAL_SPACES: Readonly<Record<string, string>> = {
  espw: 'core',
  compute: 'universal',
  imw1: 'inventory',
  wmw1: 'workload',
}
export const BOOTSTRAP = 'bootstrap'

/** Made last: where it is, the first start was finished. */
const LAST = 'espw'

/** An object that an initial space has from the first start. */
export interface FirstObject {
  /** Path of the space. */
  readonly path: string
  readonly resource: GroupVersionResource
  readonly object: KubeObject
}

interface InitialSpacesDeps {
  store: Pick<Store, 'get'>
  types: TypeRegistry
  registry: Pick<Registry, 'create'>
  tree: SpaceTree
  firstObjects: readonly FirstObject[]
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
  await ensureWorkspace(deps, LAST)
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

/** A present object is not created again: admission could have reasons to refuse another one. */
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
