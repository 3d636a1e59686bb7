/**
 * Pure: the time that a key waits after ends of the process. Seconds, doubled up to two minutes, are enough against chance; only a key
 * that is blamed again and again waits for longer.
 */

export interface Ends {
  /** Ends of the process while the key was one of several. */
  among: number
  /** Ends of the process while the key was tried. Only its own success takes them back, so chance does not add up. */
  alone: number
}

/**
 * Wait before one of several keys is tried, and between trials of a key alone. It is doubled after each end within the peace below.
 */
export const FIRST_MS = 5_000
const FIRST_ALONE_MS = 30_000
const MOST_MS = 120_000
/** More trials that end the process are no chance: after one more, two, and all others. */
const CHANCES = 4
const LONG_MS = [600_000, 3_600_000, 86_400_000]
const REQUESTED_MS = 30_000
const LONG_REQUESTED_MS = [30_000, 300_000, 3_600_000]
function inTable(table: readonly number[], count: number): number {
  return table[Math.min(count, table.length) - 1]!
}

/** Until a key is tried. */
export function waitMs({ alone, among }: Readonly<Ends>): number {
  if (alone > CHANCES) return inTable(LONG_MS, alone - CHANCES)
  const [firstMs, ends] = alone > 0 ? [FIRST_ALONE_MS, alone] : [FIRST_MS, among]
  return Math.min(MOST_MS, firstMs * 2 ** Math.min(ends - 1, 20))
}

/** The same, from when somebody asks for it anew. */
export function requestedMs({ alone }: Readonly<Ends>): number {
  return alone > CHANCES ? inTable(LONG_REQUESTED_MS, alone - CHANCES) : REQUESTED_MS
}
