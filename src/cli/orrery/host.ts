/** Output, log and end of the process in which a command runs. Tests run several commands in one process, each with its own. */
import { processTerminal, type Terminal } from '../shell/terminal.ts'

export interface Host extends Terminal {
  /** Writes lines of the log. Absent: stderr. */
  log?(lines: string): void
  /** Resolves when the command shall end in order. */
  terminated(): Promise<void>
}

export const processHost: Host = { ...processTerminal, terminated: signalled }

/** Resolves at SIGTERM or SIGINT. A second signal ends the process at once. */
function signalled(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}
