/** Whether the store takes writes, for `/livez` and `/readyz`. */
import { isStorageError, type Store } from '../../storage/store.ts'
import { ROOT } from '../spaces/tree.ts'

/** Asks the store for a write that changes nothing: it refuses when the disk has failed it. */
export async function takesWrites(store: Pick<Store, 'update'>): Promise<boolean> {
  const key = { space: ROOT, group: '', resource: 'health', namespace: '', name: 'probe' }
  try {
    await store.update(key, () => undefined)
    return true
  } catch (error) {
    if (isStorageError(error)) return false
    throw error
  }
}
