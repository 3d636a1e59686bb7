import { createHash } from 'node:crypto'

/** In bytes; what stands around it in a slot of the file is short. */
const LONGEST = 800

/** A key's id, or what stands for it where it is too long to be noted. */
export function shortId(id: string): string {
  // no character takes more than six bytes in JSON
  if (id.length * 6 <= LONGEST) return id
  if (Buffer.byteLength(JSON.stringify(id)) <= LONGEST) return id
  return `${id.slice(0, 100)}…${createHash('sha256').update(id).digest('hex')}`
}
