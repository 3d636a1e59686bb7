/**
 * Which syncers live. Each keeps a stream of its mailbox open and sends a sign of life now and then, which reveals a dead connection. No
 * part of that is stored.
 */

import { equalJson } from '../../apimachinery/values.ts'
import type { Clock } from '../../client/clock.ts'
import { OUTCOME_SILENCE_MS, type SyncerListener } from '../../placement/outcome/outcome.ts'

/** Without a connection. Streams end now and then, and networks fail for a moment. */
export const SILENCE_MS = 45_000
/** Its protocol, or the reason of its refusal. */
export type Speech = { readonly protocol: number } | { readonly turnedAway: string }

interface Connection {
  /** From its last stream; absent before one came. */
  speech?: Speech
  open: boolean
  alive: boolean
  seenAtMs: number
  /** Handle of the timer that waits for silence; absent while none runs. */
  cancel: (() => void) | undefined
}

export class SyncerConnections implements SyncerListener {
  readonly #clock: Clock
  readonly #changed: (space: string) => void
  readonly #known = new Map<string, Connection>()

  /** `changed`: a syncer came, or fell silent. */
  constructor(clock: Clock, changed: (space: string) => void) {
    this.#clock = clock
    this.#changed = changed
  }

  /** Time of its last sign of life, and whether it lives; `undefined` for one without any. */
  of(space: string): Readonly<Pick<Connection, 'alive' | 'seenAtMs' | 'speech'>> | undefined {
    return this.#known.get(space)
  }

  opened(space: string, protocol: number): void {
    this.#seen(space, { open: true, atMs: this.#clock.now(), speech: { protocol } })
  }

  /** It has no stream, whatever else it says; the one that it had it ended itself. */
  turnedAway(space: string, why: string): void {
    const known = this.#known.get(space)
    const connection = known ?? { open: false, alive: false, seenAtMs: this.#clock.now(), cancel: undefined }
    this.#known.set(space, connection)
    // tries come every few seconds, and are news once
    const speech: Speech = { turnedAway: why }
    if (equalJson(connection.speech, speech)) return
    connection.speech = speech
    this.#changed(space)
  }

  seen(space: string): void {
    this.#seen(space, { open: this.#known.get(space)?.open ?? false, atMs: this.#clock.now() })
  }

  closed(space: string): void {
    const connection = this.#known.get(space)
    if (!connection) return
    connection.open = false
    if (!connection.alive) return
    // it was there until now
    connection.seenAtMs = this.#clock.now()
    connection.cancel?.()
    this.#arm(space, connection, SILENCE_MS)
  }

  forget(space: string): void {
    this.#known.get(space)?.cancel?.()
    this.#known.delete(space)
  }

  stop(): void {
    for (const space of [...this.#known.keys()]) this.forget(space)
  }

  #seen(space: string, { open, atMs, speech }: { open: boolean; atMs: number; speech?: Speech }): void {
    const connection = this.#known.get(space) ?? { open, alive: false, seenAtMs: atMs, cancel: undefined }
    this.#known.set(space, connection)
    connection.open = open
    connection.seenAtMs = Math.max(connection.seenAtMs, atMs)
    const leftMs = this.#leftMs(connection)
    if (leftMs <= 0) return
    const isOther = speech !== undefined && !equalJson(connection.speech, speech)
    if (isOther) connection.speech = speech
    const came = !connection.alive
    connection.alive = true
    // one timer each, which is set anew only when it fires
    if (!connection.cancel) this.#arm(space, connection, leftMs)
    if (came || isOther) this.#changed(space)
  }

  #leftMs({ open, seenAtMs }: Connection): number {
    return seenAtMs + (open ? OUTCOME_SILENCE_MS : SILENCE_MS) - this.#clock.now()
  }

  #arm(space: string, connection: Connection, inMs: number): void {
    connection.cancel = this.#clock.after(inMs, () => {
      connection.cancel = undefined
      const leftMs = this.#leftMs(connection)
      if (leftMs > 0) return this.#arm(space, connection, leftMs)
      connection.alive = false
      this.#changed(space)
    })
  }
}
