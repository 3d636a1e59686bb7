/**
 * The telling of one snapshot to a controller, noted in case the process ends of it. An object of which an earlier process ended
 * waits, and with it the snapshot: to whoever decides on what is there it would look deleted.
 */
import type { StreamEvent } from '../client.ts'
import type { Logger } from '../logger.ts'
import type { KeyGuard, KeyHold } from './keyGuard.ts'

/** An object of a snapshot that is held back, and the snapshot with it. */
export interface Waiting extends KeyHold {
  readonly event: StreamEvent
}

interface IntakeOptions {
  guard: KeyGuard | undefined
  /** Identity among the streams of one guard. */
  stream: string
  logger: Logger
  take(event: StreamEvent): void
  /** The stream is complete, up to that revision. Called once. */
  complete(revision: number): void
  /** The objects that wait are others now, or all else is taken from now on. */
  waits?: ((objects: readonly Waiting[], isAllElse: boolean) => void) | undefined
}

export class Intake {
  readonly #options: IntakeOptions
  readonly #begun: { ticket: number; isCareful: boolean } | undefined
  /** The newest event of each object that waits. */
  readonly #held = new Map<string, Waiting>()
  /** Position up to which everything but the waiting events was delivered; `undefined`: there is more. */
  #reached: number | undefined
  #ended = false

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#begun = options.guard?.intake()
  }

  take(event: StreamEvent): void {
    const { guard, stream, logger, take } = this.#options
    if (!guard || !this.#begun?.isCareful) {
      take(event)
      return
    }
    const id = `intake of ${stream}: ${nameOf(event)}`
    const waited = this.#held.delete(id)
    // it was never delivered
    if (waited && event.type === 'DELETED') {
      this.#reportWaits()
      return
    }
    const hold = guard.holds(id, () => this.#goOn(id))
    if (!hold) {
      this.#note(guard, id, event)
      return
    }
    this.#held.set(id, { ...hold, event })
    this.#reportWaits()
    if (waited) return
    const { space, resource, namespace, name } = event
    logger.warn(
      { space, resource, namespace, name, deaths: hold.deaths, nextTry: new Date(hold.untilMs).toISOString() },
      'the server ended while a controller took in this object: the controller waits until it has; mend or delete it',
    )
  }

  /** Everything up to the revision has been given; `isAll`: that was all there is. */
  reached(revision: number, isAll: boolean): void {
    if (isAll || this.#reached !== undefined) this.#reached = revision
    if (isAll && this.#held.size > 0) this.#reportWaits()
    this.#completeIfTaken()
  }

  /** Nothing is delivered any more. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#held.clear()
    if (this.#begun) this.#options.guard?.end(this.#begun.ticket, false)
  }

  #goOn(id: string): void {
    const waiting = this.#held.get(id)
    const { guard } = this.#options
    if (!waiting || !guard) return
    this.#held.delete(id)
    this.#note(guard, id, waiting.event)
    this.#reportWaits()
    this.#completeIfTaken()
  }

  #note(guard: KeyGuard, id: string, event: StreamEvent): void {
    const ticket = guard.begin(id)
    try {
      this.#options.take(event)
    } finally {
      guard.end(ticket, false)
    }
  }

  #reportWaits(): void {
    this.#options.waits?.([...this.#held.values()], this.#reached !== undefined)
  }

  #completeIfTaken(): void {
    if (this.#reached === undefined || this.#held.size > 0 || this.#ended) return
    this.end()
    this.#options.complete(this.#reached)
  }
}

function nameOf({ space, resource, namespace, name }: StreamEvent): string {
  return `${space} ${resource.resource}.${resource.group} ${namespace}/${name}`
}
