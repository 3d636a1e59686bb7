/**
 * The two sides of a syncer as it sees them. Each is a connection with a state; the cluster's has a pace, and the conditions of its writes.
 */

import { writesAfter } from '../../client/aroundCalls.ts'
import type { Client, SpaceClient } from '../../client/client.ts'
import type { Logger } from '../../client/logger.ts'
import type { Runtime } from '../../client/runtime.ts'
import { ClusterLease } from './lease.ts'
import { Link, type LinkState } from './link.ts'
import { quietLogger } from './quietLogger.ts'
import { rateLimited, TokenBucket } from './rateLimit.ts'

interface SidesOptions extends Runtime {
  center: Client
  space: string
  /** The mailbox by a credential that begins no session. Default: by that of `center`. */
  looking?: SpaceClient | undefined
  cluster: SpaceClient
  impersonate?: ((user: string) => SpaceClient) | undefined
  lease?: { holder: string; durationMs: number } | undefined
  limit?: { qps: number; burst: number } | undefined
  signal: AbortSignal
  /** The cluster became out of reach, or answers again. */
  onReach: (isUp: boolean) => void
  /** The Lease shows the cluster as it was at an earlier moment. */
  onRolledBack: () => void
  /** Another syncer has the Lease. */
  onLost: () => void
  /** Resolves once it is known whose the cluster is that answers. */
  known: () => Promise<void>
}

export class Sides {
  readonly center: Client
  readonly mailbox: SpaceClient
  readonly looking: SpaceClient
  /** For the syncer's own notes, which it writes before it serves. */
  readonly plainCluster: SpaceClient
  /** Writes here happen while the Lease is held, and into the known cluster. */
  readonly cluster: SpaceClient
  /** The same in the name of a user. */
  readonly as: ((user: string) => SpaceClient) | undefined
  readonly lease: ClusterLease | undefined
  /** Says the trouble of a side once. */
  readonly logger: Logger
  readonly #centerLink: Link
  readonly #clusterLink: Link

  constructor(options: SidesOptions) {
    const { clock, signal, space, impersonate, limit, known, onReach } = options
    this.#centerLink = new Link({
      name: 'the center',
      refusedHint:
        'its token is wrong, expired or revoked, or its mailbox was made anew; make another one with ' +
        '"kubectl kubestellar syncer rotate"',
      logger: options.logger,
    })
    this.#clusterLink = new Link({
      name: 'the cluster',
      refusedHint: 'its token or certificate is wrong, expired or revoked',
      onChange: onReach,
      logger: options.logger,
    })
    const isReported = (error: unknown): boolean =>
      this.#centerLink.isReported(error) || this.#clusterLink.isReported(error)
    this.logger = quietLogger({ logger: options.logger, isReported, clock })
    const { logger } = this

    this.center = this.#centerLink.watchOverAll(options.center)
    this.mailbox = this.center.in(space)
    this.looking = options.looking ? this.#centerLink.watchOver(options.looking) : this.mailbox
    const lease =
      options.lease &&
      new ClusterLease({
        ...options,
        ...options.lease,
        logger,
        // without the pace of all else: a Lease that waits is lost
        cluster: this.#clusterLink.watchOver(options.cluster),
      })
    const bucket = limit && new TokenBucket({ ...limit, clock, signal })
    const paced = (client: SpaceClient): SpaceClient =>
      this.#clusterLink.watchOver(bucket ? rateLimited(client, bucket) : client)
    const fenced = (client: SpaceClient): SpaceClient =>
      writesAfter(paced(lease ? lease.fenced(client) : client), known)
    this.lease = lease
    this.plainCluster = paced(options.cluster)
    this.cluster = fenced(options.cluster)
    this.as = impersonate && ((user: string) => fenced(impersonate(user)))
  }

  /** The state of either link. */
  get states(): { center: LinkState; cluster: LinkState } {
    return { center: this.#centerLink.state, cluster: this.#clusterLink.state }
  }
}
