/** CustomResourceDefinitions in mailboxes: one stays while anybody's objects there are of its kind, whoever brought it. */
import type { GroupResource } from '../../apimachinery/object.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import type { Mailbox } from './mailboxes.ts'
import { objectKey, parseObjectKey, resourceKey } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Carried } from './syncerConfig.ts'

/** Where the definition of a kind is, if it is a custom one. */
export function definitionKey({ group, resource }: GroupResource): string {
  return objectKey(CRDS, '', `${resource}.${group}`)
}

/** Whether the object defines a kind of which the mailbox should hold objects. */
export function isNeededDefinition(join: PlacementJoin, mailbox: string, key: string): boolean {
  if (!key.startsWith(`${resourceKey(CRDS)}|`)) return false
  const { name } = parseObjectKey(key)
  const dot = name.indexOf('.')
  return join.needsKind(mailbox, resourceKey({ group: name.slice(dot + 1), resource: name.slice(0, dot) }))
}

/** Definitions in the mailbox that nobody places any more, and that what is placed there needs. */
export function keptDefinitions(mailbox: Mailbox, content: ReadonlyMap<string, Carried>): Carried[] {
  const kept = new Map<string, Carried>()
  const seen = new Set<string>()
  for (const { resource } of content.values()) {
    const key = definitionKey(resource)
    if (seen.has(key)) continue
    seen.add(key)
    const copy = content.has(key) ? undefined : mailbox.copies.get(key)
    if (copy) kept.set(key, { resource: copy.resource, namespace: '', name: parseObjectKey(key).name })
  }
  return [...kept.values()]
}
