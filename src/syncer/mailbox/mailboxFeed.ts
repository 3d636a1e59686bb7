/**
 * Keeps the mirror of the mailbox: from the saved state, then from the space stream, for ever. Knows when the mirror is
 * complete, which is what allows deletions.
 */
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { LOGICAL_CLUSTERS } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client, StreamBatch, StreamEvent, StreamOptions } from '../../client/client.ts'
import { retrying } from '../../client/retrying.ts'
import type { WorkRuntime } from '../../client/runtime.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { isEvents } from '../../placement/associated/associated.ts'
import { SPOKEN } from '../../placement/desks/syncProtocol.ts'
import { ASSOCIATED_WITH, isProjected, SYNCER_CONFIGS } from '../../placement/words/placement.ts'
import { keyOf, keyText, type MailboxMirror, type MirrorState, type SyncKey } from './mirror.ts'
import { StateSaver } from './stateSaver.ts'
import type { SyncerState } from './syncerState.ts'
import { isNeverCarried, isSyncConfig } from './syncPlan.ts'

export interface MailboxChange {
  readonly key: SyncKey
  readonly object: Readonly<KubeObject> | undefined
  readonly previous: Readonly<KubeObject> | undefined
  /** Where it stands in the center's order; of what a snapshot does not bring any more, that of the snapshot. */
  readonly revision: number
  /** It is missing, and the center does not know the earlier state: no deletion is known. */
  readonly isInferred?: boolean
}

/** A revision, and the epoch of the center's store that sent it. */
export interface FeedPosition {
  readonly revision: number
  readonly epoch: string
}

interface MailboxFeedOptions extends Omit<WorkRuntime, 'guard'> {
  client: Client
  space: string
  /** As reports to the center name it, whose word lasts as long as the stream. Absent: nothing is reported. */
  session?: string | undefined
  /** Holds the mirror, and keeps it where it can. */
  state: SyncerState
  /** The mirror shows the new state already; `object` is absent when it is gone. */
  onChange(change: MailboxChange): void
  /** The feed is complete up to {@link MailboxFeed.position}, with at least one change; or the center has a new epoch. */
  onProgress?(): void
  /** The center asks something. */
  onQuestion?(question: unknown): void
  /** The mirror holds all of the mailbox and nothing else: after a snapshot, or once a resumed stream has caught up. */
  onComplete(): void
  /** Keys that are retained in the cluster although the mailbox does not hold them. */
  held?(): SyncKey[]
  /** Whether the state is saved: called after each write, failed ones included. */
  onKept?(isKept: boolean): void
}

/** Changes that arrive together are written together. */
const SAVE_DELAY_MS = 1000
/** Only the cursor moves with what is ours. */
const SAVE_CURSOR_DELAY_MS = 120_000

export class MailboxFeed {
  readonly #options: MailboxFeedOptions
  readonly #saver: StateSaver
  #source: StreamSource | undefined
  /** Name of the mailbox, once it is known. */
  #mailbox: string | undefined
  /** Logical-cluster id that the mirror belongs to. */
  #space: string | undefined
  /** Keys of a running snapshot. */
  #seen: Set<string> | undefined
  /** The center knows the earlier state: a missing object was deleted. */
  #isContinued = true
  #isMadeAnew = false
  #isRestored = false
  #wasRestored = false
  /** Removals that an earlier run held. */
  #restoredHold: readonly SyncKey[] = []
  #complete = false
  #ending = false
  #cursor: number | undefined
  /** Epoch of the center's store, for `#cursor` and `#revision`. */
  #epoch: string | undefined
  #revision: number | undefined
  /** Whether the center goes on where the cursor stands. */
  #resumed = false
  /** Where a resumed stream has to arrive to have caught up. */
  #goal: number | undefined
  #protocol: number | undefined
  #reset = new AbortController()

  constructor(options: MailboxFeedOptions) {
    this.#options = options
    const { onKept = () => {} } = options
    this.#saver = new StateSaver({ ...options, current: () => this.#state(), onKept })
    options.state.echoes.onChange(() => this.#saver.schedule(SAVE_DELAY_MS))
  }

  get mirror(): MailboxMirror {
    return this.#options.state.mirror
  }

  get complete(): boolean {
    return this.#complete
  }

  /** Whether a snapshot runs: the mailbox may hold more than is known. */
  get isReading(): boolean {
    return this.#seen !== undefined
  }

  /** Position up to which this run is complete; `undefined` before it knows the whole. */
  get position(): FeedPosition | undefined {
    if (!this.#complete || this.#revision === undefined) return undefined
    return { revision: this.#revision, epoch: this.#epoch ?? '' }
  }

  /** The center was restored from an archive: what it does not know is not for that to be removed. */
  get isRestored(): boolean {
    return this.#isRestored
  }

  /** The same, at any moment of this run: the administrator may have settled it since. */
  get wasRestored(): boolean {
    return this.#wasRestored
  }

  /** The protocol of the center; `undefined` before it is known. */
  get protocol(): number | undefined {
    return this.#protocol
  }

  /** Whether what is known is written down: `false` also when that failed the last time. */
  get isKept(): boolean {
    return this.#saver.isKept
  }

  /** Brings back what an earlier run knew of this mailbox. True when there was something. */
  async restore(mailbox: string): Promise<boolean> {
    const { state, logger } = this.#options
    try {
      const saved = await state.load(mailbox)
      this.#space = saved?.space
      this.#cursor = saved?.cursor
      this.#epoch = saved?.epoch
      this.#restoredHold = saved?.held ?? []
      return saved !== undefined
    } catch (error) {
      logger.warn({ err: error }, 'the saved state cannot be used, reading the whole mailbox instead')
      this.#saver.keeps(false)
      return false
    }
  }

  /** Objects that an earlier run retained in the cluster although the mailbox did not hold them. */
  get restoredHold(): readonly SyncKey[] {
    return this.#restoredHold
  }

  /** Follows the mailbox until the signal aborts, then saves. */
  async run(mailbox: string, signal: AbortSignal): Promise<void> {
    this.#mailbox = mailbox
    while (!signal.aborted) {
      this.#reset = new AbortController()
      this.#source = this.#newSource()
      await this.#source.run(AbortSignal.any([signal, this.#reset.signal]))
    }
    await this.#saver.flush()
  }

  /** To be called at the very end: what is written into the cluster until then is remembered. */
  async close(): Promise<void> {
    await this.#saver.close()
  }

  /**
   * Reads the center's present revision: a resumed stream that has come this far holds every change of the absence. Ends at once without a
   * restored state. A bookmark or any later change of the mailbox brings it there.
   */
  async findGoal(signal: AbortSignal): Promise<void> {
    if (this.#cursor === undefined) return
    const { client, space } = this.#options
    const what = 'asking for the state of the mailbox'
    const list = await retrying({ ...this.#options, what, signal }, () =>
      client.in(space).list(SYNCER_CONFIGS, { limit: 1 }),
    )
    if (list === undefined || this.#complete || this.#cursor === undefined) return
    this.#goal = Number(list.resourceVersion)
    this.#checkGoal()
  }

  #newSource(): StreamSource {
    const { client } = this.#options
    return new StreamSource({
      ...this.#options,
      client: { in: name => client.in(name), stream: options => this.#observed(options) },
      ...(this.#cursor !== undefined && { after: this.#cursor, epoch: this.#epoch }),
      keeps: true,
      protocols: SPOKEN,
      handler: {
        begin: () => {
          this.#seen = new Set()
          this.#isContinued = false
          this.#space = undefined
          this.#ending = false
        },
        change: event => this.#changed(event),
        synced: revision => this.#snapshotDone(revision),
      },
    })
  }

  async *#observed(options: StreamOptions): AsyncGenerator<StreamBatch, void, void> {
    const { client, session, onQuestion } = this.#options
    for await (const batch of client.stream({ ...options, brief: true, session })) {
      if (batch.question !== undefined) {
        onQuestion?.(batch.question)
        continue
      }
      this.#protocol = batch.protocol ?? this.#protocol
      if (batch.epoch !== undefined) this.#isRestored = batch.restored === true
      this.#wasRestored ||= this.#isRestored
      yield batch
      // The batch is in the mirror by now.
      if (this.#seen !== undefined || this.#reset.signal.aborted) continue
      this.#resumed = true
      // a center with a new store does not know what its former epoch sent
      const isOther = batch.epoch !== undefined && batch.epoch !== this.#epoch
      this.#epoch = batch.epoch ?? this.#epoch
      this.#cursor = batch.revision
      this.#revision = batch.revision
      this.#checkGoal()
      if (batch.events.length > 0 || isOther) this.#options.onProgress?.()
      if (batch.events.length === 0) this.#saver.schedule(SAVE_CURSOR_DELAY_MS)
    }
  }

  #changed(event: StreamEvent): void {
    if (this.#reset.signal.aborted) return
    this.#space ??= event.space
    if (event.space !== this.#space) {
      // Another mailbox under the same name: what we know is about the old one.
      this.#isMadeAnew = true
      this.#readAnew('the mailbox was made anew')
      return
    }
    if (isTeardown(event)) this.#end()
    const { group, resource } = event.resource
    const key = { group, resource, namespace: event.namespace, name: event.name }
    const previous = this.mirror.get(key)?.object
    // Events about copies are carried up: those alone. No other text is searched
    const isOfCopy = (): boolean => previous !== undefined || (!event.isKnown && event.mentions(ASSOCIATED_WITH))
    if (isNeverCarried(key) && !(isEvents(key) && isOfCopy())) return
    if (event.isKnown) {
      // sent only by a center with the history of this state
      this.#isContinued = true
      if (this.mirror.stands(key, event)) this.#seen?.add(keyText(key))
      else this.#readAnew('the saved state does not fit the mailbox')
      return
    }
    this.mirror.apply(key, event)
    this.#seen?.add(keyText(key))
    const object = this.mirror.get(key)?.object
    this.#options.onChange({ key, object, previous, revision: event.revision })
    const isEcho = isSyncConfig(key) && equalJson(object?.spec, previous?.spec)
    this.#saver.schedule(isEcho ? SAVE_CURSOR_DELAY_MS : SAVE_DELAY_MS)
  }

  #readAnew(why: string): void {
    this.#options.logger.info({}, `${why}, reading it from the start`)
    this.#cursor = undefined
    this.#goal = undefined
    this.#complete = false
    this.#reset.abort()
  }

  /** The center takes the mailbox away, which is not its wish to empty the cluster: nothing is deleted and nothing saved. */
  #end(): void {
    if (this.#ending) return
    this.#ending = true
    this.#complete = false
    this.#goal = undefined
    this.#options.logger.warn({}, 'the mailbox is being deleted; the cluster keeps what it holds')
  }

  /** The snapshot is whole: what it did not bring is gone. */
  #snapshotDone(revision: number): void {
    const seen = this.#seen ?? new Set()
    this.#seen = undefined
    const isContinued = this.#isContinued || (!this.#isMadeAnew && this.#source?.epoch === this.#epoch)
    this.#isMadeAnew = false
    this.#goal = undefined
    for (const { resource, object } of [...this.mirror.values()]) {
      const key = keyOf(resource, object)
      if (seen.has(keyText(key))) continue
      this.mirror.remove(key)
      const isInferred = !isContinued && isProjected(object)
      this.#options.onChange({ key, object: undefined, previous: object, revision, isInferred })
    }
    this.#revision = revision
    this.#becomeComplete()
    this.#saver.schedule(SAVE_DELAY_MS)
  }

  #checkGoal(): void {
    if (!this.#resumed || this.#goal === undefined || this.#cursor === undefined || this.#cursor < this.#goal) return
    this.#goal = undefined
    this.#becomeComplete()
  }

  #becomeComplete(): void {
    this.#complete = true
    this.#options.onComplete()
  }

  /** The row of the state that fits the mirror now. In the middle of a snapshot the mirror fits no cursor. */
  #state(): MirrorState | undefined {
    const { cursor, epoch } = this.#source ?? {}
    const [mailbox, space] = [this.#mailbox, this.#space]
    if (mailbox === undefined || space === undefined || cursor === undefined || this.#seen !== undefined)
      return undefined
    if (this.#reset.signal.aborted || this.#ending) return undefined
    const held = this.#options.held?.() ?? []
    return { mailbox, space, cursor, epoch, ...(held.length > 0 && { held }) }
  }
}

/** A space has these as long as it lives. */
function isTeardown({ type, resource, name }: StreamEvent): boolean {
  const kind = groupResourceName(resource)
  return (
    type === 'DELETED' &&
    (kind === groupResourceName(LOGICAL_CLUSTERS) || (kind === 'namespaces' && name === 'default'))
  )
}
