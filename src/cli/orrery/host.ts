/** Output, log and end of the process in which a command runs. Tests run several commands in one process, each with its own. */
import { ANSWERS_VERSION, printDocument } from '../shell/output.ts'
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

/** Lines for people, or with `-o` a document for programs. @param document of a kind of ours, where it names no `apiVersion` */
export async function printFound(
  settings: Readonly<Record<string, unknown>>,
  lines: readonly string[],
  document: object,
  terminal: Terminal,
): Promise<void> {
  const { output } = settings as { output?: 'json' | 'yaml' }
  if (output === undefined) return terminal.out(lines.join('\n'))
  await printDocument({ apiVersion: ANSWERS_VERSION, ...document }, output, terminal)
}
