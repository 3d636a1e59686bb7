/** The spaces that every server has from its first start: the core, the exports, one for inventory, one for workload. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { TYPES_PATH } from '../../apimachinery/spaceTypes.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { ROOT } from './tree.ts'

/** Names under the root, with their types. */
export const INITIAL_SPACES: Readonly<Record<string, string>> = {
  espw: 'core',
  compute: 'universal',
  imw1: 'inventory',
  wmw1: 'workload',
}
export const BOOTSTRAP = 'bootstrap'

/** Makes what is missing. Returns once the Workspaces exist; they become Ready by themselves. */
export async function ensureInitialSpaces({
  types,
  registry,
}: {
  types: TypeRegistry
  registry: Pick<Registry, 'create'>
}): Promise<void> {
  const kind = types.in(ROOT).find(WORKSPACES.group, WORKSPACES.version, WORKSPACES.resource)
  if (kind === undefined) throw new Error('the kind Workspace is missing from the catalog')
  const create = async ([name, type]: [string, string]): Promise<void> => {
    const object = {
      apiVersion: `${WORKSPACES.group}/${WORKSPACES.version}`,
      kind: 'Workspace',
      metadata: { name },
      spec: { type: { name: type, path: TYPES_PATH } },
    }
    try {
      await registry.create(systemContext(ROOT, BOOTSTRAP), kind, '', object)
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
  await Promise.all(Object.entries(INITIAL_SPACES).map(create))
}
