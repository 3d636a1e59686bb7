/**
 * Reads of what clusters report: the objects of their mailboxes as spaces see them, in the store's own order.
 * Nothing is kept. An object that becomes a space's to see is added, one that ceases to be it is deleted.
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { someOf } from '../../apimachinery/someOf.ts'
import type { ReportedTo } from '../../placement/content/reportedObject.ts'
import type { Stored } from '../../storage/store.ts'
import type { KindReader } from '../registry/answeredReader.ts'
import { type ContinueToken, decodeContinue, ExpiredContinueError, encodeContinue } from '../registry/continueToken.ts'
import type { SelectedEvent } from '../registry/eventSelector.ts'
import type { ListQuery, ListResult, WatchQuery } from '../registry/reader.ts'
import { revisionOfList } from '../registry/readVersions.ts'
import { EVERYTHING } from '../registry/selection.ts'
import { prepareViews } from '../registry/views.ts'
import { mergedPages } from './mergedPages.ts'
import { ReportedWatch, type ReportedWatchDeps, unlessGone } from './reportedWatch.ts'
import { lookedUp, objectKeyOf, placeOf, type Shown, shownTo } from './shownObjects.ts'

/** Locations that a refusal names. */
const NAMED = 10
const NO_VERSIONS: readonly unknown[] = [undefined, '', '0']

export class ReportedReader implements KindReader {
  readonly #deps: ReportedWatchDeps

  constructor(deps: ReportedWatchDeps) {
    this.#deps = deps
  }

  get revision(): number {
    return this.#deps.reader.revision
  }

  requireRevision(resourceVersion: string): void {
    this.#deps.reader.requireRevision(resourceVersion)
  }

  /** @throws StatusError NotFound; Conflict names the locations that have an object of that name */
  async get(_space: string, type: ResourceType, namespace: string, name: string): Promise<Stored> {
    const { reader, sources } = this.#deps
    const found: Shown[] = []
    for (const [mailbox, readers] of sources.now()) {
      const stored = await unlessGone(async () => await reader.get(mailbox, type, namespace, name))
      if (stored) found.push(...shownTo(stored, readers, { type }, this.#shownAt(stored, reader.revision)))
    }
    // the same words as of one that is there and not to be seen
    if (found.length === 0) throw statusError.notFound(type, name)
    if (found.length > 1) throw inSeveral(type, name, found)
    const [{ stored }] = found as [Shown]
    await prepareViews([stored], type)
    return stored
  }

  async list(type: ResourceType, query: ListQuery): Promise<ListResult> {
    const { work, selection = EVERYTHING } = query
    const limit = query.limit && query.limit > 0 ? query.limit : undefined
    const { reader, sources } = this.#deps
    const token = query.continue ? decodeContinue(query.continue) : undefined
    // pages go by names: those of another revision would not follow on the ones before
    const byMailbox = sources.now(token?.at)
    if (token && !NO_VERSIONS.includes(query.resourceVersion))
      throw statusError.badRequest('specifying resource version is not allowed when using continue')
    const requested = token ? token.at : revisionOfList(query, reader.revision)
    try {
      const merged = await mergedPages(reader, {
        type,
        mailboxes: byMailbox.keys(),
        query: { ...query, continue: undefined, selection: lookedUp(selection) },
        // one more: a page is followed by another where that shows something, and what others have behind it says nothing
        wanted: limit && limit + 1,
        at: token?.at,
        begin: token && {
          ...token.after,
          includes: mailbox => [...byMailbox.get(mailbox)!.values()].some(({ to }) => isBehind(token, to)),
        },
        work,
      })
      if (!merged) return { items: [], revision: requested ?? reader.revision }
      const found: Shown[] = []
      let group: Shown[] = []
      const isFull = (): boolean => {
        found.push(...(group.length > 1 ? group.sort(byPlace) : group))
        group = []
        return limit !== undefined && found.length > limit
      }
      reading: for await (const some of merged.objects) {
        for (const stored of some) {
          const at = this.#shownAt(stored, merged.revision)
          const shown = shownTo(stored, byMailbox.get(stored.key.space)!, { type, selection }, at)
          const isToken = token && isNamed(stored, token)
          const fresh = isToken ? shown.filter(({ to }) => isBehind(token, to)) : shown
          if (fresh.length === 0) continue
          if (group.length > 0 && !isNamed(stored, { after: group[0]!.stored.key }) && isFull()) break reading
          group.push(...fresh)
        }
        if (work?.due) await work.rest()
      }
      const isCut = isFull()
      const page = found.slice(0, limit)
      const items = page.map(({ stored }) => stored)
      await prepareViews(items, type)
      const { revision } = merged
      if (!isCut) return { items, revision }
      const { to, stored } = page.at(-1)!
      return { items, revision, continue: encodeContinue({ at: revision, after: stored.key, within: placeOf(to) }) }
    } catch (error) {
      // its token names an object of a mailbox, whosever it is
      if (!(error instanceof ExpiredContinueError)) throw error
      if (!token) throw new StatusError('Expired', 'The resourceVersion for the provided list is too old.')
      throw new ExpiredContinueError(encodeContinue({ ...token, at: undefined }))
    }
  }

  watch(type: ResourceType, query: WatchQuery): AsyncIterable<readonly SelectedEvent[]> {
    return new ReportedWatch(this.#deps, type, query).events()
  }

  /** Revision as of which an object shows its marks, in a list or an answer of that revision. */
  #shownAt(stored: Stored, revision: number): number {
    const { log } = this.#deps
    const { space } = stored.key
    if (!log.knows(space)) return stored.revision
    const markedAt = log.revisionOf(space, objectKeyOf(stored))
    return Math.max(stored.revision, Math.min(markedAt, revision))
  }
}

function byPlace(a: Shown, b: Shown): number {
  return placeOf(a.to) < placeOf(b.to) ? -1 : 1
}

function isBehind({ within }: ContinueToken, to: ReportedTo): boolean {
  return within !== undefined && placeOf(to) > within
}

function isNamed({ key }: Stored, { after }: Pick<ContinueToken, 'after'>): boolean {
  return key.namespace === after.namespace && key.name === after.name
}

function inSeveral(type: ResourceType, name: string, found: readonly Shown[]): StatusError {
  const places = found.map(({ to }) => to.location).sort()
  return new StatusError(
    'Conflict',
    `${type.resource} "${name}" is at several locations: ${someOf(places, NAMED)}; read it at /locations/<location> of this view`,
    { name, group: type.group, kind: type.resource },
  )
}
