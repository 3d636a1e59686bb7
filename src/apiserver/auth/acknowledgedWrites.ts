/**
 * A store that tells of certain writes before their writers hear that they succeeded. What is remembered about access can so
 * be forgotten in time: whoever was told that a right is given or taken sees it with the next request.
 */
import type { Key, Mutation, Store } from '../../storage/store.ts'
import { RBAC_GROUP } from './rbacRules.ts'

export interface WriteListener {
  /** Asked for every write: must be as cheap as a comparison. */
  concerns(key: Key): boolean
  /** Called once for each write that changed something. A promise is waited for before the writer hears. */
  written(key: Key, type: Mutation['type']): void | Promise<void>
}

export function tellingStore(store: Store, listener: WriteListener): Store {
  return {
    get revision() {
      return store.revision
    },
    get compactedRevision() {
      return store.compactedRevision
    },
    get: key => store.get(key),
    list: (range, options) => store.list(range, options),
    count: range => store.count(range),
    watch: (range, options) => store.watch(range, options),
    project: (range, projection) => store.project(range, projection),
    compact: revision => store.compact(revision),
    close: () => store.close(),
    write(write) {
      const result = store.write(write)
      if (!listener.concerns(write.key)) return result
      return result.then(async outcome => {
        if (outcome.ok) await listener.written(write.key, write.mutation.type)
        return outcome
      })
    },
    async writeMany(writes) {
      const outcomes = await store.writeMany(writes)
      for (const [i, { key, mutation }] of writes.entries()) {
        if (outcomes[i]?.ok && listener.concerns(key)) await listener.written(key, mutation.type)
      }
      return outcomes
    },
    update(key, change) {
      if (!listener.concerns(key)) return store.update(key, change)
      let type: Mutation['type'] | undefined
      const noted: typeof change = current => {
        const mutation = change(current)
        type = mutation?.type
        return mutation
      }
      return store.update(key, noted).then(async outcome => {
        if (outcome.ok && type !== undefined) await listener.written(key, type)
        return outcome
      })
    },
  }
}

/** Each hears what concerns it. */
export function allListeners(...listeners: readonly WriteListener[]): WriteListener {
  return {
    concerns: key => listeners.some(each => each.concerns(key)),
    async written(key, type) {
      await Promise.all(listeners.map(each => (each.concerns(key) ? each.written(key, type) : undefined)))
    },
  }
}

/** Objects with whose end tokens end. */
const TOKENS_HANG_ON: readonly string[] = ['serviceaccounts', 'secrets', 'pods', 'nodes']

/** Has access rules forgotten when they change, and tokens when what they hang on does; each for one space. */
export function accessWrites(forget: { rules(space: string): void; tokens(space: string): void }): WriteListener {
  return {
    concerns: ({ group, resource }) => group === RBAC_GROUP || (group === '' && TOKENS_HANG_ON.includes(resource)),
    written({ group, resource, space }, type) {
      if (group === RBAC_GROUP) forget.rules(space)
      // Pods and nodes are written all the time; only their end matters.
      else if (type === 'delete' || resource === 'serviceaccounts' || resource === 'secrets') forget.tokens(space)
    },
  }
}
