/**
 * Where syncers' words of their clusters come in. They are handed to whoever keeps account of them in this process. Nothing is
 * stored, so that reporting costs no write.
 */
import { Counts } from '../../apimachinery/counts.ts'
import { isStatusError } from '../../apimachinery/errors.ts'
import type { Clock } from '../../client/clock.ts'
import { agreedProtocol, type ProtocolRange } from '../../placement/desks/syncProtocol.ts'
import {
  type OutcomeAnswer,
  type OutcomeReceiver,
  type OutcomeReport,
  type OutcomeSource,
  requireReached,
  type SyncerListener,
} from '../../placement/outcome/outcome.ts'
import { isMailbox, SYNCER_CONFIG_NAME } from '../../placement/words/placement.ts'
import type { UserInfo } from '../auth/types.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { isSyncerOf } from './syncerIdentity.ts'

/**
 * Delay of clusters' news for each connected one: a change that goes to all reaches the last before the first reports it. It is
 * about the cost of one copy's change.
 */
const GATHER_MS = 0.25
const MOST_GATHER_MS = 1000
/** Streams end now and then, and are taken up again within this time. */
const RESUME_MS = 5000

/** Reader of a stream. */
export interface Reader {
  readonly protocols: ProtocolRange
  /** As its reports name it. */
  readonly session?: string | undefined
}

export interface OutcomeInboxDeps {
  tree: Pick<SpaceTree, 'pathOf'>
  /** The life of the store that is going on. */
  epoch: string
  /** Its newest. */
  revision: () => number
  restoredAt?: () => string | undefined
  clock: Clock
}

export class OutcomeInbox implements OutcomeSource {
  readonly epoch: string
  readonly #tree: Pick<SpaceTree, 'pathOf'>
  readonly #revision: () => number
  readonly #restoredAt: () => string | undefined
  readonly #clock: Clock
  #receiver: OutcomeReceiver | undefined
  readonly #listeners = new Set<SyncerListener>()
  /** Mailboxes that are read: how many streams each has, and the protocol of the one that was opened last. */
  readonly #readers = new Map<string, { streams: number; protocol: number }>()
  /** How many open streams a session has, by mailbox and session. */
  readonly #streams = new Counts()
  /** Ends the wait for a stream that is to come back, by the same. */
  readonly #lapses = new Map<string, () => void>()

  constructor({ tree, epoch, revision, restoredAt = () => undefined, clock }: OutcomeInboxDeps) {
    this.#tree = tree
    this.epoch = epoch
    this.#revision = revision
    this.#restoredAt = restoredAt
    this.#clock = clock
  }

  get restoredAt(): string | undefined {
    return this.#restoredAt()
  }

  settled(): void {
    this.#receiver?.settled()
  }

  deliverTo(receiver: OutcomeReceiver | undefined): void {
    this.#receiver = receiver
  }

  follow(listener: SyncerListener): () => void {
    this.#listeners.add(listener)
    for (const [space, { protocol }] of this.#readers) listener.opened(space, protocol)
    return () => this.#listeners.delete(listener)
  }

  /** The syncer of a mailbox lives: any message proves it. */
  seen(space: string): void {
    for (const listener of this.#listeners) listener.seen(space)
  }

  /**
   * A stream of a mailbox begins; what is answered is to be called at its end. A syncer without one has lost its connection.
   * @throws StatusError NotAcceptable when center and syncer have no protocol in common
   */
  reading(space: string, user: UserInfo, { protocols, session }: Reader): () => void {
    if (!isSyncerOf(user, this.#tree)) return () => {}
    const protocol = this.#agreed(space, protocols)
    const sessionEnds = session === undefined ? undefined : this.#keep(space, session)
    this.#readers.set(space, { streams: (this.#readers.get(space)?.streams ?? 0) + 1, protocol })
    // it is the same one, or the one that takes over from it
    for (const listener of this.#listeners) listener.opened(space, protocol)
    return () => {
      sessionEnds?.()
      const left = this.#readers.get(space)!
      if (--left.streams > 0) return
      this.#readers.delete(space)
      for (const listener of this.#listeners) listener.closed(space)
    }
  }

  /** The word of a session lasts as long as the streams that name it, whoever else reads the mailbox. The answer ends one. */
  #keep(space: string, session: string): () => void {
    const id = `${space}/${session}`
    this.#lapses.get(id)?.()
    this.#lapses.delete(id)
    this.#streams.add(id, 1)
    return () => {
      if (this.#streams.add(id, -1) > 0) return
      const lapse = this.#clock.after(RESUME_MS, () => {
        this.#lapses.delete(id)
        this.#receiver?.silent(space, session)
      })
      this.#lapses.set(id, lapse)
    }
  }

  #agreed(space: string, protocols: ProtocolRange): number {
    try {
      return agreedProtocol(protocols)
    } catch (error) {
      if (isStatusError(error, 'NotAcceptable'))
        for (const listener of this.#listeners) listener.turnedAway(space, error.message)
      throw error
    }
  }

  /** How long syncers are to let news wait before they tell them. */
  get gatherMs(): number {
    return Math.min(Math.floor(this.#readers.size * GATHER_MS), MOST_GATHER_MS)
  }

  /** Whether the space is one whose syncer reports, and under this name. */
  isOpen(space: string, name: string): boolean {
    return name === SYNCER_CONFIG_NAME && isMailbox(this.#tree.pathOf(space) ?? '')
  }

  /**
   * Where nobody keeps account of it, now or at all, it does not count.
   * @throws StatusError BadRequest when it says something of revisions that there are not
   */
  take(space: string, report: OutcomeReport): OutcomeAnswer {
    // a report of another epoch counts nothing anyway, and the syncer receives the present one
    if (report.epoch === this.epoch) requireReached(report, this.#revision())
    this.seen(space)
    return this.#receiver?.take(space, report) ?? { epoch: '', again: true }
  }
}
