/**
 * One placement with a rollout strategy: the revision that each destination may have, and the edits since the newest one. While nothing
 * of it is staged (its strategy is All and no revision is pinned) destinations read the live content.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { RolloutStrategy } from '../../../placement/rollout/strategy.ts'
import { objectKey } from '../../../placement/words/names.ts'
import { CUSTOMIZERS } from '../../../placement/words/placement.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { LeadContent, StagedContent } from '../join/leadContent.ts'
import type { ObjectFact, StagedObject } from '../join/workload.ts'
import { type ContentRow, ContentRows } from './contentRows.ts'
import { locationKey, readsAlike } from './locationContent.ts'
import { type RevisedObject, RevisionContent } from './revisionContent.ts'
import type { PlacementId } from './revisionStore.ts'
import type { Rollout } from './rollout.ts'
import type { StoredState } from './storedRollouts.ts'

export interface StagedPlacementDeps {
  readonly live: LeadContent
  /** Facts about all objects of the space. */
  readonly workload: { get(key: string): ObjectFact | undefined }
  read(row: ContentRow): Promise<KubeObject | undefined>
  now(): number
  /** It was edited, or a destination may have other content. */
  changed(): void
}

/** Inputs of an object in a revision, beside its row. */
interface FactInputs {
  readonly revision: number
  readonly customizer: ContentRow | undefined
  /** Revision in which a Location that it may read changed last. */
  readonly locations: number
}

export class StagedPlacement implements StagedContent {
  readonly id: PlacementId
  strategy: RolloutStrategy
  /** `spec.rolloutStrategy` as it is written. */
  written: unknown
  historyLimit: number
  /** Whether it came while the server ran: nothing of it is anywhere yet. */
  readonly isNew: boolean
  /** Whether it had no strategy until now: destinations have the live content, whatever an earlier rollout says. */
  readonly wasLive: boolean
  rows = new ContentRows()
  isStaged = false
  /** The newest revision that was rolled out whole; 0: none. Destinations without one of their own have it. */
  finished = 0
  pinned: number | undefined
  rollout: Rollout | undefined
  /** Why the edits are in no revision. */
  problem: string | undefined
  /** Whether what people write about its rollouts may be other than was read. */
  isStale = false
  /** Whether a revision of its edits is being made. */
  isCutting = false
  /** Whether it was edited before this run is not known yet. */
  isUnsure = false
  /** When it was last looked at. */
  lookedAtMs = Number.NEGATIVE_INFINITY
  /** Mailboxes of which something changed since their content was last looked at. */
  touched = new Set<string>()
  isAllTouched = true
  /** Revision of the store as which the center wrote a status of its rollout last. */
  writtenRevision = 0
  /** The number of its newest rollout. */
  lastRun = 0
  /** Revisions that failed, and those to which their clusters went back. */
  rolledBack = new Map<number, number>()
  /** Revisions that were finished, and have passed all gates. */
  approved = new Set<number>()
  readonly #deps: StagedPlacementDeps
  /** By mailbox, while a rollout runs. */
  readonly #has = new Map<string, number>()
  readonly #contents = new Map<number, RevisionContent>()
  readonly #facts = new WeakMap<ContentRow, FactInputs & { readonly fact: ObjectFact }>()
  #editedMs: { readonly firstMs: number; lastMs: number } | undefined

  constructor(
    id: PlacementId,
    { strategy, written, historyLimit }: Pick<StagedPlacement, 'strategy' | 'written' | 'historyLimit'>,
    { isNew, wasLive }: Pick<StagedPlacement, 'isNew' | 'wasLive'>,
    deps: StagedPlacementDeps,
  ) {
    this.id = id
    this.strategy = strategy
    this.written = written
    this.historyLimit = historyLimit
    this.isNew = isNew
    this.wasLive = wasLive
    this.isStaged = isNew && strategy.type !== 'All'
    this.#deps = deps
    this.edited()
  }

  at(mailbox: string): LeadContent {
    return this.isStaged ? this.content(this.revisionAt(mailbox)) : this.#deps.live
  }

  /** The revision that a destination may have. */
  revisionAt(mailbox: string): number {
    return this.#has.get(mailbox) ?? this.finished
  }

  /** Takes in which revision destinations may have. Its caller names the copies that this changes. */
  setRevision(mailboxes: Iterable<string>, revision: number): void {
    for (const mailbox of mailboxes) this.#has.set(mailbox, revision)
  }

  /** Destinations that have no revision of their own have the finished one, also when another one is finished meanwhile. */
  setOthers(mailboxes: Iterable<string>): void {
    for (const mailbox of mailboxes) if (!this.#has.has(mailbox)) this.#has.set(mailbox, this.finished)
  }

  /** The destination is none any more. */
  release(mailbox: string): void {
    this.#has.delete(mailbox)
  }

  /** The revision that all destinations shall have; 0: there is none. */
  get goal(): number {
    if (this.pinned !== undefined) return this.pinned
    const { newest } = this.rows
    return this.rolledBack.get(newest) ?? newest
  }

  /** All destinations have the finished revision. */
  clearRevisions(): void {
    this.#has.clear()
  }

  get named(): ReadonlyMap<string, number> {
    return this.#has
  }

  content(revision: number): RevisionContent {
    const known = this.#contents.get(revision)
    if (known) return known
    const made = new RevisionContent(this.#objects(revision), this.#deps.workload)
    this.#contents.set(revision, made)
    return made
  }

  /** Takes in what is stored of it. Whether a rollout of it goes on. */
  restore(rows: ContentRows, stored: StoredState): boolean {
    const { rollout, revisions, finished } = stored
    this.rows = rows
    this.lastRun = stored.lastRun
    this.finished = finished
    this.rolledBack = new Map(stored.rolledBack)
    this.approved = new Set(stored.approved)
    this.rollout = rollout
    const used = new Set([...(revisions?.values() ?? []), finished])
    // clusters keep the live content, and have it as a new revision, where contents of theirs are lost
    const isWhole = [...used].every(revision => revision === 0 || rows.isWhole(revision))
    this.isStaged = rollout !== undefined && isWhole
    if (!this.isStaged) return false
    this.isUnsure = true
    for (const [mailbox, revision] of revisions ?? []) this.#has.set(mailbox, revision)
    return revisions !== undefined
  }

  /** Takes what changed since its destinations were looked at last; `all`: anything may have. */
  takeTouched(): { readonly all: boolean; readonly mailboxes: ReadonlySet<string> } {
    const taken = { all: this.isAllTouched, mailboxes: this.touched }
    this.isAllTouched = false
    this.touched = new Set()
    return taken
  }

  /** Forgets contents that no destination has. */
  letGo(): void {
    const used = new Set([...this.#has.values(), this.finished, this.rows.newest])
    for (const revision of this.#contents.keys()) if (!used.has(revision)) this.#contents.delete(revision)
  }

  edited(): boolean {
    const nowMs = this.#deps.now()
    if (this.#editedMs) this.#editedMs.lastMs = nowMs
    else this.#editedMs = { firstMs: nowMs, lastMs: nowMs }
    this.#deps.changed()
    return this.isStaged
  }

  locationEdited(way: Pick<Destination, 'cluster' | 'locationName'>, location: KubeObject | undefined): boolean {
    const { rows } = this
    const kept = rows.at(locationKey(way), rows.newest)?.location
    if (kept && location && readsAlike(kept, location, rows.reads(rows.newest))) return this.isStaged
    return this.edited() && kept !== undefined
  }

  /** When the edits make a revision; `undefined`: there are none. */
  get dueAtMs(): number | undefined {
    return this.#editedMs && Math.min(this.#editedMs.lastMs + QUIET_MS, this.#editedMs.firstMs + MOST_MS)
  }

  /** Whether it has edits that no rollout brings yet. */
  get isDirty(): boolean {
    const isAhead = this.rollout !== undefined && this.goal > this.rollout.revision && this.rows.has(this.goal)
    return this.#editedMs !== undefined || this.isCutting || isAhead
  }

  /** The failed revision from which its clusters went back to the one that they have; `undefined`: they did not. */
  get failed(): number | undefined {
    const { newest } = this.rows
    const isBack = this.pinned === undefined && this.rolledBack.get(newest) === this.rollout?.revision
    return isBack ? newest : undefined
  }

  /** Edits that could not be made a revision are tried again. */
  cutAgainAt(atMs: number): void {
    this.#editedMs = { firstMs: atMs - MOST_MS, lastMs: atMs - QUIET_MS }
  }

  /** The edits so far are looked at. */
  takeEdits(): void {
    this.#editedMs = undefined
  }

  /** Revisions that destinations have, and their contents. */
  *inUse(): Generator<RevisionContent> {
    for (const revision of new Set([...this.#has.values(), this.finished])) yield this.content(revision)
  }

  has(key: string): boolean {
    for (const content of this.inUse()) if (content.revised(key)) return true
    return false
  }

  keysInUse(): readonly string[] {
    const keys = new Set<string>()
    for (const content of this.inUse()) for (const key of content.revisedKeys()) keys.add(key)
    return [...keys]
  }

  #objects(revision: number): ReadonlyMap<string, RevisedObject> {
    const objects = new Map<string, RevisedObject>()
    const locations = this.rows.locationsOf(revision)
    for (const row of this.rows.in(revision)) {
      if (!row.fact) continue
      const customizer = this.#customizer(row.fact.customizer, revision)
      const isOfLocation = row.reads.length + (customizer?.reads.length ?? 0) > 0
      const inputs = { revision, customizer, locations: isOfLocation ? locations : 0 }
      objects.set(row.key, { fact: this.#factOf(row, row.fact, inputs), implied: row.implied })
    }
    return objects
  }

  #customizer(reference: string, revision: number): ContentRow | undefined {
    return reference === '' ? undefined : this.rows.at(customizerKey(reference), revision)
  }

  /** One fact for one content: by its identity it is known that two revisions say the same. */
  #factOf(row: ContentRow, plain: ObjectFact, { revision, customizer, locations }: FactInputs): ObjectFact {
    const known = this.#facts.get(row)
    if (known && known.customizer === customizer && known.locations === locations) return known.fact
    const stage: StagedObject = {
      id: row.name,
      read: () => this.#deps.read(row),
      customizer: customizer?.customizer,
      location: way => this.rows.at(locationKey(way), revision)?.location,
    }
    const fact = { ...plain, stage }
    this.#facts.set(row, { revision, customizer, locations, fact })
    return fact
  }
}

/** Edits make a revision once none has come for so long, and after so long at the latest. */
export const QUIET_MS = 2000
export const MOST_MS = 10_000

/** `reference` is `namespace/name`. */
export function customizerKey(reference: string): string {
  const slash = reference.indexOf('/')
  return objectKey(CUSTOMIZERS, reference.slice(0, slash), reference.slice(slash + 1))
}
