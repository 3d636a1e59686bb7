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

/** By logical-cluster id of the mailbox; several spaces may read one. */
export type ByMailbox = ReadonlyMap<string, readonly Source[]>

export interface ReportedSourcesDeps {
  places: ReportedPlaces
  names: ReportedNames
  kept: KeptReports
  reader: Pick<KindReader, 'revision'>
  /** Logical-cluster ids of those for which is read. */
  spaces: ReadonlySet<string>
  /** The one cluster that is read, for the one space. Absent: all of them. */
  one?: ReportedCluster
}

export class ReportedSources {
  readonly #deps: ReportedSourcesDeps
  #names: ReadonlyMap<string, Names> = new Map()
  #byMailbox: ByMailbox = new Map()
  /** Spaces whose names may be others by now. */
  #stale: Set<string>

  constructor(deps: ReportedSourcesDeps) {
    this.#deps = deps
    this.#stale = new Set(deps.spaces)
  }

  /** The one mailbox whose range of the log is read; absent: the logs of all. */
  get only(): string | undefined {
    return this.#deps.one?.mailbox
  }

  /**
   * As of now: whatever has appeared for a space has appeared in one of these. The same object for the same names.
   * @throws StatusError Expired: who began at `after` would miss something, and reads anew
   */
  now(after: Revision = Number.POSITIVE_INFINITY): ByMailbox {
    const now = new Map(this.#names)
    for (const space of this.#stale) {
      const known = this.#namesIn(space)
      if (known.since > after)
        throw new StatusError(
          'Expired',
          `too old resource version: ${after}: a location is another cluster, or has another name, since`,
        )
      now.set(space, known)
    }
    if ([...this.#stale].some(space => this.#names.get(space) !== now.get(space)))
      this.#byMailbox = inverse(now, this.#deps.kept)
    this.#stale.clear()
    this.#names = now
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

function inverse(names: ReadonlyMap<string, Names>, kept: KeptReports): ByMailbox {
  const byMailbox = new Map<string, Source[]>()
  for (const [space, known] of names) {
    for (const [mailbox, cluster] of known.byMailbox) {
      const source = sourceOf(space, cluster, kept)
      const others = byMailbox.get(mailbox)
      if (others) others.push(source)
      else byMailbox.set(mailbox, [source])
    }
  }
  return byMailbox
}

function sourceOf(space: string, { mailbox, location, isMarked, marks }: ReportedCluster, kept: KeptReports): Source {
  return { mailbox, isMarked, marks, kept, to: { space, location } }
}
