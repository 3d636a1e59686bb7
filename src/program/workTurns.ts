/**
 * Long work on the loop, in slices: between two of them everybody else gets their turn. All long work of the process shares
 * one slice for each turn of the loop, so that forty large answers at a time hold it up no longer than one does; owners (spaces)
 * take turns, whoever asks for much waits for themselves.
 */

/** How long others wait for a turn's work, in milliseconds, beside the step during which the time runs out. */
const SLICE_MS = 5

export interface WorkTurnsOptions {
  sliceMs?: number
  clock?: () => number
  /** Calls back once the loop has looked after all else. */
  later?: (turn: () => void) => void
}

/** Nobody wants the result of the work any more. */
export class Abandoned extends Error {
  constructor() {
    super('nobody waits for it any more')
    this.name = 'Abandoned'
  }
}

/** One piece of long work. */
export interface Work {
  /** Whether others should get their turn now: to be asked after each small step, and followed by `rest`. */
  readonly due: boolean
  /** @throws Abandoned when nobody wants the result any more */
  rest(): Promise<void>
}

export interface WorkOptions {
  /** Whom it is done for. */
  owner: string
  isAbandoned?(): boolean
}

interface Resting {
  isAbandoned: () => boolean
  goOn(): void
}

export class WorkTurns {
  readonly #sliceMs: number
  readonly #clock: () => number
  readonly #later: (turn: () => void) => void
  /** By owner, in the order in which they go on. Never empty lists. */
  readonly #resting = new Map<string, Resting[]>()
  /** When the present slice is over; `undefined` while nobody has begun one. */
  #endMs: number | undefined
  #isTurnComing = false

  constructor({ sliceMs = SLICE_MS, clock = () => performance.now(), later = setImmediate }: WorkTurnsOptions = {}) {
    this.#sliceMs = sliceMs
    this.#clock = clock
    this.#later = later
  }

  begin({ owner, isAbandoned = never }: WorkOptions): Work {
    const isDue = (isFirst: boolean): boolean => this.#isDue(isFirst)
    let isFirst = true
    return {
      get due() {
        const due = isDue(isFirst)
        isFirst = false
        return due
      },
      rest: async () => {
        await new Promise<void>(goOn => this.#rest(owner, { isAbandoned, goOn }))
        if (isAbandoned()) throw new Abandoned()
      },
    }
  }

  /**
   * Nobody is called back when a turn of the loop is over, as that would cost each short piece of work. So a slice that is long
   * over was one of another turn to whoever only begins; whoever does not rests once more than they have to.
   */
  #isDue(isFirst: boolean): boolean {
    const nowMs = this.#clock()
    if (this.#endMs === undefined || (isFirst && nowMs >= this.#endMs + this.#sliceMs)) {
      this.#endMs = nowMs + this.#sliceMs
    }
    return nowMs >= this.#endMs
  }

  #rest(owner: string, resting: Resting): void {
    const line = this.#resting.get(owner)
    if (line) line.push(resting)
    else this.#resting.set(owner, [resting])
    this.#scheduleTurn()
  }

  #scheduleTurn(): void {
    if (this.#isTurnComing) return
    this.#isTurnComing = true
    this.#later(() => this.#turn())
  }

  /** One goes on, and those that only have to hear that nobody waits for them. */
  #turn(): void {
    this.#isTurnComing = false
    this.#endMs = this.#clock() + this.#sliceMs
    for (const [owner, line] of [...this.#resting]) {
      const resting = line.shift()!
      this.#resting.delete(owner)
      if (line.length > 0) this.#resting.set(owner, line)
      const goesOn = !resting.isAbandoned()
      resting.goOn()
      if (goesOn) break
    }
    // Whoever went on may be done, or wait for something else, without asking for another turn.
    if (this.#resting.size > 0) this.#scheduleTurn()
  }
}

const never = (): boolean => false
