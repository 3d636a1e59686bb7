/** Requests of an API thread that the main thread has to answer, until their answers have left. */
import type { Socket } from 'node:net'
import type { Strangers } from '../connections/strangers.ts'

export class UnderWay {
  readonly #strangers: Pick<Strangers, 'requestStarted' | 'requestEnded'>
  #count = 0
  #idle: (() => void) | undefined

  constructor(strangers: Pick<Strangers, 'requestStarted' | 'requestEnded'>) {
    this.#strangers = strangers
  }

  started(client: Socket): void {
    this.#count++
    this.#strangers.requestStarted(client)
  }

  /** Its answer has left, or nobody waits for it any more. */
  ended(client: Socket): void {
    this.#strangers.requestEnded(client)
    if (--this.#count === 0) this.#idle?.()
  }

  /** Resolves when nothing is. */
  async idle(): Promise<void> {
    if (this.#count > 0) await new Promise<void>(resolve => (this.#idle = resolve))
  }
}
