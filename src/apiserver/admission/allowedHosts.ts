/**
 * Allowed places of webhooks: names and address ranges, judged by the address of the actual connection. A name cannot mean one thing when
 * it is checked and another when it is dialled.
 *
 * Without a list everything is allowed but what is closed: {@link isClosed}, and the addresses of the server's own interfaces.
 * With one, a range allows its addresses, closed or not, and a name allows whatever it resolves to, as long as that is not
 * closed. An address that stands for another one is allowed only if that is, too.
 */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { bareAddress, embeddedIpv4, familyOf, isClosed } from './closedAddresses.ts'

const ALLOWED_HOSTS_FLAG = '--webhook-allowed-hosts'
/** The entry that stands for what is allowed without a list. */
const DEFAULT_ENTRY = 'default'

type Resolve = (
  host: string,
  options: { all: true; family?: number | 'IPv4' | 'IPv6'; hints?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void

/** The address is not among those that the server may connect to. */
export class HostRefused extends Error {
  /** The message without the addresses of a name, which are not public. */
  readonly openly: string

  constructor(host: string, address: string) {
    const text = (what: string): string => `connecting to ${what} is not allowed by the server's ${ALLOWED_HOSTS_FLAG}`
    super(text(host === address ? address : `${address} (${host})`))
    this.name = 'HostRefused'
    this.openly = text(host)
  }
}

export class AllowedHosts {
  readonly #ranges = new BlockList()
  /** Parts between the `*` of each name. */
  readonly #names: string[][] = []
  #everything = false
  readonly #own: () => readonly string[]

  /**
   * `entries`: host names, in which `*` stands for any run of characters, addresses and CIDR ranges; `localhost` is loopback,
   * `default` what is allowed without a list. `own` are the addresses of this machine.
   * @throws Error for an entry that is none of these
   */
  constructor(entries: readonly string[] = [DEFAULT_ENTRY], own: () => readonly string[] = ownAddresses) {
    this.#own = own
    for (const entry of entries) this.#add(entry.trim())
  }

  /** Whether a connection to `address` may be opened for `host`, which is the address itself or the name that led to it. */
  allows(address: string, host: string): boolean {
    const bare = bareAddress(address)
    const embedded = embeddedIpv4(bare)
    if (this.#ranges.check(bare, familyOf(bare))) return embedded === undefined || this.#opens(embedded)
    if (isClosed(bare) || this.#isOwn(bare)) return false
    if (this.#everything) return true
    if (host === address) return false
    const name = host.toLowerCase().replace(/\.$/, '')
    return this.#names.some(parts => isMadeOf(name, parts))
  }

  /** Whether what an allowed address stands for may be reached. */
  #opens(address: string): boolean {
    return this.#ranges.check(address, 'ipv4') || !(isClosed(address) || this.#isOwn(address))
  }

  #isOwn(address: string): boolean {
    const list = new BlockList()
    for (const own of this.#own()) list.addAddress(bareAddress(own), familyOf(own))
    return list.check(address, familyOf(address))
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
    if (entry === DEFAULT_ENTRY) this.#everything = true
    else if (entry === 'localhost') {
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

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(all => (all ?? []).map(({ address }) => address))
}
