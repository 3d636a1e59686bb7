/** Number of seats for a request, before it runs: by the objects that lists read and write, and the watchers of a change. */
import { ONE_SEAT, type Work } from './seats.ts'

/** Bytes of a list for one seat. */
const BYTES_PER_SEAT = 100_000
/** A list that is written piece by piece never has more than this in hand. */
const STREAMED_BYTES = 1_000_000
const MOST_SEATS = 100
const WATCHES_PER_SEAT = 10
/** How long one seat is taken by telling its watchers. */
const TELLING_MS = 5

/** The widest that a request of a level may be. At least a few of them go at a time, and a hand's worth of them. */
export function widestOf(nominal: number, handSize: number | undefined): number {
  const part = Math.ceil(0.15 * nominal)
  const hand = handSize ? Math.floor(nominal / handSize) : part
  return Math.max(1, Math.min(part, hand, MOST_SEATS))
}

export interface ListSize {
  /** How many there are where it looks; `undefined` when nobody knows: then it is taken for the widest. */
  readonly objects: number | undefined
  /** Average size of one of them. */
  readonly bytes: number
  readonly limit: number | undefined
  readonly selects: boolean
  /** Whether the answer is made item by item, or whole. */
  readonly streamed: boolean
}

export function listWork({ objects, bytes, limit, selects, streamed }: ListSize, widest: number): Work {
  if (objects === undefined) return seats(widest)
  const wanted = limit === undefined || limit <= 0 ? objects : Math.min(limit, objects)
  // who selects looks at those, too, that are not shown
  const looked = selects ? Math.max(wanted, objects / 2) : wanted
  const size = looked * bytes
  return seats(Math.min(widest, Math.ceil((streamed ? Math.min(size, STREAMED_BYTES) : size) / BYTES_PER_SEAT)))
}

/** `watches`: number of watches on the change. */
export function changeWork(watches: number, widest: number): Work {
  if (watches < WATCHES_PER_SEAT) return ONE_SEAT
  const finalSeats = Math.ceil(watches / WATCHES_PER_SEAT)
  if (finalSeats <= widest) return { initialSeats: 1, finalSeats, extraMs: TELLING_MS }
  return { initialSeats: 1, finalSeats: widest, extraMs: (finalSeats * TELLING_MS) / widest }
}

function seats(count: number): Work {
  return count <= 1 ? ONE_SEAT : { initialSeats: count, finalSeats: 0, extraMs: 0 }
}
