/**
 * The entry of this folder: Go's words, kept apart from everything else. A message stands here only because Go would print it so, and
 * people's tools and eyes know the text. Decision docs/decisions/014-gos-words.md gives the extent, with a limit of lines that a test
 * holds. A new message gets in when users of kubectl meet it in a common mistake. All others are in plain words of Orrery's own, where the
 * mistake is found.
 *
 * In this file: JSON values as Go's fmt prints them.
 * @see https://pkg.go.dev/fmt
 * @see https://pkg.go.dev/strconv#Quote
 */

/** `%+v`, such as `map[metadata:map[name:a] spec:map[replicas:2]]`: maps by the order of their keys, texts bare. */
export function goPrint(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'number') return float(value.toExponential(), 21)
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`
  if (typeof value !== 'object') return String(value)
  return `map[${sortedMembers(value)
    .map(([key, member]) => `${key}:${goPrint(member)}`)
    .join(' ')}]`
}

/** `%T` of what JSON can say. */
export function goType(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'object' ? 'map[string]interface {}' : typeof value
}

/** `%q`: a text in quotes, or a list of such. Unprintable characters are escaped, by Go's rules and not those of JSON. */
export function quotedAsGo(value: string | readonly string[]): string {
  if (typeof value !== 'string') return `[${value.map(quotedAsGo).join(' ')}]`
  const escaped = value
    .toWellFormed()
    .replace(/["\\]|(?! )[\p{C}\p{Z}]/gu, char => ESCAPES[char] ?? numbered(char.codePointAt(0)!))
  return `"${escaped}"`
}

/** A list of errors: one as it is, several in brackets. */
export function joinedAsGo(messages: readonly string[]): string {
  return messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
}

/** The shortest text of the number with 32 bits that is the nearest, `1e+08` for a hundred million; for finite numbers. */
export function formatFloat32(value: number): string {
  const near = Math.fround(value)
  for (let precision = 1; precision < 9; precision++) {
    const text = near.toExponential(precision - 1)
    if (Math.fround(Number(text)) === near) return float(text, 6)
  }
  return float(near.toExponential(8), 6)
}

/** Members in the order in which Go writes maps. */
function sortedMembers(map: object): [string, unknown][] {
  return Object.entries(map).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** From `1.5e+7`: Go keeps exponents below 1e-4 and from 10 to the power of `from` on, with two digits at least. */
function float(exponential: string, from: number): string {
  const [digits = '', power] = exponential.split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < from) return String(Number(exponential))
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
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
