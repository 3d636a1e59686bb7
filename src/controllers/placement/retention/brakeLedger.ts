/** The brake's memory of one workload space. */
import { createHash } from 'node:crypto'
import { conditionOf } from '../../../apimachinery/conditions.ts'
import { WINDOW_MS } from '../../../placement/brake/removalLimits.ts'
import type { LostCopies } from '../signals/signals.ts'

/** An EdgePlacement that was deleted by name. */
export interface Order {
  /** Its clusters keep what it had placed. */
  readonly preserve: boolean
}

/** A copy that its owner wants no more. */
export interface Removal {
  readonly space: string
  readonly mailbox: string
  readonly key: string
  /** Uid of the copy. */
  readonly uid: string
  /** It was found at the start, or in a mailbox that was closed before: nobody remembers which EdgePlacement had it. */
  readonly isFromStart: boolean
  /** Nor was its source there: whether it was deleted by name nobody remembers. */
  readonly isOrphan: boolean
  /** EdgePlacements that had the copy, and whether they lost it otherwise than by an edit of the object alone. */
  readonly had: Map<string, boolean>
  /** `new`: not judged yet. `free`: it may go. */
  state: 'new' | 'free' | 'held'
  /** A pause keeps it: it is judged when that ends. */
  isPaused: boolean
  /** It is held for one reason alone: an EdgePlacement that had it carries nothing any more. */
  isOfEmptied: boolean
  /** One of those that had it was deleted by name. */
  order: Order | undefined
  /** When it was judged. */
  atMs: number
  /** Digest of the fields above; made when it is needed. */
  digest?: readonly [number, number]
}

/** Keys, and whether they were lost otherwise than by an edit of the object alone. */
interface LostInMailboxes {
  readonly mailboxes: ReadonlySet<string>
  readonly keys: Map<string, boolean>
}

/** Keys that an EdgePlacement may have had, and has no more. */
interface Lost {
  readonly placement: string
  order: Order | undefined
  /** By lists of mailboxes, which objects share. */
  readonly copies: Map<readonly string[], LostInMailboxes>
  /** Nothing is added any more. */
  isClosed: boolean
}

export class BrakeLedger {
  readonly removals = new Set<Removal>()
  /** Losses since the last whole look. */
  readonly #lost: Lost[] = []
  /** Sources that are not to be placed any more, and were not deleted. */
  readonly withdrawn = new Set<string>()
  /** Namespaces that are being deleted, with what was in them. */
  readonly going = new Map<string, Set<string>>()
  /** EdgePlacements that say that there is a hold. */
  reported = new Set<string>()
  /** Placements that confirm copies without known placements. */
  readonly askers = new Set<string>()
  /** Placements with a hold of an earlier run, and its time. */
  readonly inherited = new Map<string, string>()
  /** The hash that each EdgePlacement confirms. */
  readonly confirmed = new Map<string, string>()
  /** Since when there is a hold: RFC 3339. */
  since: string | undefined
  /** Mailboxes that were not open when the space lost something there: what they hold then is looked at when they are. */
  readonly unseen = new Set<string>()
  /** A judgement is scheduled in this turn of the loop. */
  isScheduled = false
  /** Latest removals by copy: a copy counts once. */
  readonly #gone = new Map<string, { readonly atMs: number; readonly mailbox: string; readonly key: string }>()

  isEmpty(nowMs: number): boolean {
    const { withdrawn, going, reported, inherited, confirmed, unseen } = this
    const isKept = [withdrawn, going, reported, inherited, confirmed, unseen].some(({ size }) => size > 0)
    return !isKept && !this.isPending && this.recent(nowMs).size === 0
  }

  /** Whether copies are there that nobody wants, or may be. */
  get isPending(): boolean {
    return this.removals.size > 0 || this.#lost.length > 0
  }

  /** An EdgePlacement reports no hold any more. */
  forget(placement: string): void {
    this.confirmed.delete(placement)
    this.inherited.delete(placement)
  }

  lose(placement: string, { mailboxes, keys, how }: LostCopies): void {
    const lost = this.#lastOf(placement) ?? this.#begin(placement)
    const there = lost.copies.get(mailboxes) ?? { mailboxes: new Set(mailboxes), keys: new Map<string, boolean>() }
    lost.copies.set(mailboxes, there)
    for (const key of keys) there.keys.set(key, there.keys.get(key) === true || how === 'taken')
  }

  /** An EdgePlacement is deleted by name: that is an order about all that it has or had. */
  depart(placement: string, order: Order): void {
    for (const removal of this.removals) if (removal.had.has(placement)) removal.order = order
    for (const lost of this.#lost) if (lost.placement === placement) lost.order = order
    const last = this.#lastOf(placement) ?? this.#begin(placement)
    last.order = order
  }

  isDeparting(placement: string): boolean {
    return this.#lastOf(placement)?.order !== undefined
  }

  /** An EdgePlacement is there: what it loses from now on is no matter of an earlier one of its name. */
  arrive(placement: string): void {
    const last = this.#lastOf(placement)
    if (last?.order) last.isClosed = true
  }

  /** All that was lost until now; it is forgotten when {@link settleLost} is called with it. */
  takeLost(): readonly Lost[] {
    for (const lost of this.#lost) lost.isClosed = true
    return [...this.#lost]
  }

  settleLost({ length }: readonly Lost[]): void {
    this.#lost.splice(0, length)
  }

  get hasLost(): boolean {
    return this.#lost.length > 0
  }

  /** The deletion of an EdgePlacement that had the copy, where not all of it was looked at yet. */
  orderFor(mailbox: string, key: string): Order | undefined {
    const isOf = (one: LostInMailboxes) => one.mailboxes.has(mailbox) && one.keys.has(key)
    return this.#lost.find(({ order, copies }) => order && [...copies.values()].some(isOf))?.order
  }

  isInGoingNamespace(key: string): boolean {
    for (const keys of this.going.values()) if (keys.has(key)) return true
    return false
  }

  free(removal: Removal, nowMs: number): void {
    removal.state = 'free'
    removal.atMs = nowMs
    const { mailbox, key } = removal
    const id = `${mailbox} ${key}`
    this.#gone.delete(id)
    this.#gone.set(id, { atMs: nowMs, mailbox, key })
  }

  /** Removals within the window, done or due, by mailbox. */
  recent(nowMs: number): Map<string, Set<string>> {
    for (const [id, { atMs }] of this.#gone) {
      if (nowMs - atMs < WINDOW_MS) break
      this.#gone.delete(id)
    }
    const found = new Map<string, Set<string>>()
    const add = (mailbox: string, key: string) => found.set(mailbox, (found.get(mailbox) ?? new Set<string>()).add(key))
    for (const { mailbox, key } of this.#gone.values()) add(mailbox, key)
    for (const { state, isPaused, atMs, mailbox, key } of this.removals) {
      const isCounted = (state === 'new' && !isPaused) || (state === 'held' && nowMs - atMs < WINDOW_MS)
      if (isCounted) add(mailbox, key)
    }
    return found
  }

  /** Removals that no judgement was about yet. */
  fresh(): Set<Removal> {
    return new Set([...this.removals].filter(({ state, isPaused }) => state === 'new' && !isPaused))
  }

  held(): Removal[] {
    return [...this.removals].filter(({ state }) => state === 'held')
  }

  #lastOf(placement: string): Lost | undefined {
    return this.#lost.findLast(lost => lost.placement === placement && !lost.isClosed)
  }

  #begin(placement: string): Lost {
    const lost: Lost = { placement, order: undefined, copies: new Map(), isClosed: false }
    this.#lost.push(lost)
    return lost
  }
}

export function noteLoss(removal: Removal, placement: string, isTaken: boolean, order: Order | undefined): void {
  removal.had.set(placement, removal.had.get(placement) === true || isTaken)
  removal.order = order ?? removal.order
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

/** A hold, as an EdgePlacement reports it. */
export interface HeldRemovals {
  readonly since: string
  readonly hash: string
  readonly copies: number
  readonly clusters: number
  readonly examples: readonly { readonly mailbox: string; readonly key: string }[]
}

export const DELETION_HELD = 'DeletionHeld'
const EXAMPLES = 3
/** `held`: at least one. */
export function holdOf(held: readonly Removal[], since: string): HeldRemovals {
  const clusters = new Set(held.map(({ mailbox }) => mailbox)).size
  return { since, hash: planHash(held, since), copies: held.length, clusters, examples: firstOf(held) }
}

/** First of thousands, by name. */
function firstOf(removals: readonly Removal[]): Removal[] {
  const precedes = (a: Removal, b: Removal) => a.key < b.key || (a.key === b.key && a.mailbox < b.mailbox)
  const first: Removal[] = []
  for (const removal of removals) {
    const at = first.findIndex(other => precedes(removal, other))
    first.splice(at < 0 ? first.length : at, 0, removal)
    first.length = Math.min(first.length, EXAMPLES)
  }
  return first
}

/** Since when an EdgePlacement says that there is a hold. */
export function heldSince(status: unknown): string | undefined {
  const held = conditionOf({ status }, DELETION_HELD)
  return held?.status === 'True' && typeof held.lastTransitionTime === 'string' ? held.lastTransitionTime : undefined
}
