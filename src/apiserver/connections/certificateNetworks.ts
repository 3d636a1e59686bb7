/**
 * Networks whose clients get a request for a certificate. A handshake verifies the signatures of a client's chain, of any issuer, before
 * the client has shown a credential. There are few (see certificateChains.ts), and none without that request.
 */
import { BlockList, isIP } from 'node:net'

export const CERTIFICATE_NETWORKS_FLAG = '--client-certificate-networks'

export class CertificateNetworks {
  readonly #networks: BlockList | undefined

  /** `entries`: addresses, CIDR ranges, `localhost`. Absent: everywhere. @throws Error for an entry that is none of these */
  constructor(entries: readonly string[] | undefined) {
    if (entries === undefined) return
    this.#networks = new BlockList()
    for (const entry of entries) add(this.#networks, entry.trim())
  }

  /** @param address of a client; absent where it has none, as one within the process */
  asks(address: string | undefined): boolean {
    if (this.#networks === undefined || address === undefined) return true
    const [bare = ''] = address.split('%')
    return this.#networks.check(bare, familyOf(bare))
  }
}

function add(networks: BlockList, entry: string): void {
  if (entry === 'localhost') {
    networks.addSubnet('127.0.0.0', 8, 'ipv4')
    networks.addAddress('::1', 'ipv6')
    return
  }
  const [, network = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const version = isIP(network)
  const most = version === 4 ? 32 : 128
  if (version === 0 || Number(bits ?? most) > most)
    throw new Error(`${JSON.stringify(entry)} is no address, CIDR range or localhost`)
  networks.addSubnet(network, Number(bits ?? most), familyOf(network))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
