/** What starts a controller answers with this. */
export interface ControllerHandle {
  /** Pieces of work that wait or run; what waits for a timer does not count. */
  depth(): number
  /** Resolves when no work waits or runs; what waits for a timer (a retry, a deadline) does not count. */
  idle(): Promise<void>
  /** Resolves when streams and running work have ended. */
  stop(): Promise<void>
}
