/** Interned kinds and keys: facts of many copies share each as one object in memory, as a thousand mailboxes name the same ones. */
import type { GroupVersionResource } from '../../../apimachinery/object.ts'

/** More of them are forgotten and met anew, which costs memory and nothing else. */
const KEPT_KINDS = 1000
const KEPT_KEYS = 20_000

export class InternedNames {
  readonly #kinds = new Map<string, GroupVersionResource>()
  readonly #keys = new Map<string, string>()

  kind(resource: GroupVersionResource): GroupVersionResource {
    return kept(this.#kinds, `${resource.resource} ${resource.version} ${resource.group}`, resource, KEPT_KINDS)
  }

  key(key: string): string {
    return kept(this.#keys, key, key, KEPT_KEYS)
  }
}

function kept<T>(known: Map<string, T>, id: string, value: T, limit: number): T {
  const before = known.get(id)
  if (before !== undefined) return before
  if (known.size >= limit) known.clear()
  known.set(id, value)
  return value
}
