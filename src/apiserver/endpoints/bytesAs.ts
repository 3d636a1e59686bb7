/** The bytes of a stored object as a version of its kind has them. */
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Stored } from '../../storage/store.ts'
import { isOwnGroup } from '../registry/generic.ts'
import { viewBytes } from '../registry/views.ts'

/**
 * The stored object as `type` serves it; the stored bytes themselves when that is the same version. What the reader and the
 * registry give is ready for it.
 */
export function bytesAs(stored: Stored, type: ResourceType): Buffer {
  return viewBytes(stored, type)
}

/** The same inside of a list, whose kind says that of its items: upstream leaves it out of them, for its own kinds. */
export function itemBytes(stored: Stored, type: ResourceType): Buffer {
  const bytes = bytesAs(stored, type)
  if (!impliesKind(type)) return bytes
  const start = `{"apiVersion":"${apiVersionOf(type)}","kind":"${type.kind}",`
  // Asked of every object in a list: one copy, no parsing.
  if (bytes.toString('latin1', 0, start.length) === start) {
    const item = Buffer.from(bytes.subarray(start.length - 1))
    item[0] = OPENING_BRACE
    return item
  }
  return Buffer.from(JSON.stringify(asItem(JSON.parse(bytes.toString()) as KubeObject, type)))
}

/** The form of {@link itemBytes} for an object that is parsed already; the object itself stays as it is. */
export function asItem(object: KubeObject, type: ResourceType): object {
  if (!impliesKind(type)) return object
  const { apiVersion: _, kind: __, ...item } = object
  return item
}

const OPENING_BRACE = 0x7b

function impliesKind(type: ResourceType): boolean {
  return type.origin === 'builtin' && !isOwnGroup(type.group)
}
