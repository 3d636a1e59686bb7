/** What starts a controller answers with this. */
export interface ControllerHandle {
  /** Resolves when no work waits or runs; what waits for a timer (a retry, a deadline) does not count. */
  idle(): Promise<void>
  /** Resolves when streams and running work have ended. */
  stop(): Promise<void>
}
