/**
 * CombinedStatuses: one for each object and placement that collects its status, and one for each placement and collector of its upsync
 * sets. Nothing is stored. A space keeps its readings while it has followers; a single answer makes its own and drops them.
 */
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import { StatusError } from '../../../apimachinery/errors.ts'
import { fixedUid } from '../../../apimachinery/fixedUid.ts'
import { groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import type { Client } from '../../../client/client.ts'
import type {
  Answerer,
  AnswerFollower,
  AnswerName,
  AnswerRange,
  AnswerRow,
  Pace,
} from '../../../placement/desks/answered.ts'
import type { SummaryFigures } from '../../../placement/desks/carryFigures.ts'
import { collectorsOf, type PlacementSpec, upsyncs } from '../../../placement/select/placementSpec.ts'
import {
  combinedResults,
  combinedStatusHead,
  type Subject,
  subjectName,
} from '../../../placement/summary/combinedStatus.ts'
import { namespaceKey, parseObjectKey } from '../../../placement/words/names.ts'
import type { Ways } from '../../../placement/words/ways.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import type { SourceReader } from '../copies/sourceReader.ts'
import type { ServedKind, ServedKinds } from '../inventory/servedKinds.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { SpaceLocations } from '../join/spaceLocations.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyChange } from '../signals/signals.ts'
import type { WorkStatuses } from '../status/workStatuses.ts'
import type { Collectors, UsedCollector } from './collectors.ts'
import { CarriedItems, CopyItems, MAX_CARRIED_ITEMS } from './itemSources.ts'
import { type ItemSource, Readings } from './readings.ts'

export interface SummariesDeps {
  client: Client
  join: PlacementJoin
  sources: Pick<SourceReader, 'read'>
  kinds: ServedKinds
  /** Whether the cluster of a mailbox is silent. */
  isStale: (mailbox: string) => boolean
  mailbox: (name: string) => Mailbox | undefined
  locations: SpaceLocations
  collectors: Collectors
  statuses: Pick<WorkStatuses, 'at'>
  turns: Pick<WorkTurns, 'begin'>
  /** Whether all is known that a space places, and where. */
  isKnown: (space: string) => boolean
}

interface Followed {
  readonly followers: Set<AnswerFollower>
  /** Names of all answers by their subjects, and the other way round. */
  readonly names: Map<string, AnswerName>
  readonly subjects: Map<string, Subject>
  /** More was answered than is remembered, and any change may be of such an answer. */
  isPartial: boolean
  /** Copies that were answered as being written before all was named. */
  early: Set<string>
}

/** One summary, with all that its answer needs. */
interface Asked {
  readonly space: string
  readonly spec: PlacementSpec
  readonly subject: Subject
  /** Where it is about one object. */
  readonly fact: ObjectFact | undefined
  readonly collectors: readonly UsedCollector[]
}

const NOWHERE: Ways = new Map()
const RETRY_SECONDS = 2
/** Readings of all spaces together, about a KB each. */
export const MAX_READINGS = 1_000_000
/** Summaries of all spaces together. */
const MAX_SUMMARIES = 100_000
/** Changes that followers get one by one, and names that are remembered of a space. */
const MAX_TOLD = 2000
const MAX_NAMES = 20_000

export class Summaries implements Answerer {
  readonly #deps: SummariesDeps
  readonly #spaces = new Map<string, Followed>()
  /** By space and what it is about. */
  readonly #kept = new BoundedCache<string, Readings>({
    entries: MAX_SUMMARIES,
    weight: { limit: MAX_READINGS, of: ({ weight }) => 1 + weight },
  })

  #evaluations = 0

  constructor(deps: SummariesDeps) {
    this.#deps = deps
  }

  get figures(): SummaryFigures {
    let readings = 0
    for (const [, { size }] of this.#kept) readings += size
    return { readings, evaluations: this.#evaluations }
  }

  follow(space: string, follower: AnswerFollower): () => void {
    const followed = this.#spaces.get(space) ?? {
      followers: new Set(),
      names: new Map(),
      subjects: new Map(),
      isPartial: false,
      early: new Set<string>(),
    }
    followed.followers.add(follower)
    this.#spaces.set(space, followed)
    return () => {
      followed.followers.delete(follower)
      if (followed.followers.size > 0 || this.#spaces.get(space) !== followed) return
      this.#spaces.delete(space)
      this.#forget(space, followed)
    }
  }

  async row(space: string, name: AnswerName): Promise<AnswerRow | undefined> {
    this.#requireKnown(space)
    const asked = this.#find(space, name)
    if (!asked) this.#gone(space, name)
    return asked && this.#rowOf(asked, name, await this.#deps.kinds.of(space))
  }

  async *rows({ space, namespace, after }: AnswerRange, pace: Pace): AsyncGenerator<AnswerRow> {
    this.#requireKnown(space)
    const kinds = await this.#deps.kinds.of(space)
    const found: { name: AnswerName; subject: Subject }[] = []
    for (const { subject } of this.#all(space)) {
      const name = subjectName(subject)
      if ((namespace ?? name.namespace) === name.namespace && (!after || compareNames(after, name) < 0))
        found.push({ name, subject })
      if (pace.due) await pace.rest()
    }
    found.sort((a, b) => compareNames(a.name, b.name))
    for (const { name, subject } of found) {
      const asked = this.#ask(space, subject, name)
      if (asked) yield this.#rowOf(asked, name, kinds)
      if (pace.due) await pace.rest()
    }
  }

  copyChanged(mailbox: string, key: string, what?: CopyChange): void {
    if (what === 'carried') {
      this.#carriedChanged(mailbox, key)
      return
    }
    for (const [space, followed] of this.#spaces) {
      const fact = this.#deps.join.workload(space).get(key)
      if (!fact) continue
      for (const placement of this.#collecting(space))
        if (this.#deps.join.waysOf(space, placement)?.has(mailbox))
          this.#tellCopy(space, followed, { placement, fact, mailbox })
    }
  }

  mailboxChanged(mailbox: string): void {
    for (const [space, followed] of this.#spaces) {
      if (!this.#deps.locations.of(space).byMailbox.has(mailbox)) continue
      let told = 0
      for (const asked of this.#all(space)) {
        if (!this.#deps.join.waysOf(space, asked.subject.placement)?.has(mailbox)) continue
        if (++told > MAX_TOLD) break
        this.#touch(space, asked.subject, mailbox)
        this.#tell(followed, asked.subject)
      }
      if (told > MAX_TOLD) this.#manyChanged(space, followed, mailbox)
    }
  }

  /** Followers begin anew, and what is known of other clusters stays: clusters fall silent in a row. */
  #manyChanged(space: string, followed: Followed, mailbox: string): void {
    if (followed.isPartial) {
      this.lost(space)
      return
    }
    for (const subject of followed.subjects.values()) this.#touch(space, subject, mailbox)
    for (const follower of followed.followers) follower.lost()
  }

  #touch(space: string, subject: Subject, mailbox: string): void {
    const readings = this.#kept.peek(`${space} ${idOf(subject)}`)
    if ('key' in subject) readings?.touch(mailbox)
    else readings?.touchAll()
  }

  claimsChanged(space: string, _mailboxes: readonly string[], keys: readonly string[]): void {
    const followed = this.#spaces.get(space)
    if (!followed) return
    if (keys.length > MAX_TOLD) {
      this.lost(space)
      return
    }
    const { join } = this.#deps
    for (const placement of this.#collecting(space)) {
      for (const key of keys) {
        const fact = join.fact(space, key)
        const id = idOf({ placement, key })
        if (!fact || !this.#concerns(space, followed, placement, key)) continue
        this.#kept.peek(`${space} ${id}`)?.touchAll()
        this.#tell(followed, this.#subject(space, placement, fact))
      }
    }
  }

  #carriedChanged(mailbox: string, key: string): void {
    for (const [space, followed] of this.#spaces) {
      for (const placement of this.#collecting(space)) {
        const { join } = this.#deps
        const { upsyncCollectors } = join.spec(space, placement)!
        if (upsyncCollectors.size === 0 || !join.waysOf(space, placement)?.has(mailbox)) continue
        const { group, resource, namespace, name } = parseObjectKey(key)
        for (const [collector, tests] of upsyncCollectors) {
          if (!upsyncs(tests, { resource: { group, resource }, namespace, name })) continue
          const subject = { placement, collector }
          this.#kept.peek(`${space} ${idOf(subject)}`)?.touch(`${mailbox} ${key}`)
          this.#tell(followed, subject)
        }
      }
    }
  }

  /** Placements may lead to other clusters, or go. */
  waysChanged(space: string): void {
    const followed = this.#spaces.get(space)
    if (!followed) return
    // with those that were answered, whose placement may be gone
    const carried = [...followed.subjects.values()].filter(subject => 'collector' in subject)
    for (const placement of this.#collecting(space))
      for (const collector of this.#deps.join.spec(space, placement)!.upsyncCollectors.keys())
        if (!followed.names.has(idOf({ placement, collector }))) carried.push({ placement, collector })
    for (const subject of carried) {
      this.#kept.peek(`${space} ${idOf(subject)}`)?.touchAll()
      this.#tell(followed, subject)
    }
  }

  /** Everything of a space is named by now. */
  named(space: string): void {
    const followed = this.#spaces.get(space)
    if (!followed || followed.early.size === 0) return
    const { early } = followed
    followed.early = new Set()
    if (early.size > MAX_TOLD) this.lost(space)
    else
      for (const entry of early) {
        const blank = entry.indexOf(' ')
        this.copyChanged(entry.slice(0, blank), entry.slice(blank + 1))
      }
  }

  /** Followers of the space begin anew. */
  lost(space: string): void {
    const followed = this.#spaces.get(space)
    if (!followed) return
    this.#forget(space, followed)
    for (const follower of followed.followers) follower.lost()
  }

  #forget(space: string, followed: Followed): void {
    for (const id of followed.names.keys()) this.#kept.delete(`${space} ${id}`)
    if (followed.isPartial) for (const [id] of this.#kept) if (id.startsWith(`${space} `)) this.#kept.delete(id)
    followed.names.clear()
    followed.subjects.clear()
    followed.isPartial = false
  }

  /** @throws StatusError ServiceUnavailable: an empty list would say that nothing is collected */
  #requireKnown(space: string): void {
    if (this.#deps.isKnown(space)) return
    const message = 'what this space places is not known yet: the server is starting'
    throw new StatusError('ServiceUnavailable', message, { retryAfterSeconds: RETRY_SECONDS })
  }

  *#collecting(space: string): Generator<string> {
    for (const name of this.#deps.join.placementNames(space))
      if ((this.#deps.join.spec(space, name)?.collectors.length ?? 0) > 0) yield name
  }

  *#all(space: string): Generator<Asked> {
    const { join } = this.#deps
    const workload = join.workload(space)
    for (const placement of this.#collecting(space)) {
      for (const key of workload.namedBy(placement)) {
        const asked = this.#ofObject(space, placement, key)
        if (asked) yield asked
      }
      for (const collector of join.spec(space, placement)!.upsyncCollectors.keys()) {
        const asked = this.#ofCarried(space, placement, collector)
        if (asked) yield asked
      }
    }
  }

  #ofObject(space: string, placement: string, key: string): Asked | undefined {
    const { join } = this.#deps
    const workload = join.workload(space)
    const [spec, fact] = [join.spec(space, placement), workload.get(key)]
    if (!spec || !fact || !workload.names(placement, key)) return undefined
    const labels = workload.get(namespaceKey(fact.namespace))?.labels
    const names = collectorsOf(spec, fact, labels)
    if (names.length === 0) return undefined
    return { space, spec, subject: this.#subject(space, placement, fact), fact, collectors: this.#used(space, names) }
  }

  #ofCarried(space: string, placement: string, collector: string): Asked | undefined {
    const spec = this.#deps.join.spec(space, placement)
    if (!spec?.upsyncCollectors.has(collector)) return undefined
    return {
      space,
      spec,
      subject: { placement, collector },
      fact: undefined,
      collectors: this.#used(space, [collector]),
    }
  }

  #subject(space: string, placement: string, { key, uid }: ObjectFact): Subject {
    return { placement, placementUid: this.#deps.join.spec(space, placement)?.uid ?? '', key, uid }
  }

  /** Missing and wrong ones are a condition of the placement. */
  #used(space: string, names: readonly string[]): UsedCollector[] {
    return names.flatMap(name => this.#deps.collectors.get(space, name) ?? [])
  }

  #find(space: string, name: AnswerName): Asked | undefined {
    const subject = this.#spaces.get(space)?.subjects.get(textOf(name)) ?? this.#search(space, name.name)
    return subject && this.#ask(space, subject, name)
  }

  /** The only one that may have this name. */
  #search(space: string, name: string): Subject | undefined {
    const [first, collector] = name.split(':')
    if (collector !== undefined) return { placement: first!, collector }
    const workload = this.#deps.join.workload(space)
    for (const placement of this.#collecting(space)) {
      const end = `.${this.#deps.join.spec(space, placement)!.uid}`
      if (!name.endsWith(end)) continue
      const uid = name.slice(0, -end.length)
      for (const key of workload.namedBy(placement)) {
        const fact = workload.get(key)
        if (fact?.uid === uid) return this.#subject(space, placement, fact)
      }
    }
    return undefined
  }

  /** As it is now; `undefined`: nothing has this name any more. */
  #ask(space: string, subject: Subject, { namespace, name }: AnswerName): Asked | undefined {
    const asked =
      'key' in subject
        ? this.#ofObject(space, subject.placement, subject.key)
        : this.#ofCarried(space, subject.placement, subject.collector)
    const own = asked && subjectName(asked.subject)
    return own?.name === name && own.namespace === namespace ? asked : undefined
  }

  #rowOf(asked: Asked, { namespace, name }: AnswerName, kinds: ReadonlyMap<string, ServedKind>): AnswerRow {
    const { space, subject, fact } = asked
    const kind = fact && kinds.get(groupResourceName(fact.resource))?.kind
    const head = combinedStatusHead(subject, fact && { resource: fact.resource, kind: kind ?? '' })
    const followed = this.#spaces.get(space)
    if (followed) this.#remember(followed, subject)
    return {
      namespace,
      name,
      head,
      whole: pace => this.#whole(asked, head, pace ?? this.#deps.turns.begin({ owner: space })),
    }
  }

  async #whole(asked: Asked, head: KubeObject, pace: Pace): Promise<KubeObject | undefined> {
    const { space, subject, fact, collectors } = asked
    const mailboxes = this.#deps.join.waysOf(space, subject.placement) ?? NOWHERE
    const items = await this.#itemsOf(asked, mailboxes)
    if (!items) return undefined
    const id = `${space} ${idOf(subject)}`
    const followed = this.#spaces.get(space)
    // of others no follower's end and no loss would reach the readings
    const isRemembered = followed !== undefined && (followed.isPartial || followed.names.has(idOf(subject)))
    const kept = isRemembered ? this.#kept.get(id) : undefined
    const readings = kept && isSame(kept.collectors, collectors) ? kept : new Readings(collectors)
    // changes meanwhile reach it
    if (isRemembered) this.#kept.set(id, readings)
    await readings.refresh(items, pace)
    // its weight is another now
    if (this.#kept.peek(id) === readings) this.#kept.set(id, readings)
    const isStale = (name: string): boolean => this.#deps.isStale(name)
    const stale = fact
      ? readings.staleClusters()
      : [...mailboxes.keys()].filter(isStale).map(name => this.#labelOf(space, name))
    const newest = Math.max(fact?.revision ?? 0, readings.newest, ...collectors.map(({ revision }) => revision))
    return {
      ...head,
      metadata: { ...head.metadata, uid: fixedUid(`combined status ${id}`) },
      ...combinedResults(readings.results, { total: mailboxes.size, stale }),
      ...(!fact && readings.size >= MAX_CARRIED_ITEMS && { isPartial: true }),
      observedResourceVersion: String(newest),
    }
  }

  /** `undefined`: the object is gone. */
  async #itemsOf(asked: Asked, mailboxes: Ways): Promise<ItemSource | undefined> {
    const { space, spec, subject, fact, collectors } = asked
    const { sources, statuses, client, mailbox, isStale } = this.#deps
    const common = {
      space,
      mailboxes,
      collectors,
      mailbox,
      isStale,
      evaluated: () => this.#evaluations++,
      labelOf: (name: string) => this.#labelOf(space, name),
      isCurrent: () =>
        this.#deps.join.spec(space, subject.placement) === spec &&
        (this.#deps.join.waysOf(space, subject.placement) ?? NOWHERE) === mailboxes &&
        (!fact || this.#deps.join.fact(space, fact.key) === fact),
    }
    if ('collector' in subject)
      return new CarriedItems({ ...common, client, tests: spec.upsyncCollectors.get(subject.collector)! })
    const source = fact && (await sources.read(space, fact))
    if (!source) return undefined
    const early = (mailbox: string, key: string): void => {
      const followed = this.#spaces.get(space)
      if (followed && followed.early.size <= MAX_TOLD) followed.early.add(`${mailbox} ${key}`)
    }
    return new CopyItems({ ...common, fact, source, statuses, early })
  }

  #labelOf(space: string, mailbox: string): string {
    return this.#deps.locations.labelOf(space, mailbox) ?? mailbox
  }

  #tellCopy(space: string, followed: Followed, at: { placement: string; fact: ObjectFact; mailbox: string }): void {
    const { placement, fact, mailbox } = at
    const id = idOf({ placement, key: fact.key })
    if (!this.#concerns(space, followed, placement, fact.key)) return
    this.#kept.peek(`${space} ${id}`)?.touch(mailbox)
    this.#tell(followed, this.#subject(space, placement, fact))
  }

  /** An answer that was given may be gone. */
  #concerns(space: string, followed: Followed, placement: string, key: string): boolean {
    if (followed.isPartial || followed.names.has(idOf({ placement, key }))) return true
    return this.#deps.join.workload(space).names(placement, key)
  }

  /** The name too that it had before: an object may be made anew. */
  #tell(followed: Followed, subject: Subject): void {
    const before = followed.names.get(idOf(subject))
    const name = this.#remember(followed, subject)
    const isOther = before !== undefined && before !== name
    for (const follower of followed.followers) {
      if (isOther) follower.touched(before)
      follower.touched(name)
    }
  }

  #gone(space: string, name: AnswerName): void {
    const followed = this.#spaces.get(space)
    const subject = followed?.subjects.get(textOf(name))
    if (!followed || !subject) return
    followed.subjects.delete(textOf(name))
    followed.names.delete(idOf(subject))
    this.#kept.delete(`${space} ${idOf(subject)}`)
  }

  /** Names it, by the very name that is remembered where that is still so. */
  #remember(followed: Followed, subject: Subject): AnswerName {
    const { names, subjects } = followed
    const [id, name] = [idOf(subject), subjectName(subject)]
    const before = names.get(id)
    if (before && textOf(before) === textOf(name)) return before
    if (before) subjects.delete(textOf(before))
    else if (names.size >= MAX_NAMES) {
      followed.isPartial = true
      return name
    }
    names.set(id, name)
    subjects.set(textOf(name), subject)
    return name
  }
}

/** A name for the subject within its space. */
function idOf(subject: { placement: string; key?: string; collector?: string }): string {
  return `${subject.placement} ${subject.key ?? subject.collector}`
}

function textOf({ namespace, name }: AnswerName): string {
  return `${namespace}/${name}`
}

function isSame(some: readonly UsedCollector[], others: readonly UsedCollector[]): boolean {
  return some.length === others.length && some.every((one, i) => one === others[i])
}

function compareNames(a: AnswerName, b: AnswerName): number {
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
