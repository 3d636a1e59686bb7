/** Bounds on removals from clusters that no deletion by name requests. Pure. */

/** More copies than these within {@link WINDOW_MS} are held. */
export const MAX_REMOVED = 50
/** Nor may all that a space has in a cluster go, where that is more than this. */
export const MAX_EMPTIED = 10
export const WINDOW_MS = 10_000

export interface RemovalsAtOnce {
  /** The copies that go, or have gone within the window, by mailbox. */
  readonly byMailbox: ReadonlyMap<string, { readonly size: number }>
  /** Whether anything of the space stays there. Evaluated only where it matters. */
  readonly remains: (mailbox: string) => boolean
}

export function isTooMuch({ byMailbox, remains }: RemovalsAtOnce): boolean {
  let total = 0
  for (const { size } of byMailbox.values()) total += size
  if (total > MAX_REMOVED) return true
  for (const [mailbox, { size }] of byMailbox) if (size > MAX_EMPTIED && !remains(mailbox)) return true
  return false
}
