/**
 * Text for a terminal. Names and messages come from clusters and other people: what would steer the terminal, or turn the
 * direction of writing, is shown as a number. Line ends, tabs and the colours of our own tables stay.
 */

// a colour is one of those that tables use, or their end
const STEERING = /(?:\p{Cc}\[(?:0|1|2|31|32|33)m)|(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu
const ESCAPE = String.fromCodePoint(0x1b)

export function shownText(text: string): string {
  return text.replace(STEERING, found => (found.length > 1 && found[0] === ESCAPE ? found : numbered(found)))
}

/** As JSON writes them, so that a document stays one. */
function numbered(found: string): string {
  const [first = ''] = found
  return `\\u${first.codePointAt(0)!.toString(16).padStart(4, '0')}${found.slice(first.length)}`
}
