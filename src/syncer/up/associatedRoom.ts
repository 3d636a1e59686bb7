/**
 * Room for associated objects: so many objects and bytes for each placement, and writes at a steady pace. First come, first served;
 * those that find no room are counted.
 */
import { type Clock, steadyMs } from '../../client/clock.ts'
import { Rate } from '../../client/rate.ts'
import { MAX_ASSOCIATED, MAX_ASSOCIATED_BYTES } from '../../placement/associated/associated.ts'
import type { AssociatedReport } from '../../placement/desks/syncerConfig.ts'
import { keyText, type SyncKey } from '../mailbox/mirror.ts'

/** A placement of a space. */
export interface Charged {
  readonly space: string
  readonly placement: string
}

interface Share extends Charged {
  readonly bytes: Map<string, number>
  readonly leftOut: Set<string>
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
    const { bytes, total, refused } = this.#share(charged)
    if (bytes.has(keyText(key))) return true
    const isFull = bytes.size >= MAX_ASSOCIATED || (refused !== undefined && total + refused > MAX_ASSOCIATED_BYTES)
    if (isFull) this.#wait(charged, key)
    return !isFull
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
    return true
  }

  /** Counts an object that is not carried up. */
  leaveOut(charged: Charged, key: SyncKey): void {
    const id = keyText(key)
    const share = this.#share(charged)
    share.waiting.delete(id)
    if (share.leftOut.has(id)) return
    this.forget(key)
    share.leftOut.add(id)
    this.#shareOf.set(id, share)
    this.#shares.set(idOf(charged), share)
    this.#onChange()
  }

  #wait(charged: Charged, key: SyncKey): void {
    this.leaveOut(charged, key)
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
      let tried = 0
      for (const other of share.waiting.values()) {
        if (tried++ === TRIED) break
        this.#again(other)
      }
    }
    const isPaid = (share.paidUntilMs ?? 0) <= steadyMs(this.#clock)
    if (isPaid && share.bytes.size === 0 && share.leftOut.size === 0) this.#shares.delete(idOf(share))
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
      .map(({ space, placement, leftOut }) => ({ space, placement, leftOut: leftOut.size }))
  }

  #share(charged: Charged): Share {
    const id = idOf(charged)
    const known = this.#shares.get(id)
    if (known) return known
    const rest = { total: 0, refused: undefined, paidUntilMs: undefined }
    const share = { ...charged, bytes: new Map(), leftOut: new Set<string>(), waiting: new Map(), ...rest }
    this.#shares.set(id, share)
    return share
  }
}

function idOf({ space, placement }: Charged): string {
  return `${space} ${placement}`
}
