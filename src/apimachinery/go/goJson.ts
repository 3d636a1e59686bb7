/**
 * JSON as Go's encoder writes it, for the few texts that Go programs compare byte by byte with their own and for values in
 * messages; and texts as Go quotes them (`%q`).
 * @see https://pkg.go.dev/encoding/json#Marshal
 * @see https://pkg.go.dev/strconv#Quote
 */

/** Escapes what Go escapes in strings beyond the rules of JSON; the value stays the same. */
export function escapedAsGo(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A text in quotes. What cannot be printed is escaped, by Go's rules and not those of JSON. */
export function quotedAsGo(text: string): string {
  const escaped = text
    .toWellFormed()
    .replace(/["\\]|(?! )[\p{C}\p{Z}]/gu, char => ESCAPES[char] ?? numbered(char.codePointAt(0)!))
  return `"${escaped}"`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

function numbered(code: number): string {
  const hex = code.toString(16)
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
