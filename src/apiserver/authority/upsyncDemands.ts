/**
 * Requests of each mailbox to its cluster: the upsync sets of its SyncerConfigs and EdgeSyncConfigs. Read at a write of such an object, and
 * forgotten inside the commit that changes one of the configs. Mailboxes without sets, and heartbeats, cost nothing. Wishes for associated
 * objects stand on the copy that these belong to.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import { askFor, asksOf, associatedWith } from '../../placement/associated/associated.ts'
import { type UpsyncSet, upsyncSets } from '../../placement/select/upsyncSets.ts'
import { parseObjectKey } from '../../placement/words/names.ts'
import { EDGE_SYNC_CONFIGS, isProjected, SYNCER_CONFIGS } from '../../placement/words/placement.ts'
import type { Store, StoreEvent } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

export interface UpsyncDemandsDeps {
  store: Pick<Store, 'get' | 'list' | 'project'>
  types: Pick<TypeRegistry, 'in'>
}

const SOURCES = [
  { of: SYNCER_CONFIGS, field: '"upsync"' },
  { of: EDGE_SYNC_CONFIGS, field: '"upSyncedResources"' },
] as const
const MAILBOXES_KEPT = 1000

export class UpsyncDemands {
  readonly #deps: UpsyncDemandsDeps
  /** A failed or outdated reading is not in here. */
  readonly #sets = new BoundedCache<string, Promise<readonly UpsyncSet[]>>(MAILBOXES_KEPT)

  constructor(deps: UpsyncDemandsDeps) {
    this.#deps = deps
    // A change behind a reading arrives, too, and drops it.
    const forget = { reset: () => this.#sets.clear(), apply: ({ key }: StoreEvent) => this.#sets.delete(key.space) }
    for (const { of } of SOURCES) deps.store.project({ group: of.group, resource: of.resource }, forget)
  }

  of(space: string): Promise<readonly UpsyncSet[]> {
    const known = this.#sets.get(space)
    if (known !== undefined) return known
    const read = this.#read(space)
    this.#sets.set(space, read)
    // The caller gets a failure through the promise itself; here it only must not stay.
    read.catch(() => {
      if (this.#sets.peek(space) === read) this.#sets.delete(space)
    })
    return read
  }

  /** Whether an object belongs to a copy in the mailbox that asks for associated objects of its kind. They share a Namespace. */
  async associates(space: string, kind: GroupResource, object: Readonly<KubeObject>): Promise<boolean> {
    const association = associatedWith(object)
    if (!association) return false
    const { group, resource, namespace, name } = parseObjectKey(association.root)
    if (namespace !== (object.metadata.namespace ?? '')) return false
    const stored = await this.#deps.store.get({ space, group, resource, namespace, name })
    const root = stored && decodeObject(stored)
    return root !== undefined && isProjected(root) && askFor(asksOf(root), kind) !== undefined
  }

  async #read(space: string): Promise<readonly UpsyncSet[]> {
    const { store, types } = this.#deps
    const pluralOf = (group: string, kind: string): string | undefined =>
      types.in(space).types.find(type => type.group === group && type.kind === kind)?.resource
    const pages = await Promise.all(
      SOURCES.map(async ({ of: { group, resource }, field }) => {
        const { items } = await store.list({ space, group, resource })
        // The list of a large mailbox is long: it is parsed only if it can ask for something.
        return items.filter(({ bytes }) => bytes.includes(field)).map(decodeObject)
      }),
    )
    return pages.flat().flatMap(config => upsyncSets(config, pluralOf))
  }
}
