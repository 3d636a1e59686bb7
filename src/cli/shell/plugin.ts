/** The command line of a kubectl plugin, made from data, as that of `orrery` is; errors become one line on stderr and an exit code. */
import { Command } from 'commander'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { CHANGES, printingChanges } from './changes.ts'
import { CommandError } from './commandError.ts'
import { printCompletion } from './completion/printCompletion.ts'
import { COMPLETE } from './completion/scripts.ts'
import { addSettings, type Setting } from './settings.ts'
import type { Terminal } from './terminal.ts'

export interface Plugin {
  /** As the user types it. */
  name: string
  summary: string
  usage?: string
  /** More, for its help. */
  notes: string
  commands: readonly PluginCommand[]
}

export interface PluginCommand {
  /** Name and arguments, as commander reads them: `create <name>`. */
  line: string
  summary: string
  notes?: string
  flags?: readonly Setting[]
  /** Exit codes of its own, for its help. */
  exits?: Readonly<Record<number, string>>
  /** The exit code for a line that cannot be read; default: 1. */
  mistaken?: number
  /** It runs where no command is named, and gets all words. */
  isDefault?: boolean
  /** Resolves to the exit code where that says more than that it was done. */
  run?(options: object, terminal: Terminal, ...words: string[]): Promise<void> | Promise<number>
  /** In place of `run`: its file is loaded on use. */
  load?(): Promise<NonNullable<PluginCommand['run']>>
  /** For one that makes, changes or deletes: resolves to the objects, which `-o` prints. */
  change?(options: object, terminal: Terminal, ...words: string[]): Promise<KubeObject | readonly KubeObject[]>
  commands?: readonly PluginCommand[]
}

/** Resolves to the exit code: what the command resolves to, or what a {@link CommandError} says, or 1. */
export async function runPlugin(plugin: Plugin, args: readonly string[], terminal: Terminal): Promise<number> {
  const { program, result } = pluginProgram(plugin, terminal)
  if (args[0] === COMPLETE) return await printCompletion(program, args.slice(1), terminal)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return result.code
  } catch (error) {
    terminal.err(`Error: ${messageOf(error)}`)
    return error instanceof CommandError ? error.exitCode : 1
  }
}

/** The command line, and where its exit code will stand. */
export function pluginProgram(
  { name, summary, usage, notes, commands }: Plugin,
  terminal: Terminal,
): { program: Command; result: { readonly code: number } } {
  const result = { code: 0 }
  const program = new Command(name)
    .description(summary)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError(`Run '${name} --help' for usage.`)
  if (usage !== undefined) program.usage(usage)
  addNotes(program, { notes, exits: {} })
  const add = (to: Command, described: PluginCommand): void => {
    const { line, flags = [], mistaken, isDefault = false, change, commands: below = [] } = described
    const command = to.command(line, { isDefault }).description(described.summary)
    if (mistaken !== undefined) command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : mistaken))
    if (isDefault) command.allowExcessArguments()
    addSettings(command, change ? [...flags, CHANGES] : flags)
    addNotes(command, described)
    if (described.run || described.load)
      command.action(async () => {
        const run = described.run ?? (await described.load!())
        const code = await run(command.opts(), terminal, ...command.args)
        if (code !== undefined) result.code = code
      })
    if (change)
      command.action(() =>
        printingChanges(command.opts(), terminal, output => change(command.opts(), output, ...command.args)),
      )
    for (const each of below) add(command, each)
  }
  for (const command of commands) add(program, command)
  return { program, result }
}

/** 0 and 1 are among all exit codes that are shown. */
function addNotes(command: Command, { notes, exits }: Pick<PluginCommand, 'notes' | 'exits'>): void {
  if (notes !== undefined) command.addHelpText('after', `\n${notes}`)
  if (exits === undefined) return
  const all = [['0', 'it was done'], ...Object.entries(exits), ['1', 'anything else']]
  command.addHelpText('after', `\nExit codes: ${all.map(([code, meaning]) => `${code} ${meaning}`).join(', ')}.`)
}
