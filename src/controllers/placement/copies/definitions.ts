/** CustomResourceDefinitions in mailboxes: one stays while anybody's objects there are of its kind, whoever brought it. */
import type { GroupResource } from '../../../apimachinery/object.ts'
import { CRDS } from '../../../apimachinery/resources.ts'
import { objectKey, parseObjectKey, resourceKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'

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
