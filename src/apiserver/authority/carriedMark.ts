/** Mark of objects that were carried up into a mailbox, found at the beginning of an object's stored text. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { isProjected, UPSYNCED } from '../../placement/words/placement.ts'

/** Stands in the text of each. */
export const CARRIED_MARK = UPSYNCED
/** As a key of JSON: in a string its quotes would be escaped. */
const MARK = `"${UPSYNCED}":`

/** `head` is a text up to its revision: all metadata are in it (see codec.ts). Most have no such text, and cost no more. */
export function isCarriedUp(head: string): boolean {
  if (!head.includes(MARK)) return false
  try {
    const object = JSON.parse(`${head}"}}`) as KubeObject
    return object.metadata.annotations?.[UPSYNCED] !== undefined && !isProjected(object)
  } catch {
    // not written by this release; whoever reads it says what is wrong
    return false
  }
}
