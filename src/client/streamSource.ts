/**
 * Keeps a handler in step with a space stream for ever. It reconnects with jittered backoff from its cursor. It starts over with a
 * snapshot, marked as such, when the cursor is too old or of a future that the server has lost. Used by controllers over all spaces and by
 * the syncer.
 */
import { isStatusError } from '../apimachinery/errors.ts'
import type { GroupResource, GroupVersionResource } from '../apimachinery/object.ts'
import type { ProtocolRange } from '../placement/desks/syncProtocol.ts'
import type { Work } from '../program/workTurns.ts'
import { backoffMs, type Random } from './backoff.ts'
import type { Client, StreamEvent } from './client.ts'
import { type Clock, pause } from './clock.ts'
import type { Source } from './controller.ts'
import { isFutureVersion } from './futureVersion.ts'
import type { WorkRuntime } from './runtime.ts'
import { Intake, type Waiting } from './setAside/intake.ts'
import { isSpaceGone } from './spaceGone.ts'

/** Names one object of one space. */
export interface StreamedRef {
  readonly space: string
  readonly resource: GroupVersionResource
  readonly namespace: string
  readonly name: string
}

/**
 * Called in order. An error of `change` is logged; the event is then skipped. Many events of one batch are delivered in several turns of
 * the loop.
 */
export interface StreamHandler {
  /** A snapshot begins: from here to `synced`, `change` tells everything that exists (all `ADDED`). It may begin again. */
  begin?(): void
  change(event: StreamEvent): void
  /** An object that was known before the snapshot is not part of it: it was deleted while nobody listened. */
  vanished?(ref: StreamedRef): void
  /** The snapshot of that revision is complete (and `vanished` calls are done). Resumed connections have none. */
  synced?(revision: number): void
  /**
   * Objects of the snapshot that wait because an earlier process ended amid them: until none does, it is not complete. `isAllElse`: `change`
   * has had all the others.
   */
  waits?(objects: readonly Waiting[], isAllElse: boolean): void
}

export interface StreamSourceOptions extends WorkRuntime {
  client: Client
  /** A space's id or path, or `*`. */
  space: string
  /** Default: every resource. */
  resources?: readonly GroupResource[]
  handler: StreamHandler
  /** Resume behind this cursor instead of starting with a snapshot: the caller still has what it saw up to there. */
  after?: number
  /** In which life of the center's store that was. */
  epoch?: string | undefined
  /** Protocols that a syncer supports. */
  protocols?: ProtocolRange
  /** The handler keeps the objects, so that a snapshot may give unchanged ones by name. */
  keeps?: boolean
  /**
   * Owner of the turns there: of many streams with events at a time, others wait for one turn. Default: all without an owner.
   */
  owner?: string
}

const RECONNECT = { baseMs: 200, maxMs: 15_000 }
/** The end of a space reaches its stream before it reaches who ends that: news only when it is so after several tries. */
const GONE_PATIENCE = 5

export class StreamSource implements Source {
  readonly synced: Promise<void>
  readonly #options: StreamSourceOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #resolveSynced: () => void
  readonly #work: Work
  /** Known objects by identity; kept only for a handler that wants `vanished`. */
  #known = new Map<string, StreamedRef>()
  #snapshot: Map<string, StreamedRef> | undefined
  #cursor: number | undefined
  #epoch: string | undefined
  /** A cursor that is too old to go on from. */
  #lapsed: { revision: number; epoch: string } | undefined
  /** Intake of the present snapshot. */
  #intake: Intake | undefined
  /** Nobody listens any more. Signals are slow to say so for each batch. */
  #isOver = false

  constructor(options: StreamSourceOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#random = options.random
    this.#cursor = options.after
    this.#epoch = options.epoch
    this.#work = options.turns.begin({ owner: options.owner ?? '' })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.synced = promise
    this.#resolveSynced = resolve
  }

  /** Where the next connection starts; `undefined` until a snapshot was complete. */
  get cursor(): number | undefined {
    return this.#cursor
  }

  /** The life of the center's store that the cursor belongs to; `undefined` where it did not say. */
  get epoch(): string | undefined {
    return this.#epoch
  }

  async run(signal: AbortSignal): Promise<void> {
    const end = (): void => {
      this.#isOver = true
    }
    this.#isOver = signal.aborted
    signal.addEventListener('abort', end)
    try {
      await this.#follow(signal)
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { logger, space } = this.#options
    let failures = 0
    while (!signal.aborted) {
      try {
        const progressed = await this.#connect(signal)
        failures = progressed ? 0 : failures + 1
      } catch (error) {
        if (signal.aborted) return
        if (this.#cursor !== undefined && (isStatusError(error, 'Expired', 'Gone') || isFutureVersion(error))) {
          logger.info(
            { space, cursor: this.#cursor, err: error },
            'stream cannot resume, starting over with a snapshot',
          )
          if (this.#options.keeps && this.#epoch) this.#lapsed = { revision: this.#cursor, epoch: this.#epoch }
          this.#cursor = undefined
          this.#epoch = undefined
          failures = 0
          continue
        }
        failures++
        const level = failures < GONE_PATIENCE && isSpaceGone(error, space) ? 'info' : 'warn'
        logger[level]({ space, err: error, failures }, 'stream broke, connecting again')
      }
      // also after a quiet end: a server that ends every stream at once must not be hammered
      if (!signal.aborted) await pause(this.#clock, backoffMs(failures + 1, RECONNECT, this.#random), signal)
    }
  }

  /** One connection, until it ends. Whether it brought the cursor forward. */
  async #connect(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#listen(signal)
    } finally {
      this.#intake?.end()
      this.#intake = undefined
    }
  }

  async #listen(signal: AbortSignal): Promise<boolean> {
    const { client, space, resources, protocols } = this.#options
    let progressed = false
    if (this.#cursor === undefined) this.#beginSnapshot()
    const stream = client.stream({
      space,
      signal,
      ...(resources && { resources }),
      ...(protocols && { protocols }),
      ...(this.#cursor === undefined && this.#lapsed && { known: this.#lapsed.revision, epoch: this.#lapsed.epoch }),
      ...(this.#cursor !== undefined && { after: this.#cursor, epoch: this.#epoch }),
    })
    for await (const batch of stream) {
      if (this.#isOver) break
      this.#epoch = batch.epoch ?? this.#epoch
      for (const event of batch.events) {
        this.#deliver(event)
        // a space that is deleted is one batch of all its objects
        if (!this.#work.due) continue
        await this.#work.rest()
        if (signal.aborted) return progressed
      }
      this.#intake?.reached(batch.revision, batch.synced)
      // until the snapshot is complete there is nothing to resume from
      if (!this.#intake) {
        this.#cursor = batch.revision
        progressed = true
      }
    }
    return progressed
  }

  #beginSnapshot(): void {
    const { space, handler, guard, logger } = this.#options
    // the handler knows the objects of an unfinished snapshot, and they may be gone from the next one
    for (const [id, ref] of this.#snapshot ?? []) this.#known.set(id, ref)
    this.#snapshot = handler.vanished ? new Map() : undefined
    this.#intake = new Intake({
      guard,
      stream: space,
      logger,
      take: event => this.#notify(event),
      waits: (...waiting) => handler.waits?.(...waiting),
      complete: revision => {
        this.#intake = undefined
        this.#finishSnapshot(revision)
        this.#cursor = revision
        this.#lapsed = undefined
      },
    })
    handler.begin?.()
  }

  #deliver(event: StreamEvent): void {
    if (this.#intake) this.#intake.take(event)
    else this.#notify(event)
  }

  #notify(event: StreamEvent): void {
    const { handler } = this.#options
    if (handler.vanished) this.#track(event)
    try {
      handler.change(event)
    } catch (error) {
      this.#failed(event, error)
    }
  }

  #track(event: StreamEvent): void {
    const { space, resource, namespace, name } = event
    const id = `${space}|${resource.group}|${resource.resource}|${namespace}|${name}`
    const known = this.#snapshot ?? this.#known
    if (event.type === 'DELETED') known.delete(id)
    else known.set(id, { space, resource, namespace, name })
  }

  #finishSnapshot(revision: number): void {
    const { handler } = this.#options
    if (this.#snapshot && handler.vanished) {
      const before = this.#known
      this.#known = this.#snapshot
      this.#snapshot = undefined
      for (const [id, ref] of before) if (!this.#known.has(id)) this.#vanished(ref)
    }
    handler.synced?.(revision)
    this.#resolveSynced()
  }

  #vanished(ref: StreamedRef): void {
    try {
      this.#options.handler.vanished?.(ref)
    } catch (error) {
      this.#failed(ref, error)
    }
  }

  /** One bad object must not cost the others their news. */
  #failed({ space, resource, namespace, name }: StreamedRef, error: unknown): void {
    this.#options.logger.error({ space, resource, namespace, name, err: error }, 'handler failed, event skipped')
  }
}
