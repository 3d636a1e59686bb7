/** Changes of what clusters report: events of the store, and reports of which the marks alone changed, in one order of revisions. */
import { setImmediate } from 'node:timers/promises'
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { parseObjectKey } from '../../placement/words/names.ts'
import type { Stored } from '../../storage/store.ts'
import { atRevision } from '../../storage/texts.ts'
import type { KindReader } from '../registry/answeredReader.ts'
import { decodeContinue, encodeContinue } from '../registry/continueToken.ts'
import type { SelectedEvent } from '../registry/eventSelector.ts'
import type { ListResult, WatchQuery } from '../registry/reader.ts'
import { EVERYTHING } from '../registry/selection.ts'
import { prepareViews } from '../registry/views.ts'
import type { MarkChanges, Marked, MarkLog } from './markLog.ts'
import type { ByMailbox, ReportedSources, Sources } from './reportedSources.ts'
import { lookedUp, shownOf, shownTo, type Wanted } from './shownObjects.ts'

export interface ReportedWatchDeps {
  /** Reads mailboxes. */
  reader: KindReader
  sources: ReportedSources
  log: MarkLog
}

/** Reports of which marks changed, sent at once. */
const BATCH = 50
const NO_SOURCES: Sources = new Map()

export class ReportedWatch {
  readonly #deps: ReportedWatchDeps
  readonly #type: ResourceType
  readonly #query: WatchQuery
  readonly #wanted: Wanted
  readonly #changes: MarkChanges
  readonly #unfollow: () => void
  readonly #failed = new AbortController()
  #failure: unknown
  #byMailbox: ByMailbox
  /** Whether the sources may be others. */
  #isStale = false
  /** Whether changes of marks are being sent: bookmarks wait for them. */
  #isSendingMarks = false

  /** @throws StatusError Expired: something would be missed */
  constructor(deps: ReportedWatchDeps, type: ResourceType, query: WatchQuery) {
    const { sources, log } = deps
    this.#deps = deps
    this.#type = type
    this.#query = query
    this.#wanted = { type, ...(query.selection && { selection: query.selection }) }
    log.requireKnown(query.after)
    this.#byMailbox = sources.now(query.after)
    this.#unfollow = sources.follow(() => {
      if (!this.#isStale) queueMicrotask(() => this.#sources())
      this.#isStale = true
    })
    this.#changes = log.changes(query.after, mailbox => this.#sources().has(mailbox))
  }

  async *events(): AsyncGenerator<readonly SelectedEvent[]> {
    const { reader, sources, log } = this.#deps
    const query = this.#query
    const changes = this.#changes
    let isWaiting: (() => boolean) | undefined
    let wake = (): void => {}
    changes.onChange(() => wake())
    const batches = reader
      .watch(this.#type, {
        ...query,
        space: sources.only ?? '*',
        among: mailbox => this.#sources().has(mailbox),
        selection: lookedUp(query.selection ?? EVERYTHING),
        derived: undefined,
        signal: AbortSignal.any([query.signal, log.ended, this.#failed.signal]),
        onLive: waits => {
          isWaiting = waits
          query.onLive?.(() => waits() && changes.isEmpty && !this.#isSendingMarks)
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
        if (this.#failure) throw this.#failure
        if (came?.read?.done) break
        if (came?.read) {
          yield* this.#inOrder(came.read.value)
          pull()
        } else if (came) {
          throw came.error
        } else if (changes.isEmpty || !isWaiting) {
          await new Promise<void>(resolve => {
            wake = resolve
          })
        } else {
          // read before the question: changes of a later one may have events before them
          const { revision } = reader
          if (isWaiting()) yield* this.#changed(revision + 1)
          // the store is handing over events of before
          else await setImmediate()
        }
      }
    } finally {
      this.#unfollow()
      changes.end()
      this.#failed.abort()
      await batches.return?.()
    }
    if (log.ended.aborted && !query.signal.aborted)
      throw new StatusError('Expired', 'who knows the marks of reports is another now')
  }

  /** As of now; where that is not known, as it was. */
  #sources(): ByMailbox {
    if (!this.#isStale || this.#failure) return this.#byMailbox
    this.#isStale = false
    try {
      this.#byMailbox = this.#deps.sources.now(this.#query.after)
    } catch (error) {
      if (isStatusError(error, 'ServiceUnavailable')) this.#isStale = true
      else {
        this.#failure = error
        this.#failed.abort()
      }
    }
    return this.#byMailbox
  }

  /** Marks that changed before an event go before it. */
  async *#inOrder(events: readonly SelectedEvent[]): AsyncGenerator<readonly SelectedEvent[]> {
    // selectors look at what was there before, too
    if (this.#wanted.selection)
      await prepareViews(
        events.flatMap(({ event }) => event.previous ?? []),
        this.#type,
      )
    let shown: SelectedEvent[] = []
    for (const event of events) {
      const { revision } = event.event
      if (this.#changes.isDue(revision)) {
        await this.#prepare(shown)
        if (shown.length > 0) yield shown
        shown = []
        yield* this.#changed(revision)
      }
      shown.push(...this.#shownEvents(event))
    }
    await this.#prepare(shown)
    if (shown.length > 0) yield shown
  }

  /** A change as each space sees it. A copy may pass to another space with it: its former owner sees no more than was its own. */
  #shownEvents({ event }: SelectedEvent): SelectedEvent[] {
    const { previous, stored, revision } = event
    return [...this.#sourcesOf(event.key.space).values()].flatMap(source => {
      const before = previous && shownOf(previous, source, this.#wanted)
      const now = event.type === 'put' ? shownOf(stored, source, this.#wanted) : undefined
      if (now) return { type: before ? 'MODIFIED' : 'ADDED', stored: now, event }
      if (!before) return []
      const last = event.type === 'delete' ? shownOf(stored, source, { type: this.#type }) : undefined
      return { type: 'DELETED', stored: last ?? atRevision(before, revision), event }
    })
  }

  /** Reports of which marks changed before a revision, each under the revision of that change. */
  async *#changed(before: number): AsyncGenerator<readonly SelectedEvent[]> {
    this.#isSendingMarks = true
    try {
      while (this.#changes.isDue(before)) {
        for (const marked of this.#changes.take(before)) {
          if (this.#query.signal.aborted) return
          yield* this.#markedEvents(marked)
        }
      }
    } finally {
      this.#isSendingMarks = false
    }
  }

  async *#markedEvents({ mailbox, key, revision }: Marked): AsyncGenerator<readonly SelectedEvent[]> {
    for await (const batch of key === undefined ? this.#all(mailbox) : this.#named(mailbox, key)) {
      const events = batch.flatMap(stored =>
        // what is newer has an event of its own behind this one
        stored.revision <= revision
          ? shownTo(stored, this.#sourcesOf(mailbox), this.#wanted, revision).map(one => modified(one.stored))
          : [],
      )
      await this.#prepare(events)
      if (events.length > 0) yield events
    }
  }

  async *#all(mailbox: string): AsyncGenerator<readonly Stored[]> {
    const { reader } = this.#deps
    const { namespace, selection = EVERYTHING, signal } = this.#query
    let token: string | undefined
    do {
      const page: ListResult = await reader.list(this.#type, {
        space: mailbox,
        namespace,
        selection: lookedUp(selection),
        limit: BATCH,
        continue: token,
      })
      yield page.items
      // each is of now, however long the reader of the watch takes for the one before
      token = page.continue && encodeContinue({ ...decodeContinue(page.continue), at: undefined })
    } while (token !== undefined && !signal.aborted)
  }

  async *#named(mailbox: string, objectKey: string): AsyncGenerator<readonly Stored[]> {
    const { group, resource } = this.#type
    const { namespace, name, ...kind } = parseObjectKey(objectKey)
    if (kind.group !== group || kind.resource !== resource || namespace !== (this.#query.namespace ?? namespace)) return
    const stored = await unlessGone(async () => await this.#deps.reader.get(mailbox, this.#type, namespace, name))
    if (stored) yield [stored]
  }

  #sourcesOf(mailbox: string): Sources {
    return this.#sources().get(mailbox) ?? NO_SOURCES
  }

  async #prepare(events: readonly SelectedEvent[]): Promise<void> {
    await prepareViews(
      events.map(({ stored }) => stored),
      this.#type,
    )
  }
}

function modified(stored: Stored): SelectedEvent {
  const { key, revision } = stored
  return { type: 'MODIFIED', stored, event: { type: 'put', key, revision, stored, previous: undefined } }
}

/** `undefined` where there is none of that name. */
export async function unlessGone(read: () => Promise<Stored>): Promise<Stored | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}
