/** Runs a kubectl plugin's command line: errors become one line on stderr and an exit code. */
import { createInterface } from 'node:readline/promises'
import { Command } from 'commander'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { CommandError } from './commandError.ts'
import { shownText } from './shownText.ts'

/** Where a command speaks: results on `out`, notes on `err`; each call is one line. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Whether a person looks at `out`. Default: no. */
  readonly isTerminal?: boolean
  /** Puts a question to a person and gives the line that they answer, `''` when they leave. Absent: nobody can answer. */
  ask?(question: string): Promise<string>
}

/** A reader that has seen enough (`… | head`) ends the program, without a word. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}

export const processTerminal: Terminal = {
  out: line => void process.stdout.write(`${shownText(line)}\n`),
  err: line => void process.stderr.write(`${shownText(line)}\n`),
  isTerminal: process.stdout.isTTY === true,
  ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
}

async function ask(question: string): Promise<string> {
  const person = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const left = new Promise<string>(resolve => person.once('close', () => resolve('')))
    return await Promise.race([person.question(shownText(question)), left])
  } finally {
    person.close()
  }
}

/** A program named as the user types it, whose sub-commands show their options and defaults. */
export function createProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError(`Run '${name} --help' for usage.`)
}

/** Resolves to the exit code: 0, or what a {@link CommandError} says, or 1. */
export async function runProgram(program: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    terminal.err(`Error: ${messageOf(error)}`)
    return error instanceof CommandError ? error.exitCode : 1
  }
}
