/**
 * Addresses closed to webhooks unless the operator opens them. They lead back to the server's host or its link, or are private to a site by
 * their kind. At others, providers of machines answer the machine about itself. An author of webhooks would read the operator's data there.
 *
 * Ranges are those of the registries of special addresses. The private ranges of IPv4 and the shared one are not among them, since that is
 * where most webhooks are. Some IPv6 addresses stand for an IPv4 address: they mean the same.
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
import { BlockList, isIP } from 'node:net'

/** Meaning of an address to sockets: without the zone of an interface. */
export function bareAddress(address: string): string {
  const zone = address.indexOf('%')
  return zone < 0 ? address : address.slice(0, zone)
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** Whether it is closed unless it is opened. IPv4 in IPv6 (`::ffff:a.b.c.d`) is IPv4. */
export function isClosed(address: string): boolean {
  return CLOSED.check(address, familyOf(address))
}

/** The IPv4 address that an IPv6 address is a way to, by translation or by a tunnel; `undefined` for all others. */
export function embeddedIpv4(address: string): string | undefined {
  if (familyOf(address) === 'ipv4') return undefined
  const at = EMBEDDING.find(({ range }) => range.check(address, 'ipv6'))?.at
  if (at === undefined) return undefined
  const groups = groupsOf(address)
  return [groups[at]!, groups[at + 1]!].flatMap(group => [group >> 8, group & 0xff]).join('.')
}

/** Its eight groups. */
function groupsOf(address: string): number[] {
  // The URL parser writes every spelling in the one of RFC 5952, without dots.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const numbers = (text: string): number[] => (text === '' ? [] : text.split(':').map(group => parseInt(group, 16)))
  const [left, right] = [numbers(head), numbers(tail ?? '')]
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}

function ranges(...all: [network: string, bits: number][]): BlockList {
  const list = new BlockList()
  for (const [network, bits] of all) list.addSubnet(network, bits, familyOf(network))
  return list
}

const NAT64 = '64:ff9b::'
const LOCAL_NAT64 = '64:ff9b:1::'
const SIX_TO_FOUR = '2002::'
const COMPATIBLE = '::'
const TRANSLATED = '::ffff:0:0:0'

/** Where the embedded address begins, in groups of 16 bits. */
const EMBEDDING: readonly { range: BlockList; at: number }[] = [
  { range: ranges([NAT64, 96]), at: 6 },
  { range: ranges([LOCAL_NAT64, 48]), at: 6 },
  { range: ranges([SIX_TO_FOUR, 16]), at: 1 },
  { range: ranges([TRANSLATED, 96]), at: 6 },
]

const CLOSED = ranges(
  // the own host, and "this" network, which leads there too
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
  ['::1', 128],
  // the unspecified address, and IPv4 as it was once embedded
  [COMPATIBLE, 96],
  // the link: there most providers answer, at 169.254.169.254 and others
  ['169.254.0.0', 16],
  ['fe80::', 10],
  ['fec0::', 10],
  // unique-local: fd00:ec2::254, fd20:ce::254, fd00:42::42 are providers'
  ['fc00::', 7],
  // translations and tunnels to IPv4
  [NAT64, 96],
  [LOCAL_NAT64, 48],
  [SIX_TO_FOUR, 16],
  [TRANSLATED, 96],
  ['2001::', 32],
  ['192.88.99.0', 24],
  // providers' addresses elsewhere; the first is one of the protocol assignments
  ['192.0.0.0', 24],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  // nobody's alone
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['ff00::', 8],
)
