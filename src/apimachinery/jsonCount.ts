/** How many values there are in JSON text, before it is read: what it costs to parse follows from them rather than from its bytes. */

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const SPACE = 0x20

/**
 * Members and elements of JSON text, without reading it; one more than `most` when there are more. For other text it is any number. One is
 * behind each comma, and one behind each bracket that is not closed at once.
 */
export function countValues(json: Uint8Array, most: number): number {
  let values = 0
  let opened = false
  for (let at = 0; at < json.length && values <= most; at++) {
    const byte = json[at]!
    if (byte <= SPACE) continue
    if (opened) {
      opened = false
      if (byte !== CLOSING_BRACE && byte !== CLOSING_BRACKET) values++
    }
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++
    } else if (byte === COMMA) values++
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) opened = true
  }
  return values
}

/** Members of the map of JSON text that has most of them, without reading it; of other text any number. */
export function widestIn(json: Buffer): number {
  /** Commas in each bracket that is open. */
  const commas: number[] = []
  let widest = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++
    } else if (byte === COMMA) commas[commas.length - 1]!++
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) commas.push(0)
    else if (byte === CLOSING_BRACE) widest = Math.max(widest, (commas.pop() ?? 0) + 1)
    else if (byte === CLOSING_BRACKET) commas.pop()
  }
  return widest
}
