/** Uids of objects that are never stored. */
import { createHash } from 'node:crypto'

/** A UUID of version 8 (custom, RFC 9562) made from what the object is: the same at every start, on every server. */
export function fixedUid(what: string): string {
  const hex = createHash('sha256').update(`orrery ${what}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
