/** Decides which keys of a work queue wait because of an earlier process's end, and records the running ones. */
export interface KeyGuard {
  /**
   * Called for each added key. An answer: the key waits, and `go` is called once, later, when it may be worked on. The last `go` for a key
   * counts. Without an answer `go` may have been called already: a key whose time has come goes.
   */
  holds(id: string, go: () => void): KeyHold | undefined
  /** Whether any key waits, or may: else nobody need ask of each. Absent: they have to. */
  readonly holdsAny?: boolean
  /** Whether a key that is added would wait: then it has to be, though there may be nothing to do, to be found innocent. */
  suspects?(id: () => string): boolean
  /** Work on a key begins; the answer is for {@link end}. */
  begin(id: string): number
  /** The same of many that begin at once; the answers at their indexes. Absent: each begins by itself. */
  beginMany?(ids: readonly string[]): readonly number[]
  /** `postponed`: nothing was done, the key comes again. */
  end(ticket: number, postponed: boolean): void
  /**
   * A controller begins to receive all present objects; {@link end} with the ticket follows. `isCareful`: each object is recorded as a key
   * of its own, as an earlier process ended amid one. Otherwise that would cost every start.
   */
  intake(): { ticket: number; isCareful: boolean }
}

export interface KeyHold {
  /** How often the process ended while the key was tried alone; 0: it was one of several. */
  readonly deaths: number
  /** When it is tried again, in milliseconds since the epoch. */
  readonly untilMs: number
}
