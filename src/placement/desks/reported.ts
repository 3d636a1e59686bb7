/**
 * Reports of clusters for a space are read from its clusters' mailboxes. Only whoever places knows the mailbox behind a location of a
 * space, and the kinds that the space asks its cluster for.
 */
import type { GroupResource } from '../../apimachinery/object.ts'

/** A cluster as one space sees it. */
export interface ReportedCluster {
  /** As the space calls it: the beginning of its WorkStatuses' names. */
  readonly location: string
  /** Logical-cluster id of the mailbox. */
  readonly mailbox: string
  /** Whether the space places objects of a custom kind there, or its upsync sets name any and the inventory grants that. */
  uses(kind: GroupResource): boolean
}

export interface ReportedPlaces {
  /** @throws StatusError ServiceUnavailable as long as the space's locations are not known; NotFound names them */
  cluster(space: string, location: string): ReportedCluster
}

/** Makes known who answers. */
export interface ReportedDesk {
  answerBy(places: ReportedPlaces | undefined): void
}
