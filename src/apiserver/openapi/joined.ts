import type { Work } from '../../program/workTurns.ts'

/** Copied in a row: what a turn of the loop hardly notices, though the memory is fresh. */
const STEP_BYTES = 1024 * 1024

/** One buffer of all pieces, as Buffer.concat makes it, in slices: a document of a thousand kinds is tens of megabytes. */
export async function joined(pieces: readonly Buffer[], work: Work): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  let restedAt = 0
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += STEP_BYTES) {
      at += piece.copy(whole, at, from, from + STEP_BYTES)
      if (at - restedAt < STEP_BYTES) continue
      restedAt = at
      if (work.due) await work.rest()
    }
  }
  return whole
}
