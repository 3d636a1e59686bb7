/** Finds the mailbox behind a location of a space, for whoever shows reports of clusters. */
import { StatusError } from '../../../apimachinery/errors.ts'
import type { GroupResource } from '../../../apimachinery/object.ts'
import { someOf } from '../../../apimachinery/someOf.ts'
import type { MarksListener, ReportedCluster, ReportedPlaces } from '../../../placement/desks/reported.ts'
import { definitionKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { SpaceLocations } from '../join/spaceLocations.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { Mailboxes } from '../mailboxes/mailboxes.ts'
import type { RetainedCopies } from '../retention/retainedCopies.ts'
import type { CopyMarks } from './copyMarks.ts'

export interface ReportedClustersDeps {
  join: Pick<PlacementJoin, 'destinationsOf' | 'workloadSpaces'>
  locations: Pick<SpaceLocations, 'of' | 'behind' | 'changed'>
  mailboxes: Pick<Mailboxes, 'get' | 'known'>
  retained: Pick<RetainedCopies, 'of'>
  marks: Pick<CopyMarks, 'of' | 'isAny' | 'silentSince' | 'changed'>
  /** Whether all is known that a space places, and where. */
  isKnown: (space: string) => boolean
}

const RETRY_SECONDS = 2
/** Locations that a refusal names. */
const NAMED = 10

export class ReportedClusters implements ReportedPlaces {
  readonly #deps: ReportedClustersDeps

  constructor(deps: ReportedClustersDeps) {
    this.#deps = deps
  }

  follow(listener: MarksListener): () => void {
    return this.#deps.marks.changed.on(listener)
  }

  cluster(space: string, location: string): ReportedCluster {
    this.#requireKnown(space)
    const { byLabel } = this.#deps.locations.of(space)
    const found = byLabel.get(location)
    if (!found) throw noLocation(location, [...byLabel.keys()])
    const mailbox = this.#deps.mailboxes.get(found.mailbox)
    // an upsync set that is not known would make its kinds unknown
    if (!mailbox?.share) throw unknown(`the mailbox of location ${JSON.stringify(location)} is not ready yet`)
    return this.#clusterOf(space, location, mailbox, this.#placed(space))
  }

  clusters(space: string): readonly ReportedCluster[] {
    const { locations, mailboxes, retained } = this.#deps
    this.#requireKnown(space)
    const { byMailbox, former } = locations.of(space)
    const left = new Set(former.keys())
    for (const { mailbox } of retained.of(space)) left.add(mailbox)
    const labels = new Map([...byMailbox].map(([name, { label }]) => [name, label]))
    for (const name of left) {
      const label = labels.get(name) ?? locations.behind(space, name)?.label
      if (label !== undefined) labels.set(name, label)
    }
    const placed = this.#placed(space)
    return [...labels].flatMap(([name, label]) => {
      // one that is not ready yet has never had anything
      const mailbox = mailboxes.known(name)
      return mailbox ? this.#clusterOf(space, label, mailbox, placed) : []
    })
  }

  spaces(): Iterable<string> {
    return this.#deps.join.workloadSpaces()
  }

  followClusters(listener: (space: string) => void): () => void {
    return this.#deps.locations.changed.on(listener)
  }

  #requireKnown(space: string): void {
    if (!this.#deps.isKnown(space))
      throw unknown('the locations of this space are not known yet: the server is starting')
  }

  #clusterOf(space: string, location: string, mailbox: Mailbox, placed: Placed): ReportedCluster {
    const { name, space: id, share } = mailbox
    return {
      location,
      mailbox: id,
      uses: kind => placed(kind).has(name) || share?.requestedForKind(kind).includes(space) === true,
      silentSince: this.#deps.marks.silentSince(name),
      isMarked: () => this.#deps.marks.isAny(name),
      marks: key => this.#deps.marks.of(name, space, key),
    }
  }

  /** Names of the mailboxes where a space places a kind, each kind looked up once. */
  #placed(space: string): Placed {
    const known = new Map<string, ReturnType<Placed>>()
    // the definition of what a space places comes along with it
    return kind => {
      const key = definitionKey(kind)
      const found = known.get(key) ?? this.#deps.join.destinationsOf(space, key)
      known.set(key, found)
      return found
    }
  }
}

type Placed = (kind: GroupResource) => Pick<ReadonlyMap<string, unknown>, 'has'>

function unknown(message: string): StatusError {
  return new StatusError('ServiceUnavailable', message, { retryAfterSeconds: RETRY_SECONDS })
}

function noLocation(location: string, known: readonly string[]): StatusError {
  const names = someOf(known.toSorted(), NAMED)
  const where = known.length === 0 ? 'placements of this space lead nowhere' : `they lead to ${names}`
  const message = `location ${JSON.stringify(location)} not found: no placement of this space leads there; ${where}`
  return new StatusError('NotFound', message, { name: location, kind: 'locations' })
}
