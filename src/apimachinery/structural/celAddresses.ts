/**
 * Kubernetes' libraries of IP addresses and of ranges of them for CEL.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-ip-address-library
 */
import { isIPv4, isIPv6 } from 'node:net'
import type { Environment } from '@marcbachmann/cel-js'
import type { Comparable } from './celEquality.ts'
import { registerAll, registerNamespace, registerOpaque } from './celRegister.ts'

class CelIp implements Comparable {
  readonly family: 4 | 6
  readonly bits: bigint
  constructor(family: 4 | 6, bits: bigint) {
    this.family = family
    this.bits = bits
  }
  equals({ family, bits }: CelIp): boolean {
    return this.family === family && this.bits === bits
  }
}
class CelCidr implements Comparable {
  readonly ip: CelIp
  readonly length: number
  constructor(ip: CelIp, length: number) {
    this.ip = ip
    this.length = length
  }
  equals({ ip, length }: CelCidr): boolean {
    return this.ip.equals(ip) && this.length === length
  }
}

export function addAddresses(environment: Environment): void {
  registerOpaque(environment, 'kubernetes.IP', CelIp)
  registerOpaque(environment, 'kubernetes.CIDR', CelCidr)
  const inRange = (range: CelCidr, ip: CelIp): boolean =>
    ip.family === range.ip.family && masked(ip, range.length) === masked(range.ip, range.length)
  const covers = (range: CelCidr, inner: CelCidr): boolean => inner.length >= range.length && inRange(range, inner.ip)
  registerAll(environment, {
    'ip(string): kubernetes.IP': ipOf,
    'isIP(string): bool': (s: string) => parseIp(s) !== undefined,
    'string(kubernetes.IP): string': ipText,
    'kubernetes.IP.family(): int': ({ family }: CelIp) => BigInt(family),
    'kubernetes.IP.isUnspecified(): bool': ({ bits }: CelIp) => bits === 0n,
    'kubernetes.IP.isLoopback(): bool': isLoopback,
    'kubernetes.IP.isLinkLocalMulticast(): bool': (ip: CelIp) =>
      ip.family === 4 ? ip.bits >> 8n === 0xe00000n : ((ip.bits >> 112n) & 0xff0fn) === 0xff02n,
    'kubernetes.IP.isLinkLocalUnicast(): bool': isLinkLocalUnicast,
    'kubernetes.IP.isGlobalUnicast(): bool': (ip: CelIp) =>
      ip.bits !== 0n && !isBroadcast(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip),
    'cidr(string): kubernetes.CIDR': cidrOf,
    'isCIDR(string): bool': (s: string) => parseCidr(s) !== undefined,
    'string(kubernetes.CIDR): string': ({ ip, length }: CelCidr) => `${ipText(ip)}/${length}`,
    'kubernetes.CIDR.ip(): kubernetes.IP': ({ ip }: CelCidr) => ip,
    'kubernetes.CIDR.prefixLength(): int': ({ length }: CelCidr) => BigInt(length),
    'kubernetes.CIDR.masked(): kubernetes.CIDR': ({ ip, length }: CelCidr) =>
      new CelCidr(new CelIp(ip.family, masked(ip, length)), length),
    'kubernetes.CIDR.containsIP(kubernetes.IP): bool': inRange,
    'kubernetes.CIDR.containsIP(string): bool': (range: CelCidr, s: string) => inRange(range, ipOf(s)),
    'kubernetes.CIDR.containsCIDR(kubernetes.CIDR): bool': covers,
    'kubernetes.CIDR.containsCIDR(string): bool': (range: CelCidr, s: string) => covers(range, cidrOf(s)),
  })
  registerNamespace(environment, 'ip', { 'isCanonical(string): bool': (s: string) => ipText(ipOf(s)) === s })
}

function ipOf(s: string): CelIp {
  const ip = parseIp(s)
  if (ip === undefined) throw new Error(`IP Address ${JSON.stringify(s)} parse error during conversion from string`)
  return ip
}

/** Without zones and without IPv4 dressed up as IPv6. */
function parseIp(s: string): CelIp | undefined {
  if (isIPv4(s))
    return new CelIp(
      4,
      s.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n),
    )
  if (!isIPv6(s) || s.includes('%') || s.includes('.')) return undefined
  const [head = '', tail] = s.split('::')
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : [])
  const left = groups(head)
  const right = groups(tail)
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  const bits = [...left, ...zeros, ...right].reduce((all, group) => (all << 16n) | BigInt(`0x${group}`), 0n)
  return bits >> 32n === 0xffffn ? undefined : new CelIp(6, bits)
}

function cidrOf(s: string): CelCidr {
  const cidr = parseCidr(s)
  if (cidr === undefined)
    throw new Error(`network address parse error during conversion from string: ${JSON.stringify(s)}`)
  return cidr
}

function parseCidr(s: string): CelCidr | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(s)
  const ip = match ? parseIp(match[1]!) : undefined
  if (match === null || ip === undefined) return undefined
  const length = Number(match[2])
  return length <= widthOf(ip) ? new CelCidr(ip, length) : undefined
}

function widthOf({ family }: CelIp): number {
  return family === 4 ? 32 : 128
}

function masked(ip: CelIp, length: number): bigint {
  const rest = BigInt(widthOf(ip) - length)
  return (ip.bits >> rest) << rest
}

/** Canonical: RFC 5952. */
function ipText({ family, bits }: CelIp): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map(shift => String((bits >> shift) & 0xffn)).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  const zeros = [...groups.join(':').matchAll(/\b0(:0)+\b/g)].map(match => match[0])
  const longest = zeros.reduce((most, run) => (run.length > most.length ? run : most), '')
  if (longest === '') return groups.join(':')
  const text = groups.join(':')
  const at = text.indexOf(longest)
  return `${text.slice(0, at).replace(/:$/, '')}::${text.slice(at + longest.length).replace(/^:/, '')}`
}

function isLoopback({ family, bits }: CelIp): boolean {
  return family === 4 ? bits >> 24n === 127n : bits === 1n
}

function isMulticast({ family, bits }: CelIp): boolean {
  return family === 4 ? bits >> 28n === 0xen : bits >> 120n === 0xffn
}

function isBroadcast({ family, bits }: CelIp): boolean {
  return family === 4 && bits === 0xffffffffn
}

function isLinkLocalUnicast({ family, bits }: CelIp): boolean {
  return family === 4 ? bits >> 16n === 0xa9fen : bits >> 118n === 0x3fan
}
