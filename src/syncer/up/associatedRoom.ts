/**
 * Room for associated objects: so many objects and bytes for each placement, and writes at a steady pace. First come, first served;
 * those that find no room are counted. Objects that an earlier run carried up keep theirs.
 */
import { type Clock, steadyMs } from '../../client/clock.ts'
import { Rate } from '../../client/rate.ts'
import { MAX_ASSOCIATED, MAX_ASSOCIATED_BYTES } from '../../placement/associated/associated.ts'
import type { AssociatedReport, LeftOutCause } from '../../placement/desks/syncerConfig.ts'
import { keyText, type SyncKey } from '../mailbox/mirror.ts'

/** A placement of a space. */
export interface Charged {
  readonly space: string
  readonly placement: string
}

interface Share extends Charged {
  readonly bytes: Map<string, number>
  readonly leftOut: Map<string, LeftOutCause>
  /** Those of them that wait for room, in turns. */
  readonly waiting: Map<string, SyncKey>
  total: number
  /** The fewest bytes that found no room; absent: none were refused. */
  refused: number | undefined
  paidUntilMs: number | undefined
}

/** Writes for one placement: one in two seconds after the first thousand, whatever restarts in its cluster. */
const WRITES = new Rate({ everyMs: 2000, atOnce: MAX_ASSOCIATED })
/** Left-out objects that are tried when one goes. */
const TRIED = 8
/** An object that is larger than this says nothing about room for others. */
const USUAL_BYTES = 64 * 1024

export class AssociatedRoom {
  readonly #shares = new Map<string, Share>()
  readonly #shareOf = new Map<string, Share>()
  /** Turns of those that wait. */
  readonly #due = new Map<string, number>()
  readonly #clock: Clock
  readonly #onChange: () => void
  readonly #again: (key: SyncKey) => void

  constructor(clock: Clock, onChange: () => void, again: (key: SyncKey) => void) {
    this.#clock = clock
    this.#onChange = onChange
    this.#again = again
  }

  /** Whether an object may have room, before its size is known. It waits for room otherwise. */
  hasRoom(charged: Charged, key: SyncKey): boolean {
    const share = this.#share(charged)
    if (share.bytes.has(keyText(key)) || !isFull(share)) return true
    this.#wait(charged, key)
    return false
  }

  /** An object of the mailbox has its room, whatever else has come since. */
  reserve(charged: Charged, key: SyncKey, bytes: number): void {
    const id = keyText(key)
    if (this.#shareOf.has(id)) return
    const share = this.#share(charged)
    share.total += bytes
    share.bytes.set(id, bytes)
    this.#shareOf.set(id, share)
  }

  /** Whether an object of so many bytes has room. It waits for room otherwise. */
  take(charged: Charged, key: SyncKey, bytes: number): boolean {
    const id = keyText(key)
    const share = this.#share(charged)
    if (this.#shareOf.get(id) !== share) this.forget(key)
    const before = share.bytes.get(id)
    const fits =
      (before !== undefined || share.bytes.size < MAX_ASSOCIATED) &&
      share.total + bytes - (before ?? 0) <= MAX_ASSOCIATED_BYTES
    if (!fits) {
      share.refused = Math.min(bytes, share.refused ?? USUAL_BYTES, USUAL_BYTES)
      this.#wait(charged, key)
      return false
    }
    share.total += bytes - (before ?? 0)
    share.bytes.set(id, bytes)
    this.#shareOf.set(id, share)
    share.waiting.delete(id)
    if (share.leftOut.delete(id)) this.#onChange()
    if (bytes < (before ?? 0)) this.#retry(share)
    return true
  }

  /** Counts an object that is not carried up. */
  leaveOut(charged: Charged, key: SyncKey, cause: LeftOutCause): void {
    const id = keyText(key)
    const share = this.#share(charged)
    share.waiting.delete(id)
    if (share.leftOut.get(id) === cause) return
    this.forget(key)
    share.leftOut.set(id, cause)
    this.#shareOf.set(id, share)
    this.#shares.set(idOf(charged), share)
    this.#onChange()
  }

  #wait(charged: Charged, key: SyncKey): void {
    this.leaveOut(charged, key, 'leftOut')
    this.#share(charged).waiting.set(keyText(key), key)
  }

  /** It is carried up no more, and others may find room. */
  forget(key: SyncKey): void {
    const id = keyText(key)
    const share = this.#shareOf.get(id)
    if (!share) return
    this.#shareOf.delete(id)
    this.#due.delete(id)
    share.waiting.delete(id)
    if (share.leftOut.delete(id)) this.#onChange()
    const bytes = share.bytes.get(id)
    if (bytes !== undefined) {
      share.bytes.delete(id)
      share.total -= bytes
      this.#retry(share)
    }
    const isPaid = (share.paidUntilMs ?? 0) <= steadyMs(this.#clock)
    if (isPaid && share.bytes.size === 0 && share.leftOut.size === 0) this.#shares.delete(idOf(share))
  }

  #retry(share: Share): void {
    if (isFull(share)) return
    let tried = 0
    for (const other of share.waiting.values()) {
      if (tried++ === TRIED) break
      this.#again(other)
    }
  }

  /** How long an object waits for the turn that it got; 0: it has none. */
  waitMs(key: SyncKey): number {
    return Math.max(0, (this.#due.get(keyText(key)) ?? 0) - steadyMs(this.#clock))
  }

  /** How long a write has to wait for its turn among those for its placement; 0: it is its turn. */
  turnMs(charged: Charged, key: SyncKey): number {
    const id = keyText(key)
    const nowMs = steadyMs(this.#clock)
    const due = this.#due.get(id)
    if (due !== undefined && due > nowMs) return due - nowMs
    this.#due.delete(id)
    if (due !== undefined) return 0
    const share = this.#share(charged)
    const waitMs = WRITES.waitMs(share.paidUntilMs, nowMs)
    share.paidUntilMs = WRITES.paid(share.paidUntilMs, nowMs)
    if (waitMs > 0) this.#due.set(id, nowMs + waitMs)
    return waitMs
  }

  /** Placements with objects that are not carried up. */
  report(): AssociatedReport[] {
    return [...this.#shares.values()]
      .filter(({ leftOut }) => leftOut.size > 0)
      .map(({ space, placement, leftOut }) => ({ space, placement, ...countsOf(leftOut.values()) }))
  }

  #share(charged: Charged): Share {
    const id = idOf(charged)
    const known = this.#shares.get(id)
    if (known) return known
    const rest = { total: 0, refused: undefined, paidUntilMs: undefined }
    const share = {
      ...charged,
      bytes: new Map(),
      leftOut: new Map<string, LeftOutCause>(),
      waiting: new Map(),
      ...rest,
    }
    this.#shares.set(id, share)
    return share
  }
}

function isFull({ bytes, total, refused }: Share): boolean {
  return bytes.size >= MAX_ASSOCIATED || (refused !== undefined && total + refused > MAX_ASSOCIATED_BYTES)
}

function countsOf(causes: Iterable<LeftOutCause>): Record<LeftOutCause, number> {
  const counts = { leftOut: 0, olderEvents: 0, notTaken: 0, notAllowed: 0 }
  for (const cause of causes) counts[cause]++
  return counts
}

function idOf({ space, placement }: Charged): string {
  return `${space} ${placement}`
}
