/** Names of the placement translator, and keys of objects. */
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'

export const FIELD_MANAGER = 'placement-translator'
/** `group|resource`: no group, resource or name holds a bar. */
export function resourceKey(gr: GroupResource): string {
  return `${gr.group}|${gr.resource}`
}

/** `group|resource|namespace|name`, without a version: the same object whatever version it is read at. */
export function objectKey(gr: GroupResource, namespace: string, name: string): string {
  return `${gr.group}|${gr.resource}|${namespace}|${name}`
}

/** Key of the definition of a kind, if it is a custom one. */
export function definitionKey({ group, resource }: GroupResource): string {
  return objectKey(CRDS, '', `${resource}.${group}`)
}

const NAMESPACE_KEYS = objectKey(NAMESPACES, '', '')

export function namespaceKey(name: string): string {
  return NAMESPACE_KEYS + name
}

/** Whether the key is that of a Namespace; called for each copy. */
export function isNamespaceKey(key: string): boolean {
  return key.startsWith(NAMESPACE_KEYS)
}

/** Parts of a key that {@link objectKey} has made. */
export function parseObjectKey(key: string): GroupResource & { namespace: string; name: string } {
  const afterGroup = key.indexOf('|') + 1
  const afterResource = key.indexOf('|', afterGroup) + 1
  const afterNamespace = key.indexOf('|', afterResource) + 1
  return {
    group: key.slice(0, afterGroup - 1),
    resource: key.slice(afterGroup, afterResource - 1),
    namespace: key.slice(afterResource, afterNamespace - 1),
    name: key.slice(afterNamespace),
  }
}

/** An object as messages name it. */
export function describeObject(object: GroupResource & { namespace?: string; name: string }): string {
  const { namespace, name } = object
  return `${groupResourceName(object)} "${namespace ? `${namespace}/` : ''}${name}"`
}

/** The Namespace alone; called more than once for each copy. */
export function namespaceOf(key: string): string {
  const from = key.indexOf('|', key.indexOf('|') + 1) + 1
  return key.slice(from, key.indexOf('|', from))
}

const SHARED: ReadonlySet<string> = new Set([resourceKey(NAMESPACES), resourceKey(CRDS)])

/** Whether all who need objects of this kind can live with one that says what they say, whosever it is. */
export function isShared(key: string): boolean {
  return SHARED.has(key.slice(0, key.indexOf('|', key.indexOf('|') + 1)))
}
