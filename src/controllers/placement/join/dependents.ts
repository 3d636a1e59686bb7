/**
 * Which objects of a workload space name which others as their owners. Only objects with owners are held. An owner comes to a
 * mailbox or leaves it without a change of its dependents, whose copies have to say so all the same.
 */
import { MapOfMaps } from '../../../apimachinery/nestedMaps.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { parseObjectKey } from '../../../placement/words/names.ts'
import { groupIn } from './kindNames.ts'

interface Dependent {
  readonly key: string
  readonly namespace: string
  /** As {@link ownerNames} gives them. */
  readonly owners?: readonly string[]
}

/** `group|name` of each owner. The kind is left out: who is of another one is looked at in vain, which is rare and harmless. */
export function ownerNames({ metadata }: KubeObject): string[] {
  return (metadata.ownerReferences ?? []).map(owner => ownerName(groupIn(owner.apiVersion), owner.name))
}

export class Dependents {
  /** Key and Namespace of those who name it, by owner. */
  readonly #byOwner = new MapOfMaps<string>()

  add({ key, namespace, owners = [] }: Dependent): void {
    for (const owner of owners) this.#byOwner.set(owner, key, namespace)
  }

  remove({ key, owners = [] }: Dependent): void {
    for (const owner of owners) this.#byOwner.delete(owner, key)
  }

  /** The objects, and those that may name one of them as an owner. */
  with(keys: readonly string[]): readonly string[] {
    if (this.#byOwner.size === 0) return keys
    const all = new Set(keys)
    for (const key of keys) {
      const { group, namespace, name } = parseObjectKey(key)
      for (const [dependent, around] of this.#byOwner.of(ownerName(group, name)))
        if (namespace === '' || namespace === around) all.add(dependent)
    }
    return all.size === keys.length ? keys : [...all]
  }
}

const ownerName = (group: string, name: string) => `${group}|${name}`
