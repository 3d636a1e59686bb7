/** The bytes of a stored object as a version of its kind has them. */
import { apiVersionOf } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Stored } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import { convertTo, storageApiVersion } from '../registry/convert.ts'

/** The stored object as `type` serves it; the stored bytes themselves when that is the same version. */
export function bytesAs(stored: Stored, type: ResourceType): Buffer {
  const served = apiVersionOf(type)
  if (storageApiVersion(type) === served && startsWithVersion(stored.bytes, served)) return stored.bytes
  return Buffer.from(JSON.stringify(convertTo(decodeObject(stored), served, type)))
}

/** Objects of a CRD keep the version that they were stored in when its storage version changes. */
function startsWithVersion(bytes: Buffer, version: string): boolean {
  // Asked of every object in a list: no copies here.
  for (let i = 0; i < version.length; i++) if (bytes[15 + i] !== version.charCodeAt(i)) return false
  return bytes[15 + version.length] === 0x22
}
