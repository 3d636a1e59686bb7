/**
 * The attacker stands for other machines, but runs on the server's processors. Where it may, its process has these only when no other wants
 * them. Another tenant then waits for the server, and not for the attacker's own work.
 */
import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

const { PRIORITY_LOW, PRIORITY_NORMAL } = constants.priority
/** Only root can take it back for the processes that it starts. */
const MAY = process.platform === 'linux' && process.getuid?.() === 0

/** All threads of this process; false where it may not. */
export function yieldProcessors(): boolean {
  if (!MAY) return false
  // priorities are threads' own; a new one gets that of who begins it
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), PRIORITY_LOW)
  return true
}

/** A process that was just begun by this one does not yield. */
export function claimProcessors(pid: number | undefined): void {
  if (MAY && pid !== undefined) setPriority(pid, PRIORITY_NORMAL)
}
