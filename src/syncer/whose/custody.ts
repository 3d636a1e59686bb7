/**
 * Custody: the proof, for as long as a syncer runs, that mailbox and cluster belong together. It is established before the syncer serves,
 * watched while it does, and established again after the cluster was out of sight. A contradiction ends the syncer. identity.ts judges one
 * moment.
 */
import type { SpaceClient } from '../../client/client.ts'
import { TerminalError } from '../../client/reconcileFailures.ts'
import { retrying } from '../../client/retrying.ts'
import type { Runtime } from '../../client/runtime.ts'
import {
  type ClusterRecord,
  forgetConfirmation,
  forgetMailbox,
  isFrom,
  type Mailbox,
  watchRecord,
} from './clusterRecord.ts'
import { checkClaim, checkNote, checkSpace, claim, claimAgain, handedOver, noteAgain, recordOf } from './identity.ts'
import { checkSyncTarget, mailboxOf, requireOtherServer } from './places.ts'

interface CustodyDeps extends Runtime {
  mailbox: SpaceClient
  /** The same mailbox, to look at: it begins no session, so that a syncer that serves goes on. */
  looking: SpaceClient
  /** For notes, which are written before anything is served. */
  cluster: SpaceClient
  /** Where the center's kubeconfig leads to. */
  space: string
  /** Uid of the SyncTarget that the mailbox must be for. Absent: any. */
  syncTargetUid?: string | undefined
  /** Whether this syncer is the one that serves the cluster. */
  isServing: () => boolean
  /** Whether it is on its way out of the cluster. */
  isLeaving: () => boolean
  /** Takes the confirmation on the note, whenever it may have changed. */
  onConfirmed: (hash: string | undefined) => void
  /** Mailbox and cluster do not belong together: the syncer is to end. See {@link Custody.refusal}. */
  onRefused: () => void
  signal: AbortSignal
}

export class Custody {
  readonly #deps: CustodyDeps
  #refusal: string | undefined
  /** The note by which the cluster is recognized. */
  #noted: ClusterRecord | undefined

  constructor(deps: CustodyDeps) {
    this.#deps = deps
  }

  /** Why mailbox and cluster do not belong together, as a line for whoever started the syncer. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  /** The cluster's own record, before the center's answer; `undefined` also when that ends the syncer. */
  async record(): Promise<ClusterRecord | undefined> {
    const { cluster, space, onConfirmed } = this.#deps
    return await this.#orRefuse(async () => {
      const found = await this.#persist(ASKING_WHOSE, () => recordOf(cluster))
      if (found !== undefined) checkSpace(found, space)
      onConfirmed(found?.confirmed)
      return found
    })
  }

  /** The record is enough to serve by: the state of an earlier run is of that mailbox. */
  trust(record: ClusterRecord): void {
    this.#noted ??= record
  }

  /**
   * Looks, before a session ends that of another syncer and before this one stands by, whether mailbox and cluster belong together.
   * `undefined` when the syncer ends. `onUnknown`: a side does not answer now, and the look is repeated.
   */
  async look(onUnknown: () => void): Promise<true | undefined> {
    const { looking, cluster, syncTargetUid } = this.#deps
    return await this.#orRefuse(() =>
      this.#persist('looking whether mailbox and cluster belong together', async () => {
        try {
          const given = await mailboxOf(looking)
          if (syncTargetUid !== undefined) checkSyncTarget(given.name, syncTargetUid)
          await requireOtherServer(looking, cluster)
          await checkClaim(cluster, given, looking)
          return true as const
        } catch (error) {
          if (!(error instanceof TerminalError)) onUnknown()
          throw error
        }
      }),
    )
  }

  /** Asks center and cluster, and notes the mailbox in a cluster that knows none. `undefined` when the syncer ends. */
  async identify(): Promise<Mailbox | undefined> {
    return await this.#orRefuse(async () => {
      const { mailbox, cluster, syncTargetUid } = this.#deps
      const given = await this.#persist('asking which mailbox this is', () => mailboxOf(mailbox))
      if (given === undefined) return undefined
      if (syncTargetUid !== undefined) checkSyncTarget(given.name, syncTargetUid)
      await this.#persist('asking whether the cluster is the center itself', () => requireOtherServer(mailbox, cluster))
      this.#noted = await this.#persist('asking whether the cluster is served from this mailbox', () =>
        claim(cluster, given, mailbox),
      )
      return given
    })
  }

  /** Whether the cluster has a note; `undefined` when the syncer ends. */
  async isNoted(): Promise<boolean | undefined> {
    return await this.#persist(ASKING_WHOSE, async () => (await recordOf(this.#deps.cluster)) !== undefined)
  }

  /** Until the syncer ends: somebody may hand the cluster over meanwhile, or delete the note by mistake. */
  async guard(given: Mailbox): Promise<void> {
    const { cluster, isServing, isLeaving, onConfirmed, signal } = this.#deps
    let writing: Promise<unknown> = Promise.resolve()
    const changed = (now: ClusterRecord | undefined): void => {
      if (isLeaving() && now === undefined) return // by us
      if (now === undefined && !isServing()) return // the one that serves may be leaving
      if (now === undefined) writing = this.#noteAgain(given)
      else if (!isFrom(now, given)) this.#refuse(handedOver(now, given))
      // the one before may have been replaced by a cluster that was just noted
      else if (now.cluster !== this.#noted?.cluster) writing = Promise.all([writing, this.#checkIsOurs()])
      onConfirmed(now?.confirmed)
    }
    await watchRecord({ ...this.#deps, client: cluster }, signal, changed)
    await writing
  }

  /** Whether the cluster that answers again is the one that was served, or may be served from now on in its place. */
  async recognize(): Promise<boolean> {
    const known = this.#noted
    // whose it is was not found out yet: that comes before all else
    if (known === undefined) return true
    const { mailbox, cluster, isLeaving } = this.#deps
    const found = await this.#orRefuse(() =>
      this.#persist('asking whether the cluster is still the same', () =>
        claimAgain(cluster, known, { mailbox, isLeaving: isLeaving() }),
      ),
    )
    this.#noted = found ?? this.#noted
    return found !== undefined
  }

  /** The note's confirmation has had its effect. */
  async forgetConfirmation(confirmed: string, what: string): Promise<void> {
    await this.#persist(what, () => forgetConfirmation(this.#deps.cluster, confirmed))
  }

  /** Takes the note away: the cluster has left. @throws StatusError when that cannot be done now */
  async forgetMailbox(): Promise<void> {
    await forgetMailbox(this.#deps.cluster)
  }

  async #noteAgain(given: Mailbox): Promise<void> {
    await this.#orRefuse(() =>
      this.#persist('noting the mailbox in the cluster again', () => noteAgain(this.#deps.cluster, given)),
    )
  }

  async #checkIsOurs(): Promise<void> {
    await this.#orRefuse(() =>
      this.#persist("asking whether the note is this cluster's", () => checkNote(this.#deps.cluster)),
    )
  }

  async #persist<T>(what: string, attempt: () => Promise<T>): Promise<T | undefined> {
    return await retrying({ ...this.#deps, what }, attempt)
  }

  /** `undefined` when the syncer ends, because of what it was given or for another reason. */
  async #orRefuse<T>(find: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      const found = await find()
      return this.#deps.signal.aborted ? undefined : found
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error
      this.#refuse(error)
      return undefined
    }
  }

  #refuse({ message }: TerminalError): void {
    this.#refusal ??= message
    this.#deps.onRefused()
  }
}

const ASKING_WHOSE = 'asking from which mailbox the cluster is served'
