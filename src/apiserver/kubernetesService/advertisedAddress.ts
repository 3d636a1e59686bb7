/**
 * The IP address at which others reach this server, as far as it can know: endpoints of Services are addresses, never names.
 * Names are not resolved, because they may lead elsewhere for others, and tomorrow.
 */
import { isIP } from 'node:net'
import type { NetworkInterfaceInfo } from 'node:os'

interface AddressSources {
  /** Address of the operator's choice. */
  advertiseAddress?: string | undefined
  /** Names and addresses. */
  externalHostnames: readonly string[]
  /** A name, an address, or `0.0.0.0` or `::` for all. */
  bindAddress: string
  /** As `os.networkInterfaces()` tells them. */
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>
}

/**
 * That choice ▸ the first external address ▸ the bind address ▸ this machine's first address. A server that listens on a loopback address
 * alone is reached only there, so that one is advertised.
 * @throws Error when the operator's choice is no address
 */
export function advertisedAddress({ advertiseAddress, ...sources }: AddressSources): string {
  if (advertiseAddress !== undefined) {
    if (isIP(advertiseAddress) !== 0 && !isWildcard(advertiseAddress)) return advertiseAddress
    throw new Error(`--advertise-address ${advertiseAddress}: give the IP address at which clients reach this server`)
  }
  const { externalHostnames, bindAddress, interfaces } = sources
  const external = externalHostnames.find(host => isIP(host) !== 0)
  if (external !== undefined) return external
  if (bindAddress === 'localhost') return LOOPBACK
  const found = Object.values(interfaces)
    .flatMap(each => each ?? [])
    .filter(({ internal, address }) => !internal && !isLinkLocal(address))
    .map(({ address }) => address)
  if (isIP(bindAddress) !== 0 && !isWildcard(bindAddress)) return bindAddress
  // A listener on `::` takes IPv4 too, and more clients support it.
  const four = found.find(address => isIP(address) === 4)
  return four ?? (bindAddress === '0.0.0.0' ? LOOPBACK : (found[0] ?? LOOPBACK))
}
const LOOPBACK = '127.0.0.1'

export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function isLinkLocal(address: string): boolean {
  return /^(169\.254\.|fe[89ab])/i.test(address)
}
