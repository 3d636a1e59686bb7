/**
 * Where syncers' words of their clusters come in. They are handed to whoever keeps account of them in this process. Nothing is
 * stored, so that reporting costs no write.
 */
import type { OutcomeAnswer, OutcomeReceiver, OutcomeReport, OutcomeSource } from '../../apimachinery/outcome.ts'
import { isMailbox, SYNCER_CONFIG_NAME } from '../../apimachinery/placement.ts'
import type { Clock } from '../../client/clock.ts'
import type { UserInfo } from '../auth/types.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { isSyncerOf } from './syncerIdentity.ts'

/** Streams end now and then, and are taken up again within this time. */
const RESUME_MS = 5000

export class OutcomeInbox implements OutcomeSource {
  readonly epoch: string
  readonly #tree: Pick<SpaceTree, 'pathOf'>
  readonly #clock: Clock
  #receiver: OutcomeReceiver | undefined
  /** Open streams of syncers, by mailbox. */
  readonly #readers = new Map<string, number>()
  /** Ends the wait for a stream that is to come back. */
  readonly #lapses = new Map<string, () => void>()

  /** `epoch`: the life of the store that is going on. */
  constructor(tree: Pick<SpaceTree, 'pathOf'>, epoch: string, clock: Clock) {
    this.#tree = tree
    this.epoch = epoch
    this.#clock = clock
  }

  deliverTo(receiver: OutcomeReceiver | undefined): void {
    this.#receiver = receiver
  }

  /** A stream of a mailbox begins; what is answered is to be called at its end. A syncer without one has lost its connection. */
  reading(space: string, user: UserInfo): () => void {
    if (!isSyncerOf(user, this.#tree)) return () => {}
    this.#lapses.get(space)?.()
    this.#lapses.delete(space)
    this.#readers.set(space, (this.#readers.get(space) ?? 0) + 1)
    return () => {
      const left = (this.#readers.get(space) ?? 1) - 1
      if (left > 0) this.#readers.set(space, left)
      else {
        this.#readers.delete(space)
        const lapse = this.#clock.after(RESUME_MS, () => {
          this.#lapses.delete(space)
          this.#receiver?.silent(space)
        })
        this.#lapses.set(space, lapse)
      }
    }
  }

  /** Whether the space is one whose syncer reports, and under this name. */
  isOpen(space: string, name: string): boolean {
    return name === SYNCER_CONFIG_NAME && isMailbox(this.#tree.pathOf(space) ?? '')
  }

  /** Where nobody keeps account of it, now or at all, it does not count. */
  take(space: string, report: OutcomeReport): OutcomeAnswer {
    return this.#receiver?.take(space, report) ?? { epoch: '', again: true }
  }
}
