/** Runs a kubectl plugin's command line: errors become one line on stderr and an exit code. */
import { Command } from 'commander'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { CommandError } from './commandError.ts'
import type { Terminal } from './terminal.ts'

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
