/** How many files and connections this process may have open, and how many it has. */
import { readdirSync, readFileSync } from 'node:fs'

/** The soft limit, which Node raises as far as it may when it starts; `Infinity` where there is none. */
export function descriptorLimit(): number {
  const limits = limitsOfLinux() ?? limitsOfReport()
  const number = Number(limits)
  return Number.isSafeInteger(number) && number > 0 ? number : Number.POSITIVE_INFINITY
}

/** Those that are open now; a guess where the system does not tell. */
export function descriptorsInUse(): number {
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
