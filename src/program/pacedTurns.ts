/**
 * Steps that take a noticeable time each and cannot be cut, one at a time for the whole process: after each the loop is left to
 * everybody else for as long as the step took, because an answer to them takes several turns of the loop. Owners (spaces) take
 * turns, whoever asks for much waits for themselves.
 */
import { type WorkOptions, WorkTurns } from './workTurns.ts'

/** A step that took longer was waiting for the machine, too. */
const PAUSE_LIMIT_MS = 100

export interface PacedTurnsOptions {
  clock?: () => number
  /** Calls back once the loop has looked after all else. */
  soon?: (call: () => void) => void
  after?: (ms: number, call: () => void) => void
}

export class PacedTurns {
  readonly #clock: () => number
  readonly #soon: (call: () => void) => void
  readonly #after: (ms: number, call: () => void) => void
  readonly #turns: WorkTurns
  /** The end of the last pause. */
  #freeAtMs = Number.NEGATIVE_INFINITY

  constructor({
    clock = () => performance.now(),
    soon = setImmediate,
    after = (ms, call) => setTimeout(call, ms),
  }: PacedTurnsOptions = {}) {
    this.#clock = clock
    this.#soon = soon
    this.#after = after
    // By then the step before is over and measured.
    const later = (turn: () => void): void => soon(() => this.#schedule(turn))
    this.#turns = new WorkTurns({ clock, later })
  }

  /**
   * When it resolves, one step may be done, up to the next thing that is waited for.
   * @throws Abandoned when nobody wants the result any more
   */
  take(options: WorkOptions): Promise<void> {
    return this.#turns.begin(options).rest()
  }

  #schedule(turn: () => void): void {
    const pauseMs = this.#freeAtMs - this.#clock()
    const begin = (): void => {
      const begunMs = this.#clock()
      // before `turn`, which may ask for the next one
      this.#soon(() => {
        const nowMs = this.#clock()
        this.#freeAtMs = nowMs + Math.min(nowMs - begunMs, PAUSE_LIMIT_MS)
      })
      turn()
    }
    if (pauseMs > 0) this.#after(pauseMs, begin)
    else begin()
  }
}
