/** The spaces that every server has from its first start: the core, the exports, one for inventory, one for workload. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { ROOT } from './tree.ts'

export const INITIAL_SPACES = ['espw', 'compute', 'imw1', 'wmw1'] as const

/** Makes what is missing. Returns once the Workspaces exist; they become Ready by themselves. */
export async function ensureInitialSpaces({
  types,
  registry,
}: {
  types: TypeRegistry
  registry: Pick<Registry, 'create'>
}): Promise<void> {
  const type = types.in(ROOT).find(WORKSPACES.group, WORKSPACES.version, WORKSPACES.resource)
  if (type === undefined) throw new Error('the kind Workspace is missing from the catalog')
  const create = async (name: string): Promise<void> => {
    const object = {
      apiVersion: `${WORKSPACES.group}/${WORKSPACES.version}`,
      kind: 'Workspace',
      metadata: { name },
      spec: {},
    }
    try {
      await registry.create(systemContext(ROOT, 'bootstrap'), type, '', object)
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
  await Promise.all(INITIAL_SPACES.map(create))
}
