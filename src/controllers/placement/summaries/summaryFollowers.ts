/**
 * Followers of summaries, and the names of those that may have changed. A space keeps its readings while it has followers. A change marks
 * what of a reading is to be read again, and its followers read it when they want to.
 */
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import { matchesKinds } from '../../../placement/associated/associated.ts'
import type { AnswerFollower, AnswerName } from '../../../placement/desks/answered.ts'
import { upsyncs } from '../../../placement/select/placementSpec.ts'
import { type Subject, subjectName } from '../../../placement/summary/combinedStatus.ts'
import { parseObjectKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { SpaceLocations } from '../join/spaceLocations.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyChange } from '../signals/signals.ts'
import { MAX_NOTIFIED, SpaceFollowers } from '../status/spaceFollowers.ts'
import type { UsedCollector } from './collectors.ts'
import { Readings } from './readings.ts'
import type { SummarySubjects } from './summarySubjects.ts'

export interface SummaryFollowersDeps {
  join: PlacementJoin
  locations: Pick<SpaceLocations, 'of' | 'renamed'>
  subjects: SummarySubjects
  mailbox: (name: string) => Pick<Mailbox, 'associated'> | undefined
}

/** Answers that followers of a space have. */
interface Answered {
  /** Names of all answers by their subjects, and the other way round. */
  readonly names: Map<string, AnswerName>
  readonly subjects: Map<string, Subject>
  /** More was answered than is remembered, and any change may be of such an answer. */
  isPartial: boolean
}

/** Readings of all spaces together, about a KB each. */
export const MAX_READINGS = 1_000_000
/** Summaries of all spaces together. */
const MAX_SUMMARIES = 100_000
/** The same of those that nobody follows. */
const MAX_UNFOLLOWED = 10_000
export const MAX_UNFOLLOWED_READINGS = 100_000
/** Names that are remembered of a space. */
const MAX_NAMES = 20_000

export class SummaryFollowers {
  readonly #deps: SummaryFollowersDeps
  readonly #followers = new SpaceFollowers()
  readonly #answered = new Map<string, Answered>()
  /** By space and subject. */
  readonly #kept = readingsCache(MAX_SUMMARIES, MAX_READINGS)
  /** Those of single answers: the next one evaluates only what has changed. */
  readonly #unfollowed = readingsCache(MAX_UNFOLLOWED, MAX_UNFOLLOWED_READINGS)

  constructor(deps: SummaryFollowersDeps) {
    this.#deps = deps
    deps.locations.renamed.on(space => this.lost(space))
  }

  get readingCount(): number {
    let count = 0
    for (const cache of [this.#kept, this.#unfollowed]) for (const [, { size }] of cache) count += size
    return count
  }

  follow(space: string, follower: AnswerFollower): () => void {
    if (!this.#answered.has(space))
      this.#answered.set(space, { names: new Map(), subjects: new Map(), isPartial: false })
    return this.#followers.follow(space, follower, () => {
      this.#forget(space)
      this.#answered.delete(space)
    })
  }

  /** Subject of an answer that was given. */
  subjectOf(space: string, name: AnswerName): Subject | undefined {
    return this.#answered.get(space)?.subjects.get(textOf(name))
  }

  /** The answer is given. */
  answer(space: string, subject: Subject): void {
    if (this.#answered.has(space)) this.#remember(space, subject)
  }

  /** Nothing has this name any more. */
  gone(space: string, name: AnswerName): void {
    const answered = this.#answered.get(space)
    const subject = answered?.subjects.get(textOf(name))
    if (!answered || !subject) return
    answered.subjects.delete(textOf(name))
    answered.names.delete(idOf(subject))
    this.#kept.delete(`${space} ${idOf(subject)}`)
  }

  /** Readings of a summary, kept from the last answer. */
  readings(space: string, subject: Subject, collectors: readonly UsedCollector[]): Readings {
    const id = `${space} ${idOf(subject)}`
    const answered = this.#answered.get(space)
    const isRemembered = answered !== undefined && (answered.isPartial || answered.names.has(idOf(subject)))
    const cache = isRemembered ? this.#kept : this.#unfollowed
    const kept = cache.get(id)
    const readings = kept && isSame(kept.collectors, collectors) ? kept : new Readings(collectors)
    // no change and no loss reaches those that nobody follows: all that they were made of is compared
    if (!isRemembered) readings.touchAll()
    // changes meanwhile reach it
    cache.set(id, readings)
    return readings
  }

  /** The weight of kept readings is another now. */
  weigh(space: string, subject: Subject, readings: Readings): void {
    const id = `${space} ${idOf(subject)}`
    for (const cache of [this.#kept, this.#unfollowed]) if (cache.peek(id) === readings) cache.set(id, readings)
  }

  /** A copy was answered as being written. */
  answeredEarly(space: string, mailbox: string, key: string): void {
    this.#followers.noteEarly(space, mailbox, key)
  }

  copyChanged(mailbox: string, key: string, what?: CopyChange): void {
    const { join, subjects } = this.#deps
    for (const space of this.#followers.spaces()) {
      if (what === 'carried') {
        this.#carriedChanged(space, mailbox, key)
        continue
      }
      const fact = join.workload(space).get(key)
      if (!fact) continue
      for (const placement of subjects.collecting(space)) {
        if (!join.waysOf(space, placement)?.has(mailbox) || !this.#concerns(space, placement, key)) continue
        this.#kept.peek(`${space} ${idOf({ placement, key })}`)?.touch(mailbox)
        this.#notify(space, subjects.ofFact(space, placement, fact))
      }
    }
  }

  #carriedChanged(space: string, mailbox: string, key: string): void {
    const { join, subjects } = this.#deps
    for (const placement of subjects.collecting(space)) {
      const { carriedCollectors, associated } = join.spec(space, placement)!
      if (carriedCollectors.size === 0 || !join.waysOf(space, placement)?.has(mailbox)) continue
      const { group, resource, namespace, name } = parseObjectKey(key)
      const object = { resource: { group, resource }, namespace, name }
      const isAssociated = associated && matchesKinds(associated.kinds, object.resource)
      for (const [collector, tests] of carriedCollectors)
        if (upsyncs(tests.upsync, object) || (tests.associated && isAssociated))
          this.#touchOne(space, { placement, collector }, `${mailbox} ${key}`)
    }
  }

  mailboxChanged(mailbox: string): void {
    for (const space of this.#followers.spaces()) {
      if (!this.#deps.locations.of(space).byMailbox.has(mailbox)) continue
      let count = 0
      for (const { subject } of this.#deps.subjects.of(space)) {
        if (!this.#deps.join.waysOf(space, subject.placement)?.has(mailbox)) continue
        if (++count > MAX_NOTIFIED) break
        this.#touch(space, subject, mailbox)
        this.#notify(space, subject)
      }
      if (count > MAX_NOTIFIED) this.#manyChanged(space, mailbox)
    }
  }

  /** Followers begin anew, and what is known of other clusters stays: clusters fall silent in a row. */
  #manyChanged(space: string, mailbox: string): void {
    const { isPartial, subjects } = this.#answered.get(space)!
    if (isPartial) {
      this.lost(space)
      return
    }
    for (const subject of subjects.values()) this.#touch(space, subject, mailbox)
    this.#followers.lost(space)
  }

  #touch(space: string, subject: Subject, mailbox: string): void {
    const readings = this.#kept.peek(`${space} ${idOf(subject)}`)
    if ('key' in subject) readings?.touch(mailbox)
    else readings?.touchAll()
  }

  claimsChanged(space: string, mailboxes: readonly string[], keys: readonly string[]): void {
    if (!this.#followers.has(space)) return
    if (keys.length > MAX_NOTIFIED) {
      this.lost(space)
      return
    }
    const { join, subjects } = this.#deps
    for (const placement of subjects.collecting(space)) {
      for (const key of keys) {
        const fact = join.fact(space, key)
        if (fact && this.#concerns(space, placement, key))
          this.#touchAll(space, subjects.ofFact(space, placement, fact))
      }
      for (const [collector, { associated }] of join.spec(space, placement)!.carriedCollectors)
        if (associated) this.#associatedChanged(space, { placement, collector }, mailboxes, keys)
    }
  }

  /** Objects that belong to these copies may belong to the placement, or no more. */
  #associatedChanged(space: string, subject: Subject, mailboxes: readonly string[], keys: readonly string[]): void {
    if (mailboxes.length * keys.length > MAX_NOTIFIED) {
      this.#touchAll(space, subject)
      return
    }
    for (const mailbox of mailboxes)
      for (const root of keys)
        for (const key of this.#deps.mailbox(mailbox)?.associated.of(root) ?? [])
          this.#touchOne(space, subject, `${mailbox} ${key}`)
  }

  /** Placements may lead to other clusters, or go. */
  waysChanged(space: string): void {
    const answered = this.#answered.get(space)
    if (!answered) return
    // with those that were answered, whose placement may be gone
    const carried = [...answered.subjects.values()].filter(subject => 'collector' in subject)
    for (const placement of this.#deps.subjects.collecting(space))
      for (const collector of this.#deps.join.spec(space, placement)!.carriedCollectors.keys())
        if (!answered.names.has(idOf({ placement, collector }))) carried.push({ placement, collector })
    for (const subject of carried) this.#touchAll(space, subject)
  }

  /** Everything of a space is named by now. */
  named(space: string): void {
    const early = this.#followers.takeEarly(space)
    if (!early) this.lost(space)
    else for (const { mailbox, key } of early) this.copyChanged(mailbox, key)
  }

  /** Followers of the space begin anew. */
  lost(space: string): void {
    this.#forget(space)
    this.#followers.lost(space)
  }

  #forget(space: string): void {
    const answered = this.#answered.get(space)
    if (!answered) return
    for (const id of answered.names.keys()) this.#kept.delete(`${space} ${id}`)
    if (answered.isPartial) for (const [id] of this.#kept) if (id.startsWith(`${space} `)) this.#kept.delete(id)
    answered.names.clear()
    answered.subjects.clear()
    answered.isPartial = false
  }

  /** An answer that was given may be gone. */
  #concerns(space: string, placement: string, key: string): boolean {
    const { isPartial, names } = this.#answered.get(space)!
    return isPartial || names.has(idOf({ placement, key })) || this.#deps.join.workload(space).names(placement, key)
  }

  #touchOne(space: string, subject: Subject, id: string): void {
    this.#kept.peek(`${space} ${idOf(subject)}`)?.touch(id)
    this.#notify(space, subject)
  }

  #touchAll(space: string, subject: Subject): void {
    this.#kept.peek(`${space} ${idOf(subject)}`)?.touchAll()
    this.#notify(space, subject)
  }

  /** The name too that it had before: an object may be made anew. */
  #notify(space: string, subject: Subject): void {
    const before = this.#answered.get(space)!.names.get(idOf(subject))
    const name = this.#remember(space, subject)
    if (before !== undefined && before !== name) this.#followers.touched(space, before)
    this.#followers.touched(space, name)
  }

  /** Names it, by the very name that is remembered where that is still so. */
  #remember(space: string, subject: Subject): AnswerName {
    const answered = this.#answered.get(space)!
    const { names, subjects } = answered
    const [id, name] = [idOf(subject), subjectName(subject)]
    const before = names.get(id)
    if (before && textOf(before) === textOf(name)) return before
    if (before) subjects.delete(textOf(before))
    else if (names.size >= MAX_NAMES) {
      answered.isPartial = true
      return name
    }
    names.set(id, name)
    subjects.set(textOf(name), subject)
    return name
  }
}

function readingsCache(entries: number, limit: number): BoundedCache<string, Readings> {
  return new BoundedCache({ entries, weight: { limit, of: ({ weight }) => 1 + weight } })
}

/** A name for the subject within its space. */
export function idOf(subject: { placement: string; key?: string; collector?: string }): string {
  return `${subject.placement} ${subject.key ?? subject.collector}`
}

function textOf({ namespace, name }: AnswerName): string {
  return `${namespace}/${name}`
}

function isSame(some: readonly UsedCollector[], others: readonly UsedCollector[]): boolean {
  return some.length === others.length && some.every((one, i) => one === others[i])
}
