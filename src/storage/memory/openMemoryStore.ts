/**
 * A store without a disk: the whole contract, gone when the process ends.
 */
import { type JournaledStoreOptions, openJournaledStore } from '../journaledStore.ts'
import type { Store } from '../store.ts'
import { MemoryJournal } from './memoryJournal.ts'

export function openMemoryStore(options: JournaledStoreOptions = {}): Promise<Store> {
  return openJournaledStore(new MemoryJournal(), options)
}
