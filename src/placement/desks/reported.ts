/**
 * Reports of clusters for a space are read from its clusters' mailboxes. The translator alone knows the mailbox behind a location
 * of a space, the kinds that the space asks for, and the marks of its copies.
 */
import type { GroupResource } from '../../apimachinery/object.ts'
import type { ReportedMarks } from '../content/reportedObject.ts'

/** A cluster as one space sees it. */
export interface ReportedCluster {
  /** As the space calls it: the beginning of its WorkStatuses' names. */
  readonly location: string
  /** Logical-cluster id of the mailbox. */
  readonly mailbox: string
  /** Whether the space places objects of a custom kind there, or its upsync sets name any and the inventory grants that. */
  uses(kind: GroupResource): boolean
  /** RFC 3339: its last word, where it is silent now. */
  readonly silentSince: string | undefined
  /** Whether any object there has marks now. */
  isMarked(): boolean
  /** Marks of an object now, by its object key. */
  marks(key: string): ReportedMarks | undefined
}

/** `mailbox` is the id of its space, `keys` are object keys. A mailbox that is gone has no marks. */
export type MarksListener = (mailbox: string, keys: readonly string[] | 'all' | 'gone') => void

export interface ReportedPlaces {
  /** @throws StatusError ServiceUnavailable as long as the space's locations are not known; NotFound names them */
  cluster(space: string, location: string): ReportedCluster
  /**
   * Those that placements of the space lead to, and those where something of the space stays. No two have the same name.
   * @throws StatusError ServiceUnavailable as long as they are not known
   */
  clusters(space: string): readonly ReportedCluster[]
  /** Spaces with placements. */
  spaces(): Iterable<string>
  /** Spaces whose clusters or their names may be others, each before its objects appear in a further cluster. The answer ends that. */
  followClusters(listener: (space: string) => void): () => void
  /** Objects whose marks may be others. The answer ends that. */
  follow(listener: MarksListener): () => void
}

/** Makes known who answers. */
export interface ReportedDesk {
  answerBy(places: ReportedPlaces | undefined): void
}
