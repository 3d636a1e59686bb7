/**
 * A copy of an object for whoever changes it in place. The claims of its managers are shared, entry by entry. They are never changed in
 * place, and with many managers they are much larger than the rest.
 */
import type { KubeObject } from './object.ts'
import { cloneJson, setMember } from './values.ts'

export function copyToChange(object: Readonly<KubeObject>): KubeObject {
  const { metadata } = object
  const { managedFields } = metadata
  if (managedFields === undefined) return cloneJson(object)
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined) setMember(copy, name, value === metadata ? ownMetadata(metadata) : cloneJson(value))
  }
  return copy as KubeObject
}

function ownMetadata(metadata: KubeObject['metadata']): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(metadata)) {
    if (value === undefined) continue
    setMember(copy, name, name === 'managedFields' && Array.isArray(value) ? [...value] : cloneJson(value))
  }
  return copy
}
