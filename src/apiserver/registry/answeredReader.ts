/**
 * Reads of a kind whose objects are answered and not stored, as the reader of stored objects has them. They have revisions of their own,
 * which rise over restarts as the time does. One of a former server is never mistaken for one of now.
 *
 * A list notes from its beginning on what changes, so that a watch can begin where it ended. After a while without readers of a space, the
 * notes of it end, and a watch from before then begins anew.
 */
import { createHash } from 'node:crypto'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Clock } from '../../client/clock.ts'
import type { Answerer, AnswerName, AnswerRow } from '../../placement/desks/answered.ts'
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import type { Key, Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { AnsweredLog, idOf } from './answeredLog.ts'
import { encodeObject } from './codec.ts'
import { decodeContinue, encodeContinue } from './continueToken.ts'
import type { SelectedEvent } from './eventSelector.ts'
import { keyOf } from './keys.ts'
import type { ListQuery, ListResult, Reader, WatchQuery } from './reader.ts'
import { knownRevision, revisionOfList } from './readVersions.ts'
import { EVERYTHING, type Selection } from './selection.ts'

export type KindReader = Pick<Reader, 'revision' | 'requireRevision' | 'get' | 'list' | 'watch'>

export interface AnsweredReaderDeps {
  clock: Clock
  turns: WorkTurns
}

/** Bound on an unpaged list: each item is made for the request, and all are there at once. */
export const MAX_UNPAGED = 20_000
/** Between the last question and the end of notes. */
export const FORGOTTEN_AFTER_MS = 300_000
/** Spaces that are noted although nobody watches them. */
const MAX_UNWATCHED = 200
/** Bound on a watch: names that were sent, or are there at its beginning. */
export const MAX_KNOWN = 20_000
/** Events that are handed over at once. */
const BATCH = 50
const RETRY_SECONDS = 2

interface Noted {
  readonly log: AnsweredLog
  readonly end: () => void
  lastUsedMs: number
  /** Ends the wait for its end. */
  cancel: (() => void) | undefined
}

export class AnsweredReader implements KindReader {
  readonly #deps: AnsweredReaderDeps
  #answerer: Answerer | undefined
  #revision: number
  /** By space. */
  readonly #noted = new Map<string, Noted>()
  /** Aborted when who answers is another. */
  #shift = new AbortController()

  constructor(deps: AnsweredReaderDeps) {
    this.#deps = deps
    this.#revision = deps.clock.now()
  }

  answerWith(answerer: Answerer | undefined): void {
    this.#answerer = answerer
    for (const space of [...this.#noted.keys()]) this.#forget(space)
    this.#shift.abort()
    this.#shift = new AbortController()
  }

  get revision(): number {
    return this.#revision
  }

  requireRevision(resourceVersion: string): void {
    knownRevision(resourceVersion, this.#revision)
  }

  /** @throws StatusError NotFound, ServiceUnavailable, BadRequest */
  async get(space: string, type: ResourceType, namespace: string, name: string): Promise<Stored> {
    const answerer = this.#answererOf(type, space)
    const row = await answerer.row(space, { namespace, name })
    const object = await row?.whole()
    if (!row || !object) throw statusError.notFound(type, name)
    const revision = this.#noted.get(space)?.log.revisionOf(row) ?? this.#revision
    return storedOf(keyOf(space, type, namespace, name), object, revision)
  }

  /** @throws StatusError BadRequest, ServiceUnavailable, and as the versions of a query do */
  async list(type: ResourceType, query: ListQuery): Promise<ListResult> {
    const answerer = this.#answererOf(type, query.space)
    const selection = query.selection ?? EVERYTHING
    const work = query.work ?? this.#deps.turns.begin({ owner: query.space })
    const token = query.continue ? decodeContinue(query.continue) : undefined
    if (!token) this.#requireNow(query)
    const { log } = this.#note(query.space, answerer)
    const revision = token?.at ?? this.#revision
    const limit = query.limit && query.limit > 0 ? query.limit : undefined
    const items: Stored[] = []
    for await (const row of this.#selected(type, answerer, { ...query, selection, after: token?.after }, work)) {
      if (items.length === limit) {
        const last = items.at(-1)!.key
        return { items, revision, continue: encodeContinue({ at: revision, after: last }) }
      }
      const object = await row.whole(work)
      if (!object) continue
      if (items.length === MAX_UNPAGED) throw tooLong(type)
      const key = keyOf(query.space, type, row.namespace, row.name)
      items.push(storedOf(key, object, Math.min(log.revisionOf(row), this.#revision)))
      if (work.due) await work.rest()
    }
    return { items, revision }
  }

  /** @throws StatusError Expired when changes since `after` are not known, or the watcher is too slow */
  async *watch(type: ResourceType, query: WatchQuery): AsyncGenerator<readonly SelectedEvent[]> {
    const answerer = this.#answererOf(type, query.space)
    const { space, namespace, after, selection = EVERYTHING } = query
    const { log } = this.#note(space, answerer)
    const expired = (): unknown => new StatusError('Expired', `too old resource version: ${after} (${log.begin})`)
    if (after < log.begin) throw expired()
    const concerns = ({ namespace: own, name }: AnswerName): boolean =>
      (namespace === undefined || namespace === own) && (selection.name === undefined || selection.name === name)
    const signal = AbortSignal.any([query.signal, this.#shift.signal])
    /** In the order of their newest change. */
    const pending = new Map<string, AnswerName>()
    let wake = (): void => {}
    let isWaiting = false
    const add = (id: string, name: AnswerName): void => {
      if (!concerns(name)) return
      pending.delete(id)
      pending.set(id, name)
      wake()
    }
    for (const [id, name] of log.since(after)) add(id, name)
    let isLost = false
    const unlisten = log.listen({
      touched: add,
      lost: () => {
        isLost = true
        wake()
      },
    })
    const onAbort = (): void => wake()
    signal.addEventListener('abort', onAbort)
    try {
      const work = this.#deps.turns.begin({ owner: space, isAbandoned: () => signal.aborted })
      const known = await this.#knownAt(type, answerer, { space, namespace, selection }, { pending, work })
      query.onLive?.(() => isWaiting && pending.size === 0)
      while (!signal.aborted) {
        if (isLost || pending.size > MAX_KNOWN) throw expired()
        const events: SelectedEvent[] = []
        while (events.length < BATCH && pending.size > 0 && !signal.aborted && !isLost) {
          const [id, name] = pending.entries().next().value!
          pending.delete(id)
          const revision = log.revisionOf(name)
          const event = await eventOf(type, { answerer, space, name, selection, known, revision, work })
          if (event) events.push(event)
          if (work.due) await work.rest()
        }
        if (events.length > 0) yield events
        if (pending.size > 0 || signal.aborted) continue
        isWaiting = true
        await new Promise<void>(resolve => {
          wake = resolve
          if (pending.size > 0 || signal.aborted || isLost) resolve()
        })
        isWaiting = false
      }
      if (!query.signal.aborted) throw expired()
    } finally {
      unlisten()
      signal.removeEventListener('abort', onAbort)
      this.#touch(space)
    }
  }

  /** Selected names at the beginning of a watch, and possible ones at its request; `undefined`: too many. */
  async #knownAt(
    type: ResourceType,
    answerer: Answerer,
    query: Pick<WatchQuery, 'space' | 'namespace' | 'selection'>,
    { pending, work }: { pending: ReadonlyMap<string, AnswerName>; work: Work },
  ): Promise<Known> {
    const names = new Map<string, string>([...pending.keys()].map(id => [id, '']))
    for await (const row of this.#selected(type, answerer, query, work)) {
      names.set(idOf(row), '')
      if (names.size > MAX_KNOWN) return { isWhole: false, names: new Map() }
      if (work.due) await work.rest()
    }
    return { isWhole: true, names }
  }

  async *#selected(
    type: ResourceType,
    answerer: Answerer,
    {
      space,
      namespace,
      selection = EVERYTHING,
      after,
    }: Pick<WatchQuery, 'space' | 'namespace' | 'selection'> & { after?: Key | undefined },
    work: Work,
  ): AsyncGenerator<AnswerRow> {
    const within = type.namespaced ? (namespace ?? selection.namespace) : ''
    const range = { space, namespace: within, after, fixed: selection.fixed ?? NOTHING }
    if (selection.namespace !== undefined && namespace !== undefined && selection.namespace !== namespace) return
    if (selection.name !== undefined && within !== undefined) {
      const row = after ? undefined : await answerer.row(space, { namespace: within, name: selection.name })
      if (row && selection.matches(row.head)) yield row
      return
    }
    for await (const row of answerer.rows(range, work)) if (selection.matches(row.head)) yield row
  }

  /** Nothing of the past is kept. @throws StatusError as the versions of a query do, Expired */
  #requireNow(query: ListQuery): void {
    const exact = revisionOfList({ ...query, limit: undefined }, this.#revision)
    if (exact !== undefined && exact !== this.#revision)
      throw new StatusError('Expired', 'The resourceVersion for the provided list is too old.')
  }

  #answererOf(type: ResourceType, space: string): Answerer {
    if (space === '*') {
      throw new StatusError(
        'BadRequest',
        `${type.resource} are answered for one space at a time; ask at /clusters/<space>`,
      )
    }
    if (this.#answerer) return this.#answerer
    throw new StatusError(
      'ServiceUnavailable',
      `who answers for ${type.resource} does not run; it may be starting, or be left out by --controllers`,
      { retryAfterSeconds: RETRY_SECONDS },
    )
  }

  #note(space: string, answerer: Answerer): Noted {
    let noted = this.#noted.get(space)
    if (!noted) {
      const log = new AnsweredLog(this.#revision, () => this.#next())
      noted = {
        log,
        end: answerer.follow(space, { touched: name => log.touched(name), lost: () => log.lost() }),
        lastUsedMs: 0,
        cancel: undefined,
      }
      this.#noted.set(space, noted)
      this.#makeRoom(space)
    }
    this.#touch(space)
    return noted
  }

  /** A counter that keeps up with the clock, so that one that begins later begins higher. */
  #next(): number {
    this.#revision = Math.max(this.#revision + 1, this.#deps.clock.now())
    return this.#revision
  }

  #touch(space: string): void {
    const noted = this.#noted.get(space)
    if (!noted) return
    noted.lastUsedMs = this.#deps.clock.now()
    noted.cancel ??= this.#deps.clock.after(FORGOTTEN_AFTER_MS, () => {
      noted.cancel = undefined
      if (this.#noted.get(space) !== noted) return
      const isDue = this.#deps.clock.now() - noted.lastUsedMs >= FORGOTTEN_AFTER_MS
      if (isDue && !noted.log.isWatched) this.#forget(space)
      else if (!noted.log.isWatched) this.#touch(space)
    })
  }

  #makeRoom(but: string): void {
    const unwatched = [...this.#noted].filter(([space, { log }]) => space !== but && !log.isWatched)
    if (unwatched.length < MAX_UNWATCHED) return
    unwatched.sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs)
    this.#forget(unwatched[0]![0])
  }

  #forget(space: string): void {
    const noted = this.#noted.get(space)
    noted?.cancel?.()
    noted?.end()
    this.#noted.delete(space)
  }
}

const NOTHING: ReadonlyMap<string, string> = new Map()

/** Names that a watcher knows, with a digest of the content last sent for each; `''`: none yet. */
interface Known {
  /** Whether nothing else was selected when the watch began. */
  isWhole: boolean
  readonly names: Map<string, string>
}

interface NameRequest {
  readonly answerer: Answerer
  readonly space: string
  readonly name: AnswerName
  readonly selection: Selection
  readonly known: Known
  readonly revision: number
  readonly work: Work
}

/** Event for a name that may have changed; `undefined`: none. */
async function eventOf(
  type: ResourceType,
  { answerer, space, name, selection, known, revision, work }: NameRequest,
): Promise<SelectedEvent | undefined> {
  const { names, isWhole } = known
  const id = idOf(name)
  const before = names.get(id)
  const row = await answerer.row(space, name)
  const object = row && selection.matches(row.head) ? await row.whole(work) : undefined
  const key = keyOf(space, type, name.namespace, name.name)
  if (!object) {
    if (before === undefined && isWhole) return undefined
    names.delete(id)
    const last = (await row?.whole(work)) ?? row?.head ?? goneObject(type, name)
    return event('DELETED', storedOf(key, last, revision))
  }
  const digest = createHash('sha1').update(JSON.stringify(object)).digest('base64')
  if (before === digest) return undefined
  names.set(id, digest)
  if (names.size > MAX_KNOWN) {
    names.delete(names.keys().next().value!)
    known.isWhole = false
  }
  return event(before === undefined && isWhole ? 'ADDED' : 'MODIFIED', storedOf(key, object, revision))
}

function event(type: SelectedEvent['type'], stored: Stored): SelectedEvent {
  const { key, revision } = stored
  const kind = type === 'DELETED' ? 'delete' : 'put'
  return { type, stored, event: { type: kind, key, revision, stored, previous: undefined } }
}

/** All that is known of what is gone. */
function goneObject({ group, version, kind }: ResourceType, { namespace, name }: AnswerName): KubeObject {
  return { apiVersion: `${group}/${version}`, kind, metadata: { ...(namespace && { namespace }), name } }
}

function storedOf(key: Key, object: KubeObject, revision: number): Stored {
  return versionOf(key, revision, encodeObject(object))
}

function tooLong(type: ResourceType): StatusError {
  return new StatusError(
    'BadRequest',
    `there are more than ${MAX_UNPAGED} ${type.resource}; ask for pages of them (limit, continue), or for fewer (fieldSelector, a namespace)`,
  )
}
