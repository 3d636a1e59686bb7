/** What the brake remembers of one workload space. */
import { createHash } from 'node:crypto'
import { WINDOW_MS } from './removalLimits.ts'

/** A copy that its owner wants no more, and that was not deleted by name. */
export interface Removal {
  readonly space: string
  readonly mailbox: string
  readonly key: string
  /** Of the copy. */
  readonly uid: string
  /** Its source was not there when the server started: whether it was deleted by name nobody remembers. */
  readonly isOrphan: boolean
  /** `new`: not judged yet. `free`: it may go. */
  state: 'new' | 'free' | 'held'
  /** Its cluster keeps it, by the word of an EdgePlacement that was deleted. */
  isPreserved: boolean
  /** When it was judged. */
  atMs: number
  /** Of all that is said above; made when it is needed. */
  digest?: readonly [number, number]
}

/** An EdgePlacement that was deleted by name, and what it had placed. */
interface Order {
  readonly mailboxes: ReadonlySet<string>
  readonly keys: ReadonlySet<string>
  readonly preserve: boolean
}

/** An EdgePlacement from which something has left is told of it when it did so this long ago at most. */
const CONCERNED_MS = 60_000

export class BrakeLedger {
  readonly removals = new Set<Removal>()
  /** EdgePlacements deleted by name since the last judgement. */
  readonly orders: Order[] = []
  /** Sources that are not to be placed any more, and were not deleted. */
  readonly withdrawn = new Set<string>()
  /** Namespaces that are being deleted, with what was in them. */
  readonly going = new Map<string, Set<string>>()
  /** EdgePlacements that say that there is a hold. */
  readonly told = new Set<string>()
  /** Those that an earlier run told, and since when. */
  readonly inherited = new Map<string, string>()
  /** The hash that each EdgePlacement confirms. */
  readonly confirmed = new Map<string, string>()
  /** Since when there is a hold: RFC 3339. */
  since: string | undefined
  /** How many went lately from where, and when. */
  readonly #gone: { readonly atMs: number; readonly mailbox: string; count: number }[] = []
  /** When something last left an EdgePlacement. */
  readonly #lost = new Map<string, number>()

  isEmpty(nowMs: number): boolean {
    const { removals, orders, withdrawn, going, told, inherited, confirmed } = this
    const isKept = [removals, withdrawn, going, told, inherited, confirmed].some(({ size }) => size > 0)
    return !isKept && orders.length === 0 && this.recent(nowMs).size === 0 && this.concerned(nowMs).length === 0
  }

  lost(placement: string, nowMs: number): void {
    this.#lost.set(placement, nowMs)
  }

  /** EdgePlacements from which something has left lately. */
  concerned(nowMs: number): string[] {
    for (const [name, atMs] of this.#lost) if (nowMs - atMs > CONCERNED_MS) this.#lost.delete(name)
    return [...this.#lost.keys()]
  }

  forget(placement: string): void {
    this.#lost.delete(placement)
    this.confirmed.delete(placement)
    this.inherited.delete(placement)
  }

  /** What an EdgePlacement that was deleted by name had placed there goes; whether the cluster keeps it. */
  orderFor(mailbox: string, key: string): { readonly preserve: boolean } | undefined {
    return this.orders.find(({ mailboxes, keys }) => mailboxes.has(mailbox) && keys.has(key))
  }

  isInGoingNamespace(key: string): boolean {
    for (const keys of this.going.values()) if (keys.has(key)) return true
    return false
  }

  free(removal: Removal, nowMs: number): void {
    removal.state = 'free'
    removal.atMs = nowMs
    const last = this.#gone.at(-1)
    if (last?.mailbox === removal.mailbox && last.atMs === nowMs) last.count++
    else this.#gone.push({ atMs: nowMs, mailbox: removal.mailbox, count: 1 })
  }

  /** What went or was to go within the window, by mailbox. */
  recent(nowMs: number): Map<string, number> {
    const first = this.#gone.findIndex(({ atMs }) => nowMs - atMs < WINDOW_MS)
    this.#gone.splice(0, first < 0 ? this.#gone.length : first)
    const counts = new Map<string, number>()
    const count = (mailbox: string, more = 1) => counts.set(mailbox, (counts.get(mailbox) ?? 0) + more)
    for (const { mailbox, count: more } of this.#gone) count(mailbox, more)
    for (const { state, atMs, mailbox } of this.removals) {
      if (state === 'new' || (state === 'held' && nowMs - atMs < WINDOW_MS)) count(mailbox)
    }
    return counts
  }

  held(): Removal[] {
    return [...this.removals].filter(({ state }) => state === 'held')
  }
}

/** The same for the same copies in any order; another one for each hold, so that what confirmed one confirms no other. */
export function planHash(removals: readonly Removal[], since: string): string {
  let [high, low] = [0, 0]
  for (const removal of removals) {
    const digest = digestOf(removal)
    high ^= digest[0]
    low ^= digest[1]
  }
  return createHash('sha256').update(`${since} ${removals.length} ${high} ${low}`).digest('hex').slice(0, 12)
}

export function digestOf(removal: Removal): readonly [number, number] {
  if (removal.digest) return removal.digest
  const { mailbox, key, uid } = removal
  const bytes = createHash('sha256').update(`${mailbox} ${key} ${uid}`).digest()
  removal.digest = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)]
  return removal.digest
}
