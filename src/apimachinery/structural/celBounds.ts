/** How large a value may become that a CEL expression makes. Checked before it is made. */

/**
 * Characters of a string, bytes of bytes. A request carries 3 MiB, so an object and the one before it fit side by side. The engine below
 * ends the process for texts some sixty times as long.
 */
export const MAX_TEXT = 8 * 1024 * 1024
/** Elements of a list. A request of 3 MiB carries one and a half million numbers; the engine's own end comes at some hundred. */
export const MAX_ITEMS = 2 * 1024 * 1024

/** @throws Error when a text of that length is too large */
export function checkText(length: number): void {
  if (length <= MAX_TEXT) return
  throw new Error(`the result would be a text of ${length} characters; at most ${MAX_TEXT} are allowed`)
}

/** @throws Error when a list of that many elements is too large */
export function checkItems(count: number): void {
  if (count <= MAX_ITEMS) return
  throw new Error(`the result would be a list of ${count} elements; at most ${MAX_ITEMS} are allowed`)
}
