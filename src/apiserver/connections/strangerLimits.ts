/** How many connections there may be, and how many of them before anybody has shown a credential. */
import { readdirSync, readFileSync } from 'node:fs'

export interface StrangerLimits {
  /** Connections, whoever they are of. The rest of the descriptors is the store's, the log's and the controllers'. */
  connections: number
  /** Those without a credential. */
  total: number
  /** Bound on one address; on an IPv6 network of /64. */
  perAddress: number
  /** From the end of the handshake, and of each answer, to the next whole request. The handshake has a bound of its own. */
  patienceMs: number
  /** Requests with a wrong credential, or none, on one connection before it ends; whoever it was before. */
  refusals: number
}

const PATIENCE_MS = 10_000
const REFUSALS = 10
/** Beyond this, more of them only cost memory. Each takes some 60 KB with its TLS, and up to 32 KB of bytes that wait for a turn. */
export const TOTAL = 4096
/** At least this many get in, however few descriptors there are. */
const SMALLEST = 8

/** With `limit` descriptors, of which `used` are taken when nobody is connected yet, and `listening` will be. */
export function strangerLimits(
  given: Partial<StrangerLimits> = {},
  listening = 0,
  limit = descriptorLimit(),
  used = descriptorsInUse(),
): StrangerLimits {
  const reserve = Math.min(512, Math.max(24, Math.floor(limit / 8)))
  const { connections = Math.max(2 * SMALLEST, limit - used - listening - reserve) } = given
  const half = Number.isFinite(connections) ? Math.floor(connections / 2) : TOTAL
  const total = Math.max(1, Math.min(given.total ?? TOTAL, half))
  const perAddress = Math.max(1, Math.min(given.perAddress ?? Math.ceil(total / 2), total))
  const { patienceMs = PATIENCE_MS, refusals = REFUSALS } = given
  return { connections, total, perAddress, patienceMs, refusals }
}

/** The soft limit, which Node raises as far as it may when it starts; `Infinity` where there is none. */
function descriptorLimit(): number {
  const limits = limitsOfLinux() ?? limitsOfReport()
  const number = Number(limits)
  return Number.isSafeInteger(number) && number > 0 ? number : Number.POSITIVE_INFINITY
}

/** Those that are open now; a guess where the system does not tell. */
function descriptorsInUse(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    // No Linux: what a server has open when it starts.
    return 64
  }
}

function limitsOfLinux(): string | undefined {
  try {
    return /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  } catch {
    // No Linux: the report knows, but takes a hundred times as long.
    return undefined
  }
}

function limitsOfReport(): unknown {
  // Looking every peer's name up would take seconds.
  const report = Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  return userLimits?.open_files?.soft
}
