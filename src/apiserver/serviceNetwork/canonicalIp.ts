/** One text for each IP address, so that two spellings are seen to be one address. */
import { isIPv6 } from 'node:net'

/** A text that is no IPv6 address stays as it is; so does one with a zone, which no URL can hold. */
export function canonicalIp(address: string): string {
  return isIPv6(address) && !address.includes('%') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}
