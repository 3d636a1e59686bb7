/**
 * Meaning of YAML's words to an API server: upstream reads them by YAML 1.1, with the number syntax of Go.
 * @see https://yaml.org/type/
 */
import { isBase64 } from '../structural/formats.ts'
import { formatFloat32 } from './goPrint.ts'

/** `float` tells `1.0` from `1`, which keys of maps need. */
export interface Word {
  value: string | number | boolean | null
  tag: 'str' | 'int' | 'float' | 'bool' | 'null'
}

const FIXED: ReadonlyMap<string, Word> = new Map<string, Word>([
  ...words('null', null, '', '~', 'null', 'Null', 'NULL'),
  ...words('bool', true, 'y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'),
  ...words('bool', false, 'n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'),
  ...words('float', Number.NaN, '.nan', '.NaN', '.NAN'),
  ...words('float', Number.POSITIVE_INFINITY, '.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'),
  ...words('float', Number.NEGATIVE_INFINITY, '-.inf', '-.Inf', '-.INF'),
])
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
/** 64 bits have fewer binary digits. */
const PREFIXED = /^([-+]?)(0[xX][0-9a-fA-F]{1,64}|0[oO][0-7]{1,64}|0[bB][01]{1,64}|0[0-7]{1,64})$/
const DECIMAL = /^[-+]?(0|[1-9][0-9]*)$/

/** Value of a plain scalar. */
export function wordOf(text: string): Word {
  return FIXED.get(text) ?? numberOf(text) ?? { value: text, tag: 'str' }
}

/**
 * Value of a scalar with this tag (of `tag:yaml.org,2002:`), however it is quoted; texts under unknown tags.
 * @throws Error when the text cannot be that
 */
export function taggedWord(tag: string, text: string): Word['value'] {
  if (tag === 'binary') return decoded(text)
  if (tag !== 'int' && tag !== 'float' && tag !== 'bool' && tag !== 'null') return text
  const word = wordOf(text)
  if (word.tag === tag || (tag === 'float' && word.tag === 'int')) return word.value
  throw new Error(`cannot decode !!${word.tag} \`${text}\` as a !!${tag}`)
}

/** The key of a JSON object that a plain scalar becomes. @throws Error for nulls */
export function keyOfWord({ value, tag }: Word): string {
  if (value === null) throw new Error('unsupported map key of type: null')
  if (typeof value !== 'number' || tag === 'int') return String(value)
  if (Number.isNaN(value)) return '.nan'
  return Number.isFinite(value) ? formatFloat32(value) : value < 0 ? '-.inf' : '.inf'
}

function words(tag: Word['tag'], value: Word['value'], ...texts: string[]): [string, Word][] {
  return texts.map(text => [text, { value, tag }])
}

function numberOf(text: string): Word | undefined {
  if (!/^[-+.0-9]/.test(text)) return undefined
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '')
  if (DECIMAL.test(plain)) return inRange(BigInt(plain.replace(/^\+/, ''))) ?? floatOf(plain)
  const [, sign, digits] = PREFIXED.exec(plain) ?? []
  const size = digits === undefined ? undefined : BigInt(digits.replace(/^0(?=[0-7])/, '0o'))
  return (size === undefined ? undefined : inRange(sign === '-' ? -size : size)) ?? floatOf(plain)
}

/** Go has integers of 64 bits, with and without a sign. */
function inRange(value: bigint): Word | undefined {
  return value >= -(2n ** 63n) && value < 2n ** 64n ? { value: Number(value), tag: 'int' } : undefined
}

function floatOf(text: string): Word | undefined {
  if (!FLOAT.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? { value, tag: 'float' } : undefined
}

function decoded(text: string): string {
  const base64 = text.replace(/[\r\n]/g, '')
  if (!isBase64(base64)) throw new Error('!!binary value contains invalid base64 data')
  return Buffer.from(base64, 'base64').toString('utf8')
}
