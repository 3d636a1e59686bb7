/** The removal of all instances of a kind whose CustomResourceDefinition goes. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Key } from '../../storage/store.ts'
import { deleteObject } from '../operations/remove.ts'
import { systemContext } from '../registry/context.ts'
import type { RegistryDeps } from '../registry/registry.ts'

/** Instances that are deleted at the same time. */
const DELETIONS_AT_ONCE = 64

/**
 * Resolves when none is left, however long finalizers hold the last; or when the signal aborts. An instance that is created meanwhile (by
 * an apply, or by a request on its way) goes too. The definition would else wait for it for ever.
 */
export async function deleteInstances(
  deps: RegistryDeps,
  at: { space: string; type: ResourceType; component: string },
  signal: AbortSignal,
): Promise<void> {
  const { space, type, component } = at
  const context = systemContext(space, component)
  const remove = async (key: Key): Promise<void> => {
    try {
      await deleteObject(deps, context, type, key)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }
  let left = 0
  /** Those without a deletion so far. */
  let unpassed: Key[] = []
  let wake = (): void => {}
  const end = deps.store.project(
    { space, group: type.group, resource: type.resource },
    {
      reset(items) {
        unpassed = [...items].map(({ key }) => key)
        left = unpassed.length
        wake()
      },
      apply({ type, key, previous }) {
        if (type === 'delete') left--
        else if (previous === undefined) {
          left++
          unpassed.push(key)
        }
        wake()
      },
    },
  )
  const give = (): void => wake()
  signal.addEventListener('abort', give)
  try {
    while (left > 0 && !signal.aborted) {
      const next = unpassed.splice(0, DELETIONS_AT_ONCE)
      if (next.length > 0) await Promise.all(next.map(remove))
      else await new Promise<void>(resolve => (wake = resolve))
    }
  } finally {
    signal.removeEventListener('abort', give)
    end()
  }
}
