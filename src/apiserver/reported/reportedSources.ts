/** Where a reader of reports finds them: mailboxes, and for whom and under which names it reads each. */
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import type { ReportedTo } from '../../placement/content/reportedObject.ts'
import type { ReportedCluster, ReportedPlaces } from '../../placement/desks/reported.ts'
import type { Revision } from '../../storage/store.ts'
import type { KindReader } from '../registry/answeredReader.ts'
import type { KeptReports } from './keptReports.ts'
import type { Names, ReportedNames } from './reportedNames.ts'

/** A mailbox as one space reads it. */
export interface Source extends Pick<ReportedCluster, 'mailbox' | 'isMarked' | 'marks'> {
  readonly to: ReportedTo
  readonly kept: KeptReports
}

/** By logical-cluster id of the mailbox, and by the space that reads it. */
export type ByMailbox = ReadonlyMap<string, Sources>
export type Sources = ReadonlyMap<string, Source>

export interface ReportedSourcesDeps {
  places: ReportedPlaces
  names: ReportedNames
  kept: KeptReports
  reader: Pick<KindReader, 'revision'>
  /** Logical-cluster ids of those for which is read. */
  spaces: ReadonlySet<string>
  /** Since when the reader is served these spaces. Absent: at any time. */
  since?: Revision | undefined
  /** The one cluster that is read, for the one space. Absent: all of them. */
  one?: ReportedCluster
}

export class ReportedSources {
  readonly #deps: ReportedSourcesDeps
  /** By space. */
  readonly #names = new Map<string, Names>()
  readonly #byMailbox = new Map<string, Map<string, Source>>()
  /** Spaces whose names may be others by now. */
  readonly #stale: Set<string>

  constructor(deps: ReportedSourcesDeps) {
    this.#deps = deps
    this.#stale = new Set(deps.spaces)
  }

  /** The one mailbox whose range of the log is read; absent: the logs of all. */
  get only(): string | undefined {
    return this.#deps.one?.mailbox
  }

  /**
   * As of now: whatever has appeared for a space has appeared in one of these. Always the same object.
   * @throws StatusError Expired: who began at `after` would miss something, and reads anew
   */
  now(after: Revision = Number.POSITIVE_INFINITY): ByMailbox {
    const { since = 0 } = this.#deps
    if (since > after) throw tooOld(after, 'other spaces are served')
    const fresh = new Map([...this.#stale].map(space => [space, this.#namesIn(space)]))
    for (const names of fresh.values())
      if (names.since > after) throw tooOld(after, 'a location is another cluster, or has another name')
    for (const [space, names] of fresh) {
      this.#replace(space, names)
      this.#stale.delete(space)
    }
    return this.#byMailbox
  }

  /** Calls back when `now` may say another thing. Returns the way to stop. */
  follow(listener: () => void): () => void {
    return this.#deps.places.followClusters(space => {
      if (!this.#deps.spaces.has(space)) return
      this.#stale.add(space)
      listener()
    })
  }

  /** Names are added to, or are others altogether. */
  #replace(space: string, now: Names): void {
    const before = this.#names.get(space)
    if (before === now) return
    this.#names.set(space, now)
    for (const mailbox of before?.byMailbox.keys() ?? []) {
      const sources = this.#byMailbox.get(mailbox)
      if (sources?.delete(space) && sources.size === 0) this.#byMailbox.delete(mailbox)
    }
    for (const [mailbox, cluster] of now.byMailbox) {
      const sources = this.#byMailbox.get(mailbox) ?? new Map<string, Source>()
      this.#byMailbox.set(mailbox, sources.set(space, sourceOf(space, cluster, this.#deps.kept)))
    }
  }

  #namesIn(space: string): Names {
    const { places, names, reader, one } = this.#deps
    if (!one) return names.of(space, places.clusters(space), reader.revision)
    // no id of a space has a slash
    return names.of(`${space}/${one.location}`, [clusterNow(places, space, one)], reader.revision)
  }
}

/** One that no placement leads to any more is read on: its deletions are to come. */
function clusterNow(places: ReportedPlaces, space: string, one: ReportedCluster): ReportedCluster {
  try {
    return places.cluster(space, one.location)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return one
    throw error
  }
}

function tooOld(after: Revision, why: string): StatusError {
  return new StatusError('Expired', `too old resource version: ${after}: ${why}, since`)
}

function sourceOf(space: string, { mailbox, location, isMarked, marks }: ReportedCluster, kept: KeptReports): Source {
  return { mailbox, isMarked, marks, kept, to: { space, location } }
}
