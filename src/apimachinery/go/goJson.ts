/**
 * Go's JSON package: the escapes of its encoder, and its decoder's message for a wrong type. The escapes matter for the few texts that Go
 * programs compare byte by byte with their own, and for values in messages.
 * @see https://pkg.go.dev/encoding/json
 */

/** Escapes what Go escapes in strings beyond the rules of JSON; the value stays the same. */
export function escapedAsGo(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function jsonTypeName(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return value === null ? 'null' : typeof value
}

/** `wanted` is the place and its type, such as `value of type v1.ObjectMeta`; `shown` how the value is called. */
export function unmarshalError(value: unknown, wanted: string, shown: string = jsonTypeName(value)): string {
  return `json: cannot unmarshal ${shown} into Go ${wanted}`
}

/** Error for a value that had to be an object. */
export function noMapError(value: unknown): string {
  return unmarshalError(value, 'value of type map[string]interface {}')
}
