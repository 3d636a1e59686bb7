/** A reason and a message: why something is refused, held back or otherwise than wanted, in the words of reports, conditions and Events. */
export interface Reason {
  readonly reason: string
  readonly message: string
}
