/**
 * IP addresses and ranges (CIDR) in objects. Fields of the first releases take any form of an address but those that two programs could
 * read differently. Newer fields take the canonical form only.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
import { isIP } from 'node:net'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { when } from '../shapes.ts'

/** Parsed as loosely as upstream has always done; {@link addressErrors} reports its faults. */
interface Address {
  version: 4 | 6
  /** Without leading zeros. */
  text: string
  leadingZeros: boolean
  mapped: boolean
}

function parseAddress(value: string): Address | undefined {
  const text = value.replace(/(^|\.)0+(?=\d)/g, '$1')
  const plain = value.includes(':') ? value : text
  const version = isIP(plain)
  if (version === 0 || plain.includes('%')) return undefined
  const bytes = version === 6 ? addressBytes(plain, 6) : []
  const mapped = version === 6 && bytes.slice(0, 10).every(byte => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  return { version: version as 4 | 6, text: plain, leadingZeros: plain !== value, mapped }
}

/** An address as fields that have always been there take it: any form, but none that two programs could read differently. */
export function ipAddress(value: string, field: string): FieldError[] {
  const parsed = parseAddress(value)
  if (parsed === undefined) return [fieldError.invalid(field, value, NOT_AN_ADDRESS)]
  return [
    ...when(parsed.leadingZeros, () => fieldError.invalid(field, value, 'must not have leading 0s')),
    ...when(parsed.mapped, () => fieldError.invalid(field, value, 'must not be an IPv4-mapped IPv6 address')),
  ]
}
const NOT_AN_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

/** {@link ipAddress}, in its canonical form only. */
export function canonicalAddress(value: string): string[] {
  const errors = ipAddress(value, '')
  if (errors.length > 0) return errors.map(error => error.detail)
  const canonical = canonicalText(value, isIP(value) as 4 | 6)
  return canonical === value ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`]
}

/** Addresses that cannot be an endpoint's. */
export function ordinaryAddress(value: string, field: string): FieldError[] {
  const parsed = parseAddress(value)
  if (parsed === undefined) return [fieldError.invalid(field, value, NOT_AN_ADDRESS)]
  const bytes = addressBytes(parsed.text, parsed.version)
  const [a = 0, b = 0, c = 0] = bytes
  const zeros = bytes.slice(0, -1).every(byte => byte === 0)
  const four = parsed.version === 4
  const found = [
    [zeros && bytes.at(-1) === 0, 'be unspecified (0.0.0.0 or ::)'],
    [four ? a === 127 : zeros && bytes.at(-1) === 1, 'be in the loopback range (127.0.0.0/8, ::1/128)'],
    [
      four ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80,
      'be in the link-local range (169.254.0.0/16, fe80::/10)',
    ],
    [
      four ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 2,
      'be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ] as const
  return found.filter(([is]) => is).map(([, what]) => fieldError.invalid(field, value, `may not ${what}`))
}

interface Range {
  version: 4 | 6
  bytes: readonly number[]
  bits: number
}

/** `undefined` when it is none. Bits beyond the prefix are kept. */
export function parseRange(value: string): Range | undefined {
  const [address = '', bits, ...more] = value.split('/')
  const parsed = parseAddress(address)
  if (parsed === undefined || bits === undefined || more.length > 0 || !/^\d{1,3}$/.test(bits)) return undefined
  const count = Number.parseInt(bits, 10)
  if (count > (parsed.version === 4 ? 32 : 128)) return undefined
  return { version: parsed.version, bytes: addressBytes(parsed.text, parsed.version), bits: count }
}

/** `10.0.0.0/8`; `strict` wants the canonical form too. */
export function cidr(value: string, field: string, strict = false): FieldError[] {
  const range = parseRange(value)
  if (range === undefined) {
    return [fieldError.invalid(field, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
  }
  const [address = '', bits = ''] = value.split('/')
  const { leadingZeros, mapped } = parseAddress(address)!
  const canonical = `${textOf(masked(range), range.version)}/${range.bits}`
  const errors = [
    ...when(leadingZeros || /^0\d/.test(bits), () =>
      fieldError.invalid(field, value, 'must not have leading 0s in IP or prefix length'),
    ),
    ...when(mapped, () => fieldError.invalid(field, value, 'must not have an IPv4-mapped IPv6 address')),
    ...when(
      masked(range).some((byte, i) => byte !== range.bytes[i]),
      () => fieldError.invalid(field, value, 'must not have bits set beyond the prefix length'),
    ),
  ]
  if (errors.length > 0 || !strict || canonical === value) return errors
  return [fieldError.invalid(field, value, `must be in canonical form (${JSON.stringify(canonical)})`)]
}

/** Whether the network of `inner` lies within that of `outer` and is smaller. */
export function isStrictlyWithin(inner: Range, outer: Range): boolean {
  if (inner.version !== outer.version || inner.bits <= outer.bits) return false
  const network = masked({ ...inner, bits: outer.bits })
  return masked(outer).every((byte, i) => byte === network[i])
}

function masked({ bytes, bits }: Range): number[] {
  return bytes.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * i))) & 0xff)
}

function addressBytes(text: string, version: 4 | 6): number[] {
  if (version === 4) return text.split('.').map(Number)
  const tail = /:(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1]
  const whole = tail === undefined ? text : `${text.slice(0, -tail.length)}${hexPairs(tail.split('.').map(Number))}`
  const [head = '', rest] = whole.split('::')
  const groups = (part: string) => part.split(':').filter(group => group !== '')
  const [before, after] = [groups(head), groups(rest ?? '')]
  const filled = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return filled.flatMap(group => {
    const number = Number.parseInt(group, 16)
    return [number >> 8, number & 0xff]
  })
}

const hexPairs = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string =>
  `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`

const canonicalText = (value: string, version: 4 | 6): string => textOf(addressBytes(value, version), version)

/** @see https://www.rfc-editor.org/rfc/rfc5952 */
function textOf(bytes: readonly number[], version: 4 | 6): string {
  if (version === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! * 256 + bytes[2 * i + 1]!).toString(16))
  const runs = [
    ...groups
      .map(group => (group === '0' ? '0' : 'x'))
      .join('')
      .matchAll(/0{2,}/g),
  ]
  const longest = runs.reduce<RegExpExecArray | undefined>(
    (best, run) => (best === undefined || run[0].length > best[0].length ? run : best),
    undefined,
  )
  if (longest === undefined) return groups.join(':')
  return `${groups.slice(0, longest.index).join(':')}::${groups.slice(longest.index + longest[0].length).join(':')}`
}

/** Upstream's warnings where it lets any form through: one address that has several texts. */
export function addressWarnings(value: string, field: string): string[] {
  if (isIP(value) !== 6) return []
  const canonical = canonicalText(value, 6)
  if (canonical === value) return []
  return [`${field}: IPv6 address "${value}" should be in RFC 5952 canonical format ("${canonical}")`]
}

/** The same of a range. */
export function cidrWarnings(value: string, field: string): string[] {
  const range = parseRange(value)
  if (range?.version !== 6) return []
  const canonical = `${textOf(masked(range), 6)}/${range.bits}`
  if (canonical === value) return []
  return [`${field}: IPv6 CIDR value "${value}" should be in RFC 5952 canonical format ("${canonical}")`]
}
