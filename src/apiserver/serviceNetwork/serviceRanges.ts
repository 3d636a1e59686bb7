/**
 * The addresses and ports that Services of a space may be given, and in which order.
 * @see https://kubernetes.io/docs/concepts/services-networking/cluster-ip-allocation/
 */
import { isIPv4 } from 'node:net'

/** Items for one Service at a time: an IP address as text, or a port as number. */
export interface ServiceRange<T extends string | number> {
  /** As upstream's messages show it. */
  readonly text: string
  /** How many there are to give. */
  readonly size: number
  has(item: T): boolean
  /** From 0 to `size - 1`. */
  at(index: number): T
  /** Those before this index are left to people who choose for themselves, as long as there are others. */
  readonly dynamicFrom: number
}

export interface ServiceNetwork {
  readonly addresses: ServiceRange<string>
  readonly ports: ServiceRange<number>
  /** The first address: that of the Service `kubernetes`. */
  readonly kubernetesAddress: string
}

/** kube-apiserver's own default has room for 254 Services; a space may describe more than one cluster. */
export const DEFAULT_ADDRESSES = '10.0.0.0/16'
export const DEFAULT_PORTS = '30000-32767'

const LEAST_BITS = 12
const MOST_BITS = 29

/** @throws Error that names the flag, and what it takes */
export function serviceNetwork(addresses = DEFAULT_ADDRESSES, ports = DEFAULT_PORTS): ServiceNetwork {
  const range = addressRange(addresses)
  return { addresses: range, ports: portRange(ports), kubernetesAddress: range.at(0) }
}

function addressRange(text: string): ServiceRange<string> {
  const [address = '', bits = ''] = text.split('/')
  const prefix = /^\d{1,2}$/.test(bits) ? Number(bits) : 0
  const count = 2 ** (32 - prefix)
  const base = isIPv4(address) ? numberOf(address) : 0
  if (text !== `${textOf(base)}/${prefix}` || prefix < LEAST_BITS || prefix > MOST_BITS || base % count !== 0) {
    throw new Error(
      `--service-cluster-ip-range ${text}: give one IPv4 range from /${LEAST_BITS} to /${MOST_BITS}, as ${DEFAULT_ADDRESSES}`,
    )
  }
  // Neither the network's own address nor the broadcast address is a host's.
  const size = count - 2
  return {
    text,
    size,
    has(item) {
      const index = isIPv4(item) ? numberOf(item) - base - 1 : -1
      return index >= 0 && index < size
    },
    at: index => textOf(base + 1 + index),
    dynamicFrom: reserved(size, { part: 16, most: 256 }),
  }
}

function portRange(text: string): ServiceRange<number> {
  const [, low = '', high = ''] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []
  const [first, last] = [Number(low), Number(high)]
  if (first < 1 || last < first || last > 65_535) {
    throw new Error(`--service-node-port-range ${text}: give two ports from 1 to 65535, as ${DEFAULT_PORTS}`)
  }
  const size = last - first + 1
  return {
    text,
    size,
    has: port => Number.isInteger(port) && port >= first && port <= last,
    at: index => first + index,
    dynamicFrom: reserved(size, { part: 32, most: 128 }),
  }
}

/** Upstream's formula: a part of the range, at least 16; none of a range that is hardly larger than that. */
function reserved(size: number, { part, most }: { part: number; most: number }): number {
  return size <= LEAST_RESERVED ? 0 : Math.min(Math.max(LEAST_RESERVED, Math.floor(size / part)), most)
}
const LEAST_RESERVED = 16

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function textOf(number: number): string {
  return [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.')
}
