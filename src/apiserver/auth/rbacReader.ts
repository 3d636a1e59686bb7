/**
 * Reads the roles and bindings of a space. It remembers the objects of a space that has many: after a change of one of them the others are
 * not parsed again. Hundreds of roles that change one after the other would be megabytes of garbage each time.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Nature } from '../../placement/spaces/nature.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Store, Stored } from '../../storage/store.ts'
import type { RbacObjects } from './rbacIndex.ts'
import { RBAC_GROUP } from './rbacRules.ts'

/**
 * Bound on the acting roles and bindings of one space, as they are stored. Each change of one of them makes a new index of all. One that
 * exceeds the bound on all indexes would be made for each request.
 */
export const MOST_BYTES = 16 * 1024 * 1024
/** A role or binding takes so many times its text, parsed and indexed. */
export const WEIGHT_OF_A_BYTE = 5
/** A smaller set is parsed in a millisecond. */
const REMEMBERED_BYTES = 64 * 1024
const MOST_SPACES = 1000

export interface RbacReaderOptions {
  store: Pick<Store, 'list'>
  /** Which roles and bindings grant anything. */
  nature: Nature
  /** Bound on the memory, about. */
  maxBytes: number
}

export interface Read {
  objects: RbacObjects
  /** Bytes of all objects of the read. */
  bytes: number
  /** Whether nothing was left out. */
  isWhole: boolean
}

/** By kind, namespace and name. */
type Parsed = Map<string, { revision: number; object: KubeObject }>

interface Remembered {
  parsed: Parsed
  bytes: number
}

export class RbacReader {
  readonly #options: RbacReaderOptions
  readonly #remembered: BoundedCache<string, Remembered>

  constructor(options: RbacReaderOptions) {
    this.#options = options
    const weight = { limit: options.maxBytes, of: ({ bytes }: Remembered) => bytes * WEIGHT_OF_A_BYTE }
    this.#remembered = new BoundedCache({ entries: MOST_SPACES, weight })
  }

  /** The store is another than it was: its revisions say nothing of what was read before. */
  reset(): void {
    this.#remembered.clear()
  }

  async read(space: string, work: Work): Promise<Read> {
    const before = this.#remembered.get(space)?.parsed
    const parsed: Parsed = new Map()
    let bytes = 0
    const read = async (resource: string): Promise<KubeObject[]> => {
      const objects: KubeObject[] = []
      for (const item of (await this.#options.store.list({ space, group: RBAC_GROUP, resource })).items) {
        bytes += item.bytes.length
        // what is behind this grants nothing
        if (bytes > MOST_BYTES) break
        const object = known(before, parsed, item)
        if (this.#options.nature.acts(space, { group: RBAC_GROUP, resource }, object)) objects.push(object)
        if (work.due) await work.rest()
      }
      return objects
    }
    // one after the other, so that it is always the same that is left out
    const clusterRoleBindings = await read('clusterrolebindings')
    const clusterRoles = await read('clusterroles')
    const roleBindings = await read('rolebindings')
    const roles = await read('roles')
    if (bytes > REMEMBERED_BYTES) this.#remembered.set(space, { parsed, bytes })
    else this.#remembered.delete(space)
    return { objects: { clusterRoles, clusterRoleBindings, roles, roleBindings }, bytes, isWhole: bytes <= MOST_BYTES }
  }
}

/** A version of an object never changes. */
function known(before: Parsed | undefined, parsed: Parsed, { key, revision, bytes }: Stored): KubeObject {
  const id = `${key.resource}/${key.namespace}/${key.name}`
  const found = before?.get(id)
  const entry = found?.revision === revision ? found : { revision, object: JSON.parse(bytes.toString()) as KubeObject }
  parsed.set(id, entry)
  return entry.object
}
