/**
 * Where webhooks may be: names and address ranges, judged by the address that is really connected to, so that a name cannot
 * mean one thing when it is checked and another when it is dialled.
 *
 * Without a list everything is allowed but link-local addresses: there the machine's own cloud answers, never a webhook. With
 * one, a range allows its addresses, and a name allows whatever it resolves to, but never the server's own host or link.
 */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

export const ALLOWED_HOSTS_FLAG = '--webhook-allowed-hosts'

type Resolve = (
  host: string,
  options: { all: true; family?: number | 'IPv4' | 'IPv6'; hints?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void

/** The address is not among those that the server may connect to; the message is for the user. */
export class HostRefused extends Error {
  constructor(host: string, address: string) {
    const what = host === address ? address : `${address} (${host})`
    super(`connecting to ${what} is not allowed by the server's ${ALLOWED_HOSTS_FLAG}`)
    this.name = 'HostRefused'
  }
}

export class AllowedHosts {
  readonly #ranges = new BlockList()
  /** What stands between the `*` of each name. */
  readonly #names: string[][] = []
  readonly #everything: boolean

  /**
   * `entries`: host names, in which `*` stands for any run of characters, addresses and CIDR ranges; `localhost` is loopback.
   * `undefined`: no list. @throws Error for an entry that is none of these
   */
  constructor(entries?: readonly string[]) {
    this.#everything = entries === undefined
    for (const entry of entries ?? []) this.#add(entry.trim())
  }

  /** Whether a connection to `address` may be opened for `host`, which is the address itself or the name that led to it. */
  allows(address: string, host: string): boolean {
    const family = familyOf(address)
    if (this.#ranges.check(address, family)) return true
    if (LINK_LOCAL.check(address, family)) return false
    if (this.#everything) return true
    if (host === address || OWN_HOST.check(address, family)) return false
    const name = host.toLowerCase().replace(/\.$/, '')
    return this.#names.some(parts => isMadeOf(name, parts))
  }

  /** For `host` as it stands in a URL. @throws HostRefused when it is an address that is not allowed */
  check(host: string): void {
    if (isIP(host) !== 0 && !this.allows(host, host)) throw new HostRefused(host, host)
  }

  /** Resolves names for `net.connect` to allowed addresses only; fails with {@link HostRefused} when none is. */
  lookup(resolve: Resolve = systemLookup as Resolve): LookupFunction {
    return (host, { family, hints, all }, callback) => {
      const options = { ...(family !== undefined && { family }), ...(hints !== undefined && { hints }) }
      resolve(host, { ...options, all: true }, (error, found) => {
        if (error) return callback(error, [])
        const allowed = found.filter(({ address }) => this.allows(address, host))
        const first = allowed[0]
        if (first === undefined) return callback(new HostRefused(host, found[0]?.address ?? ''), [])
        if (all) callback(null, allowed)
        else callback(null, first.address, first.family)
      })
    }
  }

  #add(entry: string): void {
    const range = /^([^/]+)\/(\d{1,3})$/.exec(entry)
    const [network = entry, bits] = range === null ? [] : [range[1], Number(range[2])]
    const version = isIP(network)
    if (entry === 'localhost') {
      this.#ranges.addSubnet('127.0.0.0', 8, 'ipv4')
      this.#ranges.addAddress('::1', 'ipv6')
    } else if (version !== 0 && (bits ?? 0) <= (version === 4 ? 32 : 128)) {
      this.#ranges.addSubnet(network, bits ?? (version === 4 ? 32 : 128), familyOf(network))
    } else if (/^[a-z0-9*_](?:[a-z0-9*_.-]*[a-z0-9*_])?$/i.test(entry) && version === 0) {
      this.#names.push(entry.toLowerCase().split('*'))
    } else throw new Error(`${JSON.stringify(entry)} is no host name, address or CIDR range`)
  }
}

/** Whether `name` is `parts` with any runs of characters between them. Each part is looked for once: names are tenants'. */
function isMadeOf(name: string, [head = '', ...parts]: readonly string[]): boolean {
  const tail = parts.pop()
  if (tail === undefined) return name === head
  if (!name.startsWith(head)) return false
  let at = head.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - tail.length >= at && name.endsWith(tail)
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

const LINK_LOCAL = ranges(['169.254.0.0', 16], ['fe80::', 10])
/** Loopback, and the unspecified addresses, which lead there too. */
const OWN_HOST = ranges(['127.0.0.0', 8], ['0.0.0.0', 8], ['::1', 128], ['::', 128])

function ranges(...all: [network: string, bits: number][]): BlockList {
  const list = new BlockList()
  for (const [network, bits] of all) list.addSubnet(network, bits, familyOf(network))
  return list
}
