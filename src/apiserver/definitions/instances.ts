/** The removal of all instances of a kind whose CustomResourceDefinition goes. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Key, Range, Store } from '../../storage/store.ts'
import { deleteObject } from '../operations/remove.ts'
import { systemContext } from '../registry/context.ts'
import type { RegistryDeps } from '../registry/registry.ts'

/** Instances that are deleted at the same time. */
const DELETIONS_AT_ONCE = 64

/** Resolves when none is left, however long finalizers hold the last; or when the signal aborts. */
export async function deleteInstances(
  deps: RegistryDeps,
  at: { space: string; type: ResourceType; component: string },
  signal: AbortSignal,
): Promise<void> {
  const { space, type, component } = at
  const range = { space, group: type.group, resource: type.resource }
  const { store } = deps
  const { items } = await store.list(range)
  const context = systemContext(space, component)
  const remove = async (key: Key): Promise<void> => {
    try {
      await deleteObject(deps, context, type, key)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }
  for (let start = 0; start < items.length; start += DELETIONS_AT_ONCE) {
    await Promise.all(items.slice(start, start + DELETIONS_AT_ONCE).map(({ key }) => remove(key)))
  }
  await emptied(store, range, signal)
}

async function emptied(store: Pick<Store, 'project'>, range: Range, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = 0
  const resolveIfEmpty = (): void => {
    if (left === 0) resolve()
  }
  const end = store.project(range, {
    reset(items) {
      left = [...items].length
      resolveIfEmpty()
    },
    apply({ type, previous }) {
      if (type === 'delete') left--
      else if (previous === undefined) left++
      resolveIfEmpty()
    },
  })
  const give = (): void => resolve()
  signal.addEventListener('abort', give)
  if (signal.aborted) give()
  await promise
  signal.removeEventListener('abort', give)
  end()
}
