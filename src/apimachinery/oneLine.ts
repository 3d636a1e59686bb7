/**
 * Text from another source, such as a cluster, in a form for people. It is on one line, without characters that steer a terminal or turn
 * the direction of writing. Pure.
 */

/** At most so many characters; of what is longer, the beginning. */
export function oneLine(words: string, characters = Number.POSITIVE_INFINITY): string {
  // what is thrown away below may make it shorter, and nothing longer than this is looked at
  const begun = words.length > 4 * characters ? words.slice(0, 4 * characters) : words
  const line = begun.replace(/[\s\p{C}]+/gu, ' ').trim()
  return line.length > characters ? line.slice(0, characters) : line
}
