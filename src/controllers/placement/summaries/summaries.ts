/**
 * CombinedStatuses: one for each object and placement that collects its status, and one for each placement and collector of what clusters
 * carry up. Nothing is stored. A space keeps its readings while it has followers. Those of single answers are kept as long as there is
 * room, and compared with what they were made of.
 */

import { fixedUid } from '../../../apimachinery/fixedUid.ts'
import { groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { compareTexts } from '../../../apimachinery/values.ts'
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
import {
  combinedResults,
  combinedStatusHead,
  type Subject,
  subjectName,
} from '../../../placement/summary/combinedStatus.ts'
import type { Ways } from '../../../placement/words/ways.ts'
import type { WorkTurns } from '../../../program/workTurns.ts'
import type { SourceReader } from '../copies/sourceReader.ts'
import type { ServedKind, ServedKinds } from '../inventory/servedKinds.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { SpaceLocations } from '../join/spaceLocations.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import { requireKnown, type WorkStatuses } from '../status/workStatuses/workStatuses.ts'
import { CarriedItems, CopyItems, MAX_CARRIED_ITEMS } from './itemSources.ts'
import type { ItemSource } from './readings.ts'
import { idOf, type SummaryFollowers } from './summaryFollowers.ts'
import type { Summarized, SummarySubjects } from './summarySubjects.ts'

export interface SummariesDeps {
  client: Client
  join: PlacementJoin
  sources: Pick<SourceReader, 'read'>
  kinds: ServedKinds
  /** Whether the cluster of a mailbox is silent. */
  isStale: (mailbox: string) => boolean
  mailbox: (name: string) => Mailbox | undefined
  locations: Pick<SpaceLocations, 'labelOf'>
  subjects: SummarySubjects
  followers: SummaryFollowers
  statuses: Pick<WorkStatuses, 'at'>
  turns: Pick<WorkTurns, 'begin'>
  /** Whether all is known that a space places, and where. */
  isKnown: (space: string) => boolean
}

const NOWHERE: Ways = new Map()

export class Summaries implements Answerer {
  readonly #deps: SummariesDeps
  #evaluations = 0

  constructor(deps: SummariesDeps) {
    this.#deps = deps
  }

  get figures(): SummaryFigures {
    return { readings: this.#deps.followers.readingCount, evaluations: this.#evaluations }
  }

  follow(space: string, follower: AnswerFollower): () => void {
    return this.#deps.followers.follow(space, follower)
  }

  async row(space: string, name: AnswerName): Promise<AnswerRow | undefined> {
    requireKnown(this.#deps.isKnown(space))
    const { subjects, followers, kinds } = this.#deps
    const subject = followers.subjectOf(space, name) ?? subjects.named(space, name.name)
    const found = subject && subjects.find(space, subject, name)
    if (!found) followers.gone(space, name)
    return found && this.#rowOf(found, name, await kinds.of(space))
  }

  async *rows({ space, namespace, after }: AnswerRange, pace: Pace): AsyncGenerator<AnswerRow> {
    requireKnown(this.#deps.isKnown(space))
    const { subjects } = this.#deps
    const kinds = await this.#deps.kinds.of(space)
    const found: { name: AnswerName; subject: Subject }[] = []
    for (const { subject } of subjects.of(space)) {
      const name = subjectName(subject)
      if ((namespace ?? name.namespace) === name.namespace && (!after || compareNames(after, name) < 0))
        found.push({ name, subject })
      if (pace.due) await pace.rest()
    }
    found.sort((a, b) => compareNames(a.name, b.name))
    for (const { name, subject } of found) {
      const summarized = subjects.find(space, subject, name)
      if (summarized) yield this.#rowOf(summarized, name, kinds)
      if (pace.due) await pace.rest()
    }
  }

  #rowOf(summarized: Summarized, { namespace, name }: AnswerName, kinds: ReadonlyMap<string, ServedKind>): AnswerRow {
    const { space, subject, fact } = summarized
    const kind = fact && kinds.get(groupResourceName(fact.resource))?.kind
    const head = combinedStatusHead(subject, fact && { resource: fact.resource, kind: kind ?? '' })
    this.#deps.followers.answer(space, subject)
    return {
      namespace,
      name,
      head,
      whole: pace => this.#whole(summarized, head, pace ?? this.#deps.turns.begin({ owner: space })),
    }
  }

  async #whole(summarized: Summarized, head: KubeObject, pace: Pace): Promise<KubeObject | undefined> {
    const { space, subject, fact, collectors } = summarized
    const { join, followers, isStale } = this.#deps
    const mailboxes = join.waysOf(space, subject.placement) ?? NOWHERE
    const items = await this.#itemsOf(summarized, mailboxes)
    if (!items) return undefined
    const readings = followers.readings(space, subject, collectors)
    await readings.refresh(items, pace)
    followers.weigh(space, subject, readings)
    const stale = fact
      ? readings.staleClusters()
      : [...mailboxes.keys()].filter(name => isStale(name)).map(name => this.#labelOf(space, name))
    const newest = Math.max(fact?.revision ?? 0, readings.newest, ...collectors.map(({ revision }) => revision))
    return {
      ...head,
      metadata: { ...head.metadata, uid: fixedUid(`combined status ${space} ${idOf(subject)}`) },
      ...combinedResults(readings.results, { total: mailboxes.size, stale }),
      ...(!fact && readings.size >= MAX_CARRIED_ITEMS && { isPartial: true }),
      observedResourceVersion: String(newest),
    }
  }

  /** `undefined`: the object is gone. */
  async #itemsOf(summarized: Summarized, mailboxes: Ways): Promise<ItemSource | undefined> {
    const { space, spec, subject, fact, collectors } = summarized
    const { join, sources, statuses, client, mailbox, isStale, followers } = this.#deps
    const common = {
      space,
      mailboxes,
      collectors,
      mailbox,
      isStale,
      evaluated: () => this.#evaluations++,
      labelOf: (name: string) => this.#labelOf(space, name),
      isCurrent: () =>
        join.spec(space, subject.placement) === spec &&
        (join.waysOf(space, subject.placement) ?? NOWHERE) === mailboxes &&
        (!fact || join.fact(space, fact.key) === fact),
    }
    if ('collector' in subject)
      return new CarriedItems({
        ...common,
        client,
        tests: spec.carriedCollectors.get(subject.collector)!,
        join,
        subject,
      })
    const source = fact && (await sources.read(space, fact))
    if (!source) return undefined
    const early = (mailbox: string, key: string): void => followers.answeredEarly(space, mailbox, key)
    return new CopyItems({ ...common, fact, source, statuses, early })
  }

  #labelOf(space: string, mailbox: string): string {
    return this.#deps.locations.labelOf(space, mailbox) ?? mailbox
  }
}

function compareNames(a: AnswerName, b: AnswerName): number {
  return compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name)
}
