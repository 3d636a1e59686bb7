/**
 * Reads of what one cluster reports for one space: the objects of its mailbox as that space sees them, in the store's own order.
 * Nothing is kept. An object that becomes the space's to see is added, one that ceases to be it is deleted.
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { type ReportedTo, reportedObject } from '../../placement/content/reportedObject.ts'
import type { Stored } from '../../storage/store.ts'
import { atRevision, versionOf } from '../../storage/texts.ts'
import type { KindReader } from '../registry/answeredReader.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import { decodeContinue, ExpiredContinueError, encodeContinue } from '../registry/continueToken.ts'
import type { SelectedEvent } from '../registry/eventSelector.ts'
import type { ListQuery, ListResult, WatchQuery } from '../registry/reader.ts'
import { EVERYTHING, type Selection } from '../registry/selection.ts'
import { prepareViews } from '../registry/views.ts'

export interface ReportedReaderDeps {
  reader: KindReader
  /** Logical-cluster id. */
  mailbox: string
  /** LogicalClusters, of which each mailbox has one from its birth. */
  births: ResourceType | undefined
  to: ReportedTo
}

export class ReportedReader implements KindReader {
  readonly #reader: KindReader
  readonly #mailbox: string
  readonly #births: ResourceType | undefined
  readonly #to: ReportedTo

  constructor({ reader, mailbox, births, to }: ReportedReaderDeps) {
    this.#reader = reader
    this.#mailbox = mailbox
    this.#births = births
    this.#to = to
  }

  get revision(): number {
    return this.#reader.revision
  }

  requireRevision(resourceVersion: string): void {
    this.#reader.requireRevision(resourceVersion)
  }

  get(_space: string, type: ResourceType, namespace: string, name: string): Soon<Stored> {
    return whenKnown(this.#reader.get(this.#mailbox, type, namespace, name), stored => {
      const shown = this.#shown(stored)
      // the same words as of one that is not there
      if (!shown) throw statusError.notFound(type, name)
      return whenKnown(prepareViews([shown], type), () => shown)
    })
  }

  async list(type: ResourceType, query: ListQuery): Promise<ListResult> {
    const token = query.continue && this.#movedTo(this.#mailbox, query.continue)
    const work = query.work
    const limit = query.limit && query.limit > 0 ? query.limit : undefined
    try {
      const found = await this.#reader.list(type, {
        ...query,
        space: this.#mailbox,
        selection: this.#seen(query.selection),
        // one more: a page is followed by another where that shows something, and what others have behind it says nothing
        limit: limit && limit + 1,
        continue: token || undefined,
      })
      const items: Stored[] = []
      for (const stored of found.items.slice(0, limit)) {
        const shown = this.#shown(stored)
        if (shown) items.push(shown)
        if (work?.due) await work.rest()
      }
      await prepareViews(items, type)
      const { revision } = found
      const last = limit !== undefined && found.items.length > limit ? items.at(-1) : undefined
      return last
        ? { items, revision, continue: encodeContinue({ at: revision, after: last.key }) }
        : { items, revision }
    } catch (error) {
      if (!(error instanceof ExpiredContinueError)) throw error
      throw new ExpiredContinueError(this.#movedTo(this.#to.space, error.continueToken))
    }
  }

  async *watch(type: ResourceType, query: WatchQuery): AsyncGenerator<readonly SelectedEvent[]> {
    await this.#requireBorn(query.after)
    const seen = { ...query, space: this.#mailbox, selection: this.#seen(query.selection), derived: undefined }
    for await (const batch of this.#reader.watch(type, seen)) {
      const events = batch.flatMap(event => this.#shownEvent(event) ?? [])
      const prepared = prepareViews(
        events.map(({ stored }) => stored),
        type,
      )
      if (prepared) await prepared
      if (events.length > 0) yield events
    }
  }

  /** Before that the location's name was another cluster's, whose objects went unseen. @throws StatusError Expired */
  async #requireBorn(after: number): Promise<void> {
    if (this.#births === undefined || after === this.#reader.revision) return
    const isThere = async (at: object): Promise<boolean> =>
      (await this.#reader.list(this.#births!, { space: this.#mailbox, ...at })).items.length > 0
    if (await isThere({ resourceVersion: `${after}`, resourceVersionMatch: 'Exact' })) return
    if (await isThere({}))
      throw new StatusError('Expired', `too old resource version: ${after}: the location is another cluster since`)
  }

  /** A copy may have passed to another space with its last change: its former owner is not shown more than was its own. */
  #shownEvent(event: SelectedEvent): SelectedEvent | undefined {
    const { previous, revision } = event.event
    const stored = this.#shown(event.stored) ?? (previous && this.#shown(atRevision(previous, revision)))
    return stored && { ...event, stored }
  }

  #seen(selection: Selection = EVERYTHING): Selection {
    const { matchesLabels: _labels, ...rest } = selection
    return {
      ...rest,
      everything: false,
      matches: object => {
        const shown = reportedObject(object, this.#to)
        return shown !== undefined && selection.matches(shown)
      },
    }
  }

  #shown(stored: Stored): Stored | undefined {
    const shown: KubeObject | undefined = reportedObject(decodeObject(stored), this.#to)
    if (!shown) return undefined
    const key = { ...stored.key, space: this.#to.space }
    return versionOf(key, stored.revision, { ...encodeObject(shown), note: stored.note })
  }

  /** Tokens name the space that their client knows. */
  #movedTo(space: string, token: string): string {
    const { at, after } = decodeContinue(token)
    return encodeContinue({ at, after: { ...after, space } })
  }
}
