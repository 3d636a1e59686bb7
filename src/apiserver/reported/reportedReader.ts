/**
 * Reads of what one cluster reports for one space: the objects of its mailbox as that space sees them, in the store's own order.
 * Nothing is kept. An object that becomes the space's to see is added, one that ceases to be it is deleted.
 */
import { setImmediate } from 'node:timers/promises'
import { isStatusError, StatusError, statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { type ReportedTo, reportedObject } from '../../placement/content/reportedObject.ts'
import type { ReportedCluster } from '../../placement/desks/reported.ts'
import { objectKey, parseObjectKey } from '../../placement/words/names.ts'
import type { Stored } from '../../storage/store.ts'
import { atRevision, versionOf } from '../../storage/texts.ts'
import type { KindReader } from '../registry/answeredReader.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import { decodeContinue, ExpiredContinueError, encodeContinue } from '../registry/continueToken.ts'
import type { SelectedEvent } from '../registry/eventSelector.ts'
import type { ListQuery, ListResult, WatchQuery } from '../registry/reader.ts'
import { EVERYTHING, type Selection } from '../registry/selection.ts'
import { prepareViews } from '../registry/views.ts'
import type { MarkChanges, MarkLog } from './markLog.ts'

export interface ReportedReaderDeps {
  reader: KindReader
  /** Logical-cluster id. */
  mailbox: string
  /** LogicalClusters, of which each mailbox has one from its birth. */
  births: ResourceType | undefined
  to: ReportedTo
  marks: ReportedCluster['marks']
  log: MarkLog
}

/** Reports of which marks changed, sent at once. */
const BATCH = 50

export class ReportedReader implements KindReader {
  readonly #reader: KindReader
  readonly #mailbox: string
  readonly #births: ResourceType | undefined
  readonly #to: ReportedTo
  readonly #marks: ReportedCluster['marks']
  readonly #log: MarkLog

  constructor({ reader, mailbox, births, to, marks, log }: ReportedReaderDeps) {
    this.#marks = marks
    this.#log = log
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
      const shown = this.#shown(stored, Math.max(stored.revision, this.#markedAt(stored)))
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
        const shown = this.#shown(stored, Math.max(stored.revision, Math.min(this.#markedAt(stored), found.revision)))
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

  /** Events of the store, and reports of which the marks alone changed, in one order of revisions. */
  async *watch(type: ResourceType, query: WatchQuery): AsyncGenerator<readonly SelectedEvent[]> {
    this.#log.requireKnown(query.after)
    await this.#requireBorn(query.after)
    const changes = this.#log.changes(this.#mailbox, query.after)
    const signal = AbortSignal.any([query.signal, this.#log.ended])
    const watched = { changes, query, type }
    let isWaiting: (() => boolean) | undefined
    let wake = (): void => {}
    changes.onChange(() => wake())
    const batches = this.#reader
      .watch(type, {
        ...query,
        space: this.#mailbox,
        selection: this.#seen(query.selection),
        derived: undefined,
        signal,
        onLive: waits => {
          isWaiting = waits
          query.onLive?.(() => waits() && changes.isEmpty)
          wake()
        },
      })
      [Symbol.asyncIterator]()
    let came: { read?: IteratorResult<readonly SelectedEvent[]>; error?: unknown } | undefined
    const pull = (): void => {
      came = undefined
      const settle = (outcome: typeof came): void => {
        came = outcome
        wake()
      }
      batches.next().then(
        read => settle({ read }),
        error => settle({ error }),
      )
    }
    try {
      pull()
      for (;;) {
        if (came?.read?.done) break
        if (came?.read) {
          yield* this.#inOrder(came.read.value, watched)
          pull()
        } else if (came) {
          throw came.error
        } else if (changes.isEmpty || !isWaiting) {
          await new Promise<void>(resolve => {
            wake = resolve
          })
        } else if (isWaiting()) {
          yield* this.#changed(watched, Number.POSITIVE_INFINITY)
        } else {
          // the store is handing over events of before
          await setImmediate()
        }
      }
    } finally {
      changes.end()
      await batches.return?.()
    }
    if (!query.signal.aborted) throw new StatusError('Expired', 'who knows the marks of reports is another now')
  }

  /** Marks that changed before an event go before it. */
  async *#inOrder(events: readonly SelectedEvent[], watched: Watched): AsyncGenerator<readonly SelectedEvent[]> {
    const { changes, type } = watched
    let shown: SelectedEvent[] = []
    for (const event of events) {
      const { revision } = event.event
      if (changes.isDue(revision)) {
        if (shown.length > 0) yield shown
        shown = []
        yield* this.#changed(watched, revision)
      }
      const one = this.#shownEvent(event)
      if (one) shown.push(one)
    }
    await this.#prepare(shown, type)
    if (shown.length > 0) yield shown
  }

  /** Reports of which marks changed before a revision, each under the revision of that change. */
  async *#changed(watched: Watched, before: number): AsyncGenerator<readonly SelectedEvent[]> {
    const { changes, query, type } = watched
    while (changes.isDue(before) && !query.signal.aborted) {
      const taken = changes.take(before)
      const found = taken === 'all' ? this.#all(watched) : this.#named(taken, watched)
      for await (const batch of found) {
        const events = batch.flatMap(({ stored, revision }) => {
          // what is newer has an event of its own behind this one
          const shown = stored.revision <= revision ? this.#shown(stored, revision) : undefined
          return shown ? [modified(shown)] : []
        })
        await this.#prepare(events, type)
        if (events.length > 0) yield events
      }
    }
  }

  async *#all({ changes, query, type }: Watched): AsyncGenerator<readonly Marked[]> {
    const revision = changes.begin
    let token: string | undefined
    do {
      const page: ListResult = await this.#reader.list(type, {
        space: this.#mailbox,
        namespace: query.namespace,
        selection: this.#seen(query.selection),
        limit: BATCH,
        continue: token,
      })
      yield page.items.map(stored => ({ stored, revision }))
      token = page.continue
    } while (token !== undefined && !query.signal.aborted)
  }

  async *#named(keys: readonly string[], { changes, query, type }: Watched): AsyncGenerator<readonly Marked[]> {
    const { namespace: within, selection = EVERYTHING } = query
    for (const key of keys) {
      const { group, resource, namespace, name } = parseObjectKey(key)
      if (group !== type.group || resource !== type.resource || namespace !== (within ?? namespace)) continue
      const stored = await unlessGone(async () => await this.#reader.get(this.#mailbox, type, namespace, name))
      const shown = stored && reportedObject(decodeObject(stored), this.#to)
      if (shown && selection.matches(shown)) yield [{ stored, revision: changes.revisionOf(key) }]
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

  #shown(stored: Stored, revision = stored.revision): Stored | undefined {
    const shown: KubeObject | undefined = reportedObject(
      decodeObject(stored),
      this.#to,
      this.#marks(keyTextOf(stored.key)),
    )
    if (!shown) return undefined
    const key = { ...stored.key, space: this.#to.space }
    return versionOf(key, revision, { ...encodeObject(shown), note: stored.note })
  }

  /** Revision of the newest change of its marks. */
  #markedAt({ key }: Stored): number {
    return this.#log.revisionOf(this.#mailbox, keyTextOf(key))
  }

  async #prepare(events: readonly SelectedEvent[], type: ResourceType): Promise<void> {
    await prepareViews(
      events.map(({ stored }) => stored),
      type,
    )
  }

  /** Tokens name the space that their client knows. */
  #movedTo(space: string, token: string): string {
    const { at, after } = decodeContinue(token)
    return encodeContinue({ at, after: { ...after, space } })
  }
}

/** A watch under way. */
interface Watched {
  readonly changes: MarkChanges
  readonly query: WatchQuery
  readonly type: ResourceType
}

/** A copy of which marks changed. */
interface Marked {
  readonly stored: Stored
  readonly revision: number
}

function modified(stored: Stored): SelectedEvent {
  const { key, revision } = stored
  return { type: 'MODIFIED', stored, event: { type: 'put', key, revision, stored, previous: undefined } }
}

function keyTextOf(key: Stored['key']): string {
  return objectKey(key, key.namespace, key.name)
}

async function unlessGone(read: () => Promise<Stored>): Promise<Stored | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}
