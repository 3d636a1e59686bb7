/**
 * Where a stored text has its revision, for texts of which nobody wrote that down: the member `resourceVersion` of the
 * object's `metadata`, found without parsing the object.
 */
import type { Revision } from '../store.ts'

const MEMBER = '"resourceVersion":"'
const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [...'"\\{}[]'].map(c => c.charCodeAt(0))

/** Offset in bytes of the revision's digits; `undefined` when the text does not have them. */
export function revisionPlace(bytes: Buffer, revision: Revision): number | undefined {
  const member = `${MEMBER}${revision}"`
  const first = bytes.indexOf(member)
  if (first < 0) return undefined
  // Hardly ever does an object say the same about another one; then only the nesting tells which is meant.
  const place = bytes.indexOf(member, first + 1) < 0 ? first : placeInMetadata(bytes, member)
  return place === undefined ? undefined : place + MEMBER.length
}

/** The first place of a member two levels deep: `metadata` is the first of the object's members that is an object. */
function placeInMetadata(bytes: Buffer, member: string): number | undefined {
  let depth = 0
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i]
    if (c === OPEN || c === OPEN_LIST) depth++
    else if (c === CLOSE || c === CLOSE_LIST) depth--
    else if (c === QUOTE) {
      if (depth === 2 && bytes.toString('latin1', i, i + member.length) === member) return i
      while (bytes[++i] !== QUOTE && i < bytes.length) if (bytes[i] === BACKSLASH) i++
    }
  }
  return undefined
}
