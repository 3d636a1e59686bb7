/** Where a reader of reports finds them: mailboxes, and for whom and under which names it reads each. */
import { StatusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
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

export interface ReportedSources {
  /** The one mailbox whose range of the log is read; absent: the logs of all. */
  readonly only?: string
  /**
   * As of now: whatever has appeared for a space has appeared in one of these. The same object for the same names.
   * @throws StatusError Expired: who began at `after` reads anew
   */
  now(after?: Revision): ByMailbox
  /** Calls back when `now` may say another thing. Returns the way to stop. */
  follow(listener: () => void): () => void
  /** @throws StatusError Expired where a watch from `after` would miss something */
  requireFrom(after: Revision): Promise<void>
}

export interface OneSourceDeps {
  reader: KindReader
  space: string
  cluster: ReportedCluster
  kept: KeptReports
  /** LogicalClusters, of which each mailbox has one from its birth. */
  births: ResourceType | undefined
}

/** One cluster for one space. */
export function oneSource({ reader, space, cluster, kept, births }: OneSourceDeps): ReportedSources {
  const { mailbox } = cluster
  const byMailbox: ByMailbox = new Map([[mailbox, [sourceOf(space, cluster, kept)]]])
  const isThere = async (at: object): Promise<boolean> =>
    (await reader.list(births!, { space: mailbox, ...at })).items.length > 0
  return {
    only: mailbox,
    now: () => byMailbox,
    follow: () => () => {},
    /** Before its birth the location's name was another cluster's, whose objects went unseen. */
    async requireFrom(after) {
      if (births === undefined || after === reader.revision) return
      if (await isThere({ resourceVersion: `${after}`, resourceVersionMatch: 'Exact' })) return
      if (await isThere({}))
        throw new StatusError('Expired', `too old resource version: ${after}: the location is another cluster since`)
    },
  }
}

export interface AllSourcesDeps {
  places: ReportedPlaces
  names: ReportedNames
  kept: KeptReports
  reader: Pick<KindReader, 'revision'>
  /** Logical-cluster ids of those for which is read. */
  spaces: ReadonlySet<string>
}

/** All clusters of some spaces. */
export class AllSources implements ReportedSources {
  readonly #deps: AllSourcesDeps
  #names: ReadonlyMap<string, Names> = new Map()
  #byMailbox: ByMailbox = new Map()
  /** Spaces whose names may be others by now. */
  #stale: Set<string>

  constructor(deps: AllSourcesDeps) {
    this.#deps = deps
    this.#stale = new Set(deps.spaces)
  }

  now(after = Number.POSITIVE_INFINITY): ByMailbox {
    const { places, names, reader } = this.#deps
    const now = new Map(this.#names)
    for (const space of this.#stale) {
      const known = names.of(space, places.clusters(space), reader.revision)
      if (known.since > after)
        throw new StatusError('Expired', `too old resource version: ${after}: a location has another name since`)
      now.set(space, known)
    }
    if ([...this.#stale].some(space => this.#names.get(space) !== now.get(space)))
      this.#byMailbox = inverse(now, this.#deps.kept)
    this.#stale.clear()
    this.#names = now
    return this.#byMailbox
  }

  follow(listener: () => void): () => void {
    return this.#deps.places.followClusters(space => {
      if (!this.#deps.spaces.has(space)) return
      this.#stale.add(space)
      listener()
    })
  }

  async requireFrom(after: Revision): Promise<void> {
    this.now(after)
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
