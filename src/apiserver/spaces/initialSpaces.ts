/**
 * The spaces that every server has from its first start: the core, the exports, one for inventory, one for workload. And what
 * is in them from then on, as far as whoever builds the server says; it is made once, so what a user deletes stays away.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type GroupVersionResource, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { TYPES_PATH } from '../../apimachinery/spaceTypes.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { ROOT, type SpaceTree } from './tree.ts'

/** Names under the root, with their types. */
export const INITIAL_SPACES: Readonly<Record<string, string>> = {
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
  /** Of the space. */
  readonly path: string
  readonly resource: GroupVersionResource
  readonly object: KubeObject
}

export interface InitialSpacesDeps {
  types: TypeRegistry
  registry: Pick<Registry, 'create'>
  tree: SpaceTree
  firstObjects: readonly FirstObject[]
}

/** Makes what is missing. Returns once the Workspaces exist; they become Ready by themselves. */
export async function ensureInitialSpaces({ types, registry, tree, firstObjects }: InitialSpacesDeps): Promise<void> {
  const create = async (space: string, resource: GroupVersionResource, object: KubeObject): Promise<void> => {
    const kind = types.in(space).find(resource.group, resource.version, resource.resource)
    if (kind === undefined) throw new Error(`the kind ${object.kind} is missing from the catalog`)
    try {
      // a copy: the registry changes what it is given, and another server of the process is given the same
      await registry.create(systemContext(space, BOOTSTRAP), kind, '', cloneJson(object))
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
  const workspace = async (name: string): Promise<void> =>
    await create(ROOT, WORKSPACES, {
      apiVersion: apiVersionOf(WORKSPACES),
      kind: 'Workspace',
      metadata: { name },
      spec: { type: { name: INITIAL_SPACES[name], path: TYPES_PATH } },
    })
  const isFirst = !tree.resolve(`${ROOT}:${LAST}`).found
  await Promise.all(
    Object.keys(INITIAL_SPACES)
      .filter(name => name !== LAST)
      .map(workspace),
  )
  if (isFirst) {
    for (const { path, resource, object } of firstObjects) {
      const resolved = tree.resolve(path)
      if (resolved.found) await create(resolved.space.id, resource, object)
    }
  }
  await workspace(LAST)
}
