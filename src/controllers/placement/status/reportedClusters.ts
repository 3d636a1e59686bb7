/** Finds the mailbox behind a location of a space, for whoever shows reports of clusters. */
import { StatusError } from '../../../apimachinery/errors.ts'
import type { GroupResource } from '../../../apimachinery/object.ts'
import type { MarksListener, ReportedCluster, ReportedPlaces } from '../../../placement/desks/reported.ts'
import { definitionKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { SpaceLocations } from '../join/spaceLocations.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyMarks } from './copyMarks.ts'

export interface ReportedClustersDeps {
  join: Pick<PlacementJoin, 'destinationsOf'>
  locations: Pick<SpaceLocations, 'of'>
  mailbox: (name: string) => Mailbox | undefined
  marks: Pick<CopyMarks, 'of' | 'follow'>
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
    return this.#deps.marks.follow(listener)
  }

  cluster(space: string, location: string): ReportedCluster {
    const { join, locations, isKnown } = this.#deps
    if (!isKnown(space)) throw unknown('the locations of this space are not known yet: the server is starting')
    const { byLabel } = locations.of(space)
    const found = byLabel.get(location)
    if (!found) throw noLocation(location, [...byLabel.keys()])
    const mailbox = this.#deps.mailbox(found.mailbox)
    // an upsync set that is not known would make its kinds unknown
    if (!mailbox?.share) throw unknown(`the mailbox of location ${JSON.stringify(location)} is not ready yet`)
    const { share, name, space: id } = mailbox
    // the definition of what a space places comes along with it
    const places = (kind: GroupResource): boolean => join.destinationsOf(space, definitionKey(kind)).has(name)
    return {
      location,
      mailbox: id,
      uses: kind => places(kind) || share.askedForKind(kind).includes(space),
      marks: key => this.#deps.marks.of(name, space, key),
    }
  }
}

function unknown(message: string): StatusError {
  return new StatusError('ServiceUnavailable', message, { retryAfterSeconds: RETRY_SECONDS })
}

function noLocation(location: string, known: readonly string[]): StatusError {
  const names = known.toSorted().slice(0, NAMED).join(', ')
  const rest = known.length > NAMED ? ` and ${known.length - NAMED} more` : ''
  const where = known.length === 0 ? 'placements of this space lead nowhere' : `they lead to ${names}${rest}`
  const message = `location ${JSON.stringify(location)} not found: no placement of this space leads there; ${where}`
  return new StatusError('NotFound', message, { name: location, kind: 'locations' })
}
