/** Something that the server needs and can run out of. */
export interface Room {
  readonly what: 'memory' | 'disk'
  /** The scarce resource; `undefined`: there is enough. Cheap: called before each write that adds something. */
  lack(): Lack | undefined
  /** Called for each accepted write, with the bytes of its text. */
  took?(bytes: number): void
}

export interface Lack {
  /** There is next to nothing left. */
  readonly critical: boolean
  /** How much there is, and what helps, for users. */
  readonly message: string
}
