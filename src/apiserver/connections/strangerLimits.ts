/** How many connections there may be, and how many of them before anybody has shown a credential. */
import { descriptorLimit, descriptorsInUse } from './descriptors.ts'

export interface StrangerLimits {
  /** Connections, whoever they are of. What is left of the descriptors is the store's, the log's and the controllers'. */
  connections: number
  /** Those without a credential. */
  total: number
  /** Of one address; of an IPv6 network of /64. */
  perAddress: number
  /** From the end of the handshake, and of each answer, to the next whole request. The handshake has a bound of its own. */
  patienceMs: number
  /** Requests with a wrong credential, or none, on one connection before it ends; whoever it was before. */
  refusals: number
}

const PATIENCE_MS = 10_000
const REFUSALS = 10
/** Beyond this, more of them only cost memory: some 60 KB each with their TLS. */
export const TOTAL = 4096
/** At least this many get in, however few descriptors there are. */
const SMALLEST = 8

/** With `limit` descriptors, of which `used` are taken when nobody is connected yet. */
export function strangerLimits(
  given: Partial<StrangerLimits> = {},
  limit = descriptorLimit(),
  used = descriptorsInUse(),
): StrangerLimits {
  const reserve = Math.min(512, Math.max(24, Math.floor(limit / 8)))
  const { connections = Math.max(2 * SMALLEST, limit - used - reserve) } = given
  const half = Number.isFinite(connections) ? Math.floor(connections / 2) : TOTAL
  const total = Math.max(1, Math.min(given.total ?? TOTAL, half))
  const perAddress = Math.max(1, Math.min(given.perAddress ?? Math.ceil(total / 2), total))
  const { patienceMs = PATIENCE_MS, refusals = REFUSALS } = given
  return { connections, total, perAddress, patienceMs, refusals }
}
