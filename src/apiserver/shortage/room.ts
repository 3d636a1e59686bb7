/** Something that the server needs and can run out of. */
export interface Room {
  readonly what: 'memory' | 'disk'
  /** What there is too little of; `undefined`: there is enough. Cheap: asked before each write that adds something. */
  lack(): Lack | undefined
  /** Hears of each write that was taken, by the bytes of its text. */
  took?(bytes: number): void
}

export interface Lack {
  /** There is next to nothing left. */
  readonly critical: boolean
  /** How much there is, and what helps, for users. */
  readonly message: string
}
