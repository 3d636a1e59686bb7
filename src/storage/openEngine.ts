/** Opens a store by the name of its engine, which alone is loaded. All above storage opens stores here. */
import type { JournaledStoreOptions } from './journaledStore.ts'
import type { DataDirOptions } from './level/openLevelStore.ts'
import type { ReplicaOptions } from './replica/replicaStore.ts'
import type { ReplicaLink } from './replica/sharedLog.ts'
import type { Store } from './store.ts'

/** Each engine, with all that it is opened with. */
interface Engines {
  /** LevelDB in a server's data folder. */
  disk: DataDirOptions
  /** Gone when the process ends. */
  memory: JournaledStoreOptions
  /** The store of another thread. */
  replica: ReplicaOptions & { link: ReplicaLink }
}

const OPEN: { [Name in keyof Engines]: (options: Engines[Name]) => Promise<Store> } = {
  disk: async options => (await import('./level/openLevelStore.ts')).openDataDir(options),
  memory: async options => (await import('./memory/openMemoryStore.ts')).openMemoryStore(options),
  replica: async ({ link, ...options }) => (await import('./replica/replicaStore.ts')).openReplica(link, options),
}

/** @throws StorageError as the engine */
export function openEngine<Name extends keyof Engines>(name: Name, options: Engines[Name]): Promise<Store> {
  return OPEN[name](options)
}
