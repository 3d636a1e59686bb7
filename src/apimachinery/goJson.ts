/**
 * JSON as Go's encoder writes it, for the few texts that Go programs compare byte by byte with their own.
 * @see https://pkg.go.dev/encoding/json#Marshal
 */

/** Escapes what Go escapes in strings beyond the rules of JSON; the value stays the same. */
export function escapedAsGo(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
