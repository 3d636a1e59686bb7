/**
 * Shares out the room of the store. Growth of a space beyond its budget, or beyond that of a space above, is refused. So is growth while
 * the server itself runs short. Reads, deletions and writes without growth always go on. Judged and counted in the order of the store's
 * queue, so no two writes can both take the last place.
 */
import { SERVER_SHORT } from '../../apimachinery/errors.ts'
import {
  ALWAYS_UPDATED,
  BUDGET_ANNOTATIONS,
  BUDGET_EXCEEDED,
  bytesText,
  MEASURES,
  type Measure,
  REMOVAL_BYTES,
  type SpaceBudget,
  UPDATE_RESERVE,
  weightOf,
} from '../../placement/spaces/spaceBudget.ts'
import { CopyText } from '../../storage/copyText.ts'
import type { Budget, BudgetedChange } from '../../storage/journaledStore.ts'
import type { Kin } from '../../storage/objectSlots.ts'
import { mentions, sizeOf as textBytes } from '../../storage/sharedStored.ts'
import type { Key, Refusal, Store, Stored } from '../../storage/store.ts'
import type { Room } from '../shortage/room.ts'
import { ratios, type ServerLimit, type ServerLimits, type ServerUse, serverUse } from './serverLimits.ts'
import { NOTHING, type SpaceCount, SpaceUse, type Use } from './spaceUse.ts'
import { ROOT, type SpaceTree } from './tree.ts'

interface SpaceBudgetsOptions {
  /** Memory and disk of the server. */
  rooms?: readonly Room[]
  /** Default: there is no limit. */
  limits?: ServerLimits | undefined
  /** Whether an object of a mailbox was carried up from its cluster, by the head of its text. Default: none was. */
  isCarried?: (head: string) => boolean
  /** Mark in the text of each such object; most others are recognized by its absence, without a look at their heads. Default: none. */
  carriedMark?: string
}

/** How much of its budget a space has used. */
interface UsedBudget {
  readonly count: SpaceCount
  readonly budget: SpaceBudget
  /** The greatest of its measures, 1: all is used. */
  readonly ratio: number
}

/** An update that lengthens its object by no more is taken while the server is short, until it is about to have nothing. */
const SMALL_GROWTH_BYTES = 1024
/** A longer object is not replaced any more when the disk is about to be full. */
const SMALL_UPDATE_BYTES = 4096
/** The same while a disk is only short: each leaves as much behind that LevelDB has yet to merge. */
const SHORT_UPDATE_BYTES = 16 * 1024

export class SpaceBudgets implements Budget {
  readonly #use = new SpaceUse()
  readonly rooms: readonly Room[]
  readonly #limits: ServerLimits | undefined
  readonly #isCarriedHead: (head: string) => boolean
  readonly #carriedMark: string
  /** Absent while the store is opened, and where there are no spaces. */
  #tree: SpaceTree | undefined
  /** The space that holds the mailboxes. */
  #core = ''
  #serving = false

  constructor({ rooms = [], limits, isCarried = () => false, carriedMark = '' }: SpaceBudgetsOptions = {}) {
    this.rooms = rooms
    this.#limits = limits
    this.#isCarriedHead = isCarried
    this.#carriedMark = carriedMark
  }

  /** From now on spaces stand below each other, and have budgets. */
  follow(tree: SpaceTree, store: Pick<Store, 'project'>): void {
    this.#tree = tree
    const learn = (id: string): void => {
      this.#use.place(id, tree.get(id)?.parent)
      if (tree.typeOf(id).name === 'core') this.#core = id
      this.#countCarried(id, store)
    }
    for (const { id } of tree.below(ROOT)) learn(id)
    tree.onKnown(learn)
    tree.onTyped(id => this.#countCarried(id, store))
    tree.onGone(id => this.#use.displace(id))
  }

  /** From now on shortages and the server's limits count: what a start needs is what is kept free. */
  serve(): void {
    this.#serving = true
    this.#limits?.report(this.#serverUse())
  }

  /** {@link SpaceTree.tenantOf}. */
  tenantOf(space: string): string {
    return this.#tree?.tenantOf(space) ?? space
  }

  loaded({ space, group, resource }: Kin, objects: number, bytes: number): void {
    this.#use.add(space, weighed({ group, resource }, objects, bytes))
  }

  count(key: Key, now: Stored | undefined, before: Stored | undefined): void {
    const more: { -readonly [measure in keyof Use]?: number } = weighed(
      key,
      (now ? 1 : 0) - (before ? 1 : 0),
      sizeOf(now) - sizeOf(before),
    )
    if (this.#tree !== undefined && isMailbox(this.#tree, key.space)) {
      const [is, was] = [this.#isCarried(now), this.#isCarried(before)]
      more.carriedObjects = (is ? 1 : 0) - (was ? 1 : 0)
      more.carriedBytes = (is ? textBytes(now!) : 0) - (was ? textBytes(before!) : 0)
    }
    this.#use.add(key.space, more)
    if (this.#serving && more.objects !== 0) this.#limits?.report(this.#serverUse())
    // what a start loads was written long ago
    const written = now ?? before
    const bytes = written === undefined ? 0 : textBytes(written)
    if (this.#serving) for (const room of this.rooms) room.took?.(bytes)
  }

  isShortOfDisk(): boolean {
    return this.rooms.some(room => room.what === 'disk' && room.lack() !== undefined)
  }

  refusal(change: BudgetedChange): Refusal | undefined {
    const { key, bytes, previous, leadsOut } = change
    const growth = bytes - sizeOf(previous)
    if (leadsOut && growth <= REMOVAL_BYTES) return undefined
    const short = this.#shortage(change, growth)
    if (short !== undefined || this.#tree === undefined || (previous !== undefined && growth <= 0)) return short
    const more: Amounts = weighed(key, previous ? 0 : 1, growth)
    const goesOn = previous !== undefined && bytes <= weightOf(key).bytes * ALWAYS_UPDATED
    for (let at = goesOn ? undefined : this.#use.get(key.space); at !== undefined; at = at.above) {
      const budget = this.#tree.get(at.id)?.budget
      const over = budget && exceeded(budget, at.all, more)
      if (over) return this.#refuse(key, at, budget, over, more[over] ?? 0)
    }
    if (isMailbox(this.#tree, key.space)) return this.#carriedRefusal(change, growth)
    // what is in no space, or in the core space, the server itself made
    const isOwn = key.space === this.#core || this.#tree.get(key.space) === undefined
    if (previous !== undefined || this.#limits === undefined || !this.#serving || isOwn) return undefined
    return this.#limits.refusal(key, this.#serverUse(), key.space === ROOT)
  }

  /** Content of a space, with all below it. */
  useOf(space: string): SpaceCount | undefined {
    return this.#use.get(space)
  }

  /** Use of a space, with all below it, and its limits. Those of the root are the server's. */
  usedOf(space: string): { used: Use; limits: SpaceBudget | ServerLimit } {
    const used = this.useOf(space)?.all ?? NOTHING
    if (space !== ROOT || this.#limits === undefined) return { used, limits: this.#tree?.get(space)?.budget ?? {} }
    return { used: { ...used, ...this.#serverUse() }, limits: this.#limits.limit }
  }

  /** Parts of the server's limits that are used. */
  serverRatios(): [what: string, ratio: number][] {
    return this.#limits === undefined ? [] : ratios(this.#serverUse(), this.#limits.limit)
  }

  /** The spaces that have used the greatest parts of their budgets, those first; at most so many. */
  fullest(count: number): UsedBudget[] {
    const found: UsedBudget[] = []
    for (const each of this.#use.counts()) {
      const budget = this.#tree?.get(each.id)?.budget
      if (budget === undefined) continue
      const ratio = Math.max(...MEASURES.map(measure => partOf(each.all[measure], budget[measure])))
      if (found.length === count && ratio <= found.at(-1)!.ratio) continue
      found.push({ count: each, budget, ratio })
      found.sort((a, b) => b.ratio - a.ratio)
      found.length = Math.min(found.length, count)
    }
    return found
  }

  #serverUse(): ServerUse {
    return serverUse(this.#use.get(ROOT)?.all, this.#use.get(this.#core)?.all)
  }

  #shortage({ key, bytes, previous }: BudgetedChange, growth: number): Refusal | undefined {
    if (!this.#serving) return undefined
    for (const room of this.rooms) {
      const lack = room.lack()
      if (lack === undefined) continue
      const isSmall = lack.critical
        ? growth <= 0 && (room.what === 'memory' || bytes <= SMALL_UPDATE_BYTES)
        : growth <= SMALL_GROWTH_BYTES && (room.what === 'memory' || bytes <= SHORT_UPDATE_BYTES)
      if (previous !== undefined && isSmall) continue
      const message = `the server takes nothing more for now, only deletions and small updates: ${lack.message}`
      return {
        reason: 'Shortage',
        message,
        key,
        causes: [{ reason: SERVER_SHORT, field: room.what, message: lack.message }],
      }
    }
    return undefined
  }

  #carriedRefusal({ key, text, bytes, previous }: BudgetedChange, growth: number): Refusal | undefined {
    const at = this.#use.get(key.space)
    const budget = this.#tree?.get(key.space)?.budget
    if (at === undefined || budget === undefined) return undefined
    if (text instanceof CopyText && !text.mentions(this.#carriedMark)) return undefined
    if (!this.#isCarriedHead(text.head)) return undefined
    const wasCarried = this.#isCarried(previous)
    const more: Amounts = { carriedObjects: wasCarried ? 0 : 1, carriedBytes: wasCarried ? growth : bytes }
    const over = exceeded(budget, at.own, more)
    return over && this.#refuse(key, at, budget, over, more[over] ?? 0)
  }

  #refuse(key: Key, at: SpaceCount, budget: SpaceBudget, over: Measure, more: number): Refusal {
    const isOwn = at.id === key.space
    const shown = (amount: number): string => `${NAMES[over]}=${over.endsWith('ytes') ? bytesText(amount) : amount}`
    // the use of others is hidden from users of a space below
    const used = isOwn ? `, used: ${shown(at.all[over])}` : ''
    const figures = `requested: ${shown(more)}${used}, limited: ${shown(budget[over]!)}`
    const path = this.#tree?.pathOf(at.id) ?? at.id
    const what = over.startsWith('carried') ? 'what is carried up to space' : 'space'
    const deletes = over === 'syncTargets' ? 'SyncTargets' : 'objects'
    const remedy = over.startsWith('carried')
      ? 'let fewer objects be selected by upsync, or delete them in the cluster'
      : `delete ${deletes} in it or in the spaces below it`
    return {
      reason: 'Budget',
      message: `exceeded budget of ${what} ${path}: ${figures}; ${remedy}, or ask who may update its Workspace for more (annotation ${BUDGET_ANNOTATIONS[over]})`,
      key,
      causes: [{ reason: BUDGET_EXCEEDED, field: NAMES[over], message: figures }],
    }
  }

  #isCarried(stored: Stored | undefined): boolean {
    if (stored === undefined || !mentions(stored, this.#carriedMark)) return false
    return this.#isCarriedHead(stored.bytes.toString('utf8', 0, stored.headBytes))
  }

  /** Anew, by a look at all that the space holds. */
  #countCarried(space: string, store: Pick<Store, 'project'>): void {
    const own = this.#use.get(space)?.own
    const found = { carriedObjects: -(own?.carriedObjects ?? 0), carriedBytes: -(own?.carriedBytes ?? 0) }
    const reset = (items: Iterable<Stored>): void => {
      for (const stored of items) {
        if (!this.#isCarried(stored)) continue
        found.carriedObjects++
        found.carriedBytes += textBytes(stored)
      }
    }
    if (this.#tree !== undefined && isMailbox(this.#tree, space)) store.project({ space }, { reset, apply() {} })()
    this.#use.add(space, found)
  }
}

type Kind = Pick<Key, 'group' | 'resource'>
type Amounts = Partial<Record<Measure, number>>

const NAMES: Readonly<Record<Measure, string>> = {
  objects: 'objects',
  bytes: 'bytes',
  syncTargets: 'syncTargets',
  carriedObjects: 'upsyncedObjects',
  carriedBytes: 'upsyncedBytes',
}

/** The first measure that would be passed. An update may pass the bytes by a reserve: it makes nothing new. */
function exceeded(budget: SpaceBudget, used: Use, more: Amounts): Measure | undefined {
  const isUpdate = (more.objects ?? more.carriedObjects ?? 0) === 0
  for (const measure of MEASURES) {
    const limit = budget[measure]
    const added = more[measure] ?? 0
    if (limit === undefined || added <= 0) continue
    const isBytes = measure === 'bytes' || measure === 'carriedBytes'
    const allowed = isUpdate && isBytes ? limit * (1 + UPDATE_RESERVE) : limit
    if (used[measure] + added > allowed) return measure
  }
  return undefined
}

function partOf(used: number, limit: number | undefined): number {
  if (limit === undefined) return 0
  return limit === 0 ? (used > 0 ? Number.MAX_VALUE : 0) : used / limit
}

/** The amounts of so many objects of a kind that have so many bytes together. */
function weighed(
  kind: Kind,
  objects: number,
  bytes: number,
): Pick<Use, 'objects' | 'bytes' | 'syncTargets' | 'spaces'> {
  const weight = weightOf(kind)
  return {
    objects: objects * (1 + weight.objects),
    bytes: bytes * weight.times + objects * weight.bytes,
    syncTargets: objects * weight.syncTargets,
    spaces: objects * weight.spaces,
  }
}

function isMailbox(tree: SpaceTree, space: string): boolean {
  return tree.get(space)?.type.name === 'mailbox'
}

/** With what was noted beside the text. */
function sizeOf(stored: Stored | undefined): number {
  return stored === undefined ? 0 : textBytes(stored) + (stored.note?.length ?? 0)
}
