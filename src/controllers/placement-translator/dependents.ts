/**
 * Which objects of a workload space name which others as their owners. Only objects with owners are held. An owner comes to a
 * mailbox or leaves it without a change of its dependents, whose copies have to say so all the same.
 */
import { type CarriedOwner, flagsOf, MAX_CARRIED_OWNERS } from '../../apimachinery/carriedOwners.ts'
import { type GroupResource, type KubeObject, type OwnerReference, parseApiVersion } from '../../apimachinery/object.ts'
import { objectKey, parseObjectKey } from './names.ts'

interface Dependent {
  readonly key: string
  readonly namespace: string
  /** As {@link ownerNames} gives them. */
  readonly owners?: readonly string[]
}

/** `group|name` of each owner. The kind is left out: who is of another one is looked at in vain, which is rare and harmless. */
export function ownerNames({ metadata }: KubeObject): string[] {
  return (metadata.ownerReferences ?? []).map(owner => ownerName(groupOf(owner), owner.name))
}

export class Dependents {
  /** Key and Namespace of those who name it, by owner. */
  readonly #byOwner = new Map<string, Map<string, string>>()
  /** Plurals of the kinds that the space holds objects of, by `group|kind`. */
  readonly #resources = new Map<string, string>()

  /** References name kinds, and objects are found by resources. */
  learn({ group, resource }: GroupResource, kind: string): void {
    const id = `${group}|${kind}`
    if (this.#resources.get(id) !== resource) this.#resources.set(id, resource)
  }

  add({ key, namespace, owners = [] }: Dependent): void {
    for (const owner of owners) {
      const known = this.#byOwner.get(owner)
      if (known) known.set(key, namespace)
      else this.#byOwner.set(owner, new Map([[key, namespace]]))
    }
  }

  remove({ key, owners = [] }: Dependent): void {
    for (const owner of owners) {
      const known = this.#byOwner.get(owner)
      known?.delete(key)
      if (known?.size === 0) this.#byOwner.delete(owner)
    }
  }

  /** The objects, and those that may name one of them as an owner. */
  with(keys: readonly string[]): readonly string[] {
    if (this.#byOwner.size === 0) return keys
    const all = new Set(keys)
    for (const key of keys) {
      const { group, namespace, name } = parseObjectKey(key)
      for (const [dependent, around] of this.#byOwner.get(ownerName(group, name)) ?? [])
        if (namespace === '' || namespace === around) all.add(dependent)
    }
    return all.size === keys.length ? keys : [...all]
  }

  /** Those owners of an object that `goes` says yes to. */
  ownersThat(goes: (key: string) => boolean, { metadata }: KubeObject): CarriedOwner[] {
    const found: CarriedOwner[] = []
    for (const owner of metadata.ownerReferences ?? []) {
      const group = groupOf(owner)
      const resource = this.#resources.get(`${group}|${owner.kind}`)
      if (resource === undefined || found.length === MAX_CARRIED_OWNERS) continue
      const { kind, name } = owner
      const namespaces = new Set(['', metadata.namespace ?? ''])
      const namespace = [...namespaces].find(around => goes(objectKey({ group, resource }, around, name)))
      if (namespace !== undefined) found.push({ group, resource, kind, namespace, name, ...flagsOf(owner) })
    }
    return found
  }
}

function groupOf(owner: OwnerReference): string {
  return parseApiVersion(owner.apiVersion)?.group ?? ''
}

const ownerName = (group: string, name: string) => `${group}|${name}`
