/**
 * The functions that Kubernetes adds to CEL: strings, lists, regular expressions, quantities, URLs and IP addresses.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-cel-libraries
 */
import { isIP } from 'node:net'
import { Environment } from '@marcbachmann/cel-js'
import {
  addQuantities,
  approximateQuantity,
  compareQuantities,
  parseQuantity,
  QUANTITY_SHAPE_MESSAGE,
  type Quantity,
  subtractQuantities,
} from '../quantity.ts'
import { compileLinearRegExp, type LinearRegExp } from './linearRegExp.ts'

/** `matches` of the library runs on a backtracking engine; rules are rewritten to call this one. */
export const LINEAR_MATCHES = 'matchesLinear'

class CelQuantity {
  readonly quantity: Quantity
  constructor(quantity: Quantity) {
    this.quantity = quantity
  }
}
class CelUrl {
  readonly url: URL
  constructor(url: URL) {
    this.url = url
  }
}
class CelIp {
  readonly address: string
  constructor(address: string) {
    this.address = address
  }
}

/** An environment with `self` and `oldSelf` and all functions; make one and keep it, it is expensive. */
export function celEnvironment(): Environment {
  const environment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
    .registerVariable('self', 'dyn')
    .registerVariable('oldSelf', 'dyn')
    .registerType('kubernetes.Quantity', CelQuantity)
    .registerType('kubernetes.URL', CelUrl)
    .registerType('kubernetes.IP', CelIp)
  for (const [signature, handler] of Object.entries({ ...text(), ...lists, ...quantities, ...urls, ...addresses })) {
    environment.registerFunction(signature, handler as (...args: unknown[]) => unknown, { async: false } as object)
  }
  return environment
}

type Functions = Record<string, (...args: never[]) => unknown>

function text(): Functions {
  const patterns = new Map<string, LinearRegExp>()
  const pattern = (source: string): LinearRegExp => {
    const known = patterns.get(source)
    if (known !== undefined) return known
    // rules that build patterns at run time must not fill the memory
    if (patterns.size >= 256) patterns.clear()
    const compiled = compileLinearRegExp(source)
    patterns.set(source, compiled)
    return compiled
  }
  return {
    [`string.${LINEAR_MATCHES}(string): bool`]: (s: string, p: string) => pattern(p).test(s),
    [`${LINEAR_MATCHES}(string, string): bool`]: (s: string, p: string) => pattern(p).test(s),
    'string.find(string): string': (s: string, p: string) => pattern(p).find(s) ?? '',
    'string.findAll(string): list<string>': (s: string, p: string) => pattern(p).findAll(s),
    'string.findAll(string, int): list<string>': (s: string, p: string, n: bigint) =>
      pattern(p).findAll(s, n < 0n ? undefined : Number(n)),
    'string.replace(string, string): string': (s: string, from: string, to: string) => s.split(from).join(to),
    'string.replace(string, string, int): string': replaceSome,
    'string.charAt(int): string': (s: string, i: bigint) => {
      const characters = [...s]
      if (i < 0n || i > BigInt(characters.length)) throw new Error(`index out of range: ${i}`)
      return characters[Number(i)] ?? ''
    },
    'string.reverse(): string': (s: string) => [...s].reverse().join(''),
  }
}

function replaceSome(s: string, from: string, to: string, limit: bigint): string {
  if (limit < 0n) return s.split(from).join(to)
  const parts = s.split(from)
  let result = parts[0] ?? ''
  for (let i = 1; i < parts.length; i++) result += (BigInt(i) <= limit ? to : from) + parts[i]
  return result
}

type Ordered = bigint | number | string | boolean | Date

const lists: Functions = {
  'list.isSorted(): bool': (items: Ordered[]) => items.every((item, i) => i === 0 || items[i - 1]! <= item),
  'list.sum(): dyn': (items: (bigint | number)[]) =>
    items.reduce((sum, item) => (typeof item === 'bigint' ? BigInt(sum) + item : Number(sum) + item), 0n),
  'list.min(): dyn': (items: Ordered[]) => extreme(items, 'min', (a, b) => a < b),
  'list.max(): dyn': (items: Ordered[]) => extreme(items, 'max', (a, b) => a > b),
  'list.indexOf(dyn): int': (items: unknown[], wanted: unknown) => BigInt(items.findIndex(same(wanted))),
  'list.lastIndexOf(dyn): int': (items: unknown[], wanted: unknown) => BigInt(items.findLastIndex(same(wanted))),
}

function extreme(items: Ordered[], name: string, better: (a: Ordered, b: Ordered) => boolean): Ordered {
  if (items.length === 0) throw new Error(`${name} called on empty list`)
  return items.reduce((best, item) => (better(item, best) ? item : best))
}

const same = (wanted: unknown) => (item: unknown) => item === wanted

const quantities: Functions = {
  'quantity(string): kubernetes.Quantity': (s: string) => {
    const quantity = parseQuantity(s)
    if (quantity === undefined) throw new Error(QUANTITY_SHAPE_MESSAGE)
    return new CelQuantity(quantity)
  },
  'isQuantity(string): bool': (s: string) => parseQuantity(s) !== undefined,
  'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool': (a: CelQuantity, b: CelQuantity) =>
    compareQuantities(a.quantity, b.quantity) > 0,
  'kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool': (a: CelQuantity, b: CelQuantity) =>
    compareQuantities(a.quantity, b.quantity) < 0,
  'kubernetes.Quantity.compareTo(kubernetes.Quantity): int': (a: CelQuantity, b: CelQuantity) =>
    BigInt(compareQuantities(a.quantity, b.quantity)),
  'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity': (a: CelQuantity, b: CelQuantity) =>
    new CelQuantity(addQuantities(a.quantity, b.quantity)),
  'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity': (a: CelQuantity, b: CelQuantity) =>
    new CelQuantity(subtractQuantities(a.quantity, b.quantity)),
  'kubernetes.Quantity.sign(): int': (a: CelQuantity) =>
    a.quantity.nanos > 0n ? 1n : a.quantity.nanos < 0n ? -1n : 0n,
  'kubernetes.Quantity.isInteger(): bool': (a: CelQuantity) => a.quantity.nanos % 1_000_000_000n === 0n,
  'kubernetes.Quantity.asInteger(): int': (a: CelQuantity) => {
    if (a.quantity.nanos % 1_000_000_000n !== 0n) throw new Error('cannot convert value to integer')
    return a.quantity.nanos / 1_000_000_000n
  },
  'kubernetes.Quantity.asApproximateFloat(): double': (a: CelQuantity) => approximateQuantity(a.quantity),
}

const urls: Functions = {
  'url(string): kubernetes.URL': (s: string) => {
    const url = absoluteUrl(s)
    if (url === undefined) throw new Error(`URL parse error during conversion from string: ${JSON.stringify(s)}`)
    return new CelUrl(url)
  },
  'isURL(string): bool': (s: string) => absoluteUrl(s) !== undefined,
  'kubernetes.URL.getScheme(): string': ({ url }: CelUrl) => (isRelative(url) ? '' : url.protocol.slice(0, -1)),
  'kubernetes.URL.getHost(): string': ({ url }: CelUrl) => (isRelative(url) ? '' : url.host),
  'kubernetes.URL.getHostname(): string': ({ url }: CelUrl) =>
    isRelative(url) ? '' : url.hostname.replace(/^\[|\]$/g, ''),
  'kubernetes.URL.getPort(): string': ({ url }: CelUrl) => url.port,
  'kubernetes.URL.getEscapedPath(): string': ({ url }: CelUrl) => url.pathname,
  'kubernetes.URL.getQuery(): map<string, list<string>>': ({ url }: CelUrl) =>
    Object.fromEntries([...new Set(url.searchParams.keys())].map(key => [key, url.searchParams.getAll(key)])),
}

const RELATIVE_HOST = 'relative.invalid'

function isRelative(url: URL): boolean {
  return url.hostname === RELATIVE_HOST
}

/** A URL with a scheme, or an absolute path. */
function absoluteUrl(s: string): URL | undefined {
  if (s.startsWith('/')) return URL.parse(`http://${RELATIVE_HOST}${s}`) ?? undefined
  return URL.parse(s) ?? undefined
}

const addresses: Functions = {
  'ip(string): kubernetes.IP': (s: string) => {
    if (isIP(s) === 0) throw new Error(`IP Address ${JSON.stringify(s)} parse error during conversion from string`)
    return new CelIp(s)
  },
  'isIP(string): bool': (s: string) => isIP(s) !== 0,
  'isCIDR(string): bool': (s: string) => {
    const [address = '', bits = '', ...rest] = s.split('/')
    const version = isIP(address)
    return version !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
  },
  'kubernetes.IP.family(): int': ({ address }: CelIp) => BigInt(isIP(address)),
  'kubernetes.IP.isLoopback(): bool': ({ address }: CelIp) => address.startsWith('127.') || address === '::1',
  'kubernetes.IP.isUnspecified(): bool': ({ address }: CelIp) => address === '0.0.0.0' || address === '::',
}
