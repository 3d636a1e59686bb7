/** The command line of `kubectl ws`. */
import type { Command } from 'commander'
import { didYouMean, nearest } from '../../apimachinery/nearest.ts'
import { TYPES_PATH, UNIVERSAL } from '../../placement/spaces/spaceTypes.ts'
import { type ChangesOptions, changesOption, printingChanges } from '../shell/changes.ts'
import { ABOVE_ROOT, BAD_PATH, CommandError, exitCodes } from '../shell/commandError.ts'
import { printCompletion } from '../shell/completion/printCompletion.ts'
import { COMPLETE } from '../shell/completion/scripts.ts'
import { confirmable } from '../shell/confirm.ts'
import { type DocumentOptions, pathsOption } from '../shell/output.ts'
import { createProgram, runProgram } from '../shell/runProgram.ts'
import type { SessionOptions } from '../shell/session/session.ts'
import { ROOT_SPACE } from '../shell/session/spacePath.ts'
import type { Terminal } from '../shell/terminal.ts'
import { budgetCommand } from './budget.ts'
import { type CreateOptions, createCommand, createContextCommand, ensureCommand } from './create.ts'
import { type DeleteOptions, deleteCommand } from './delete.ts'
import { listCommand, treeCommand } from './tree.ts'
import { type UseOptions, useSpace } from './use.ts'

const PATHS = `
Paths:
  a:b          below the current workspace
  :root:a:b    from the root; so is root:a:b
  . .. ..:..   here, one up, two up
  -            where you were before
  ~            root (also without a path)
  :            the first name of the current path

The current workspace is kept in the kubeconfig, as context workspace.kcp.io/current.
A workspace that is named like a sub-command is entered with 'use'.`

const TYPES = UNIVERSAL.children.map(name => `${TYPES_PATH}:${name}`).join(', ')

/** Resolves to the exit code. */
export async function kubectlWs(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = wsProgram(terminal)
  if (args[0] === COMPLETE) return await printCompletion(program, args.slice(1), terminal)
  return await runProgram(program, args, terminal)
}

export function wsProgram(terminal: Terminal): Command {
  const program = createProgram('kubectl ws', 'Moves between workspaces (spaces) and makes new ones.')
  program.usage('[<path> | <command>] [options]').addHelpText('after', PATHS)
  exitCodes(program)

  const short = ['--short', 'print only the path'] as const
  withKubeconfig(program.command('use [path]', { isDefault: true }))
    .description('enter a workspace, or print the current one with "."')
    .option(...short)
    .addOption(pathsOption())
    .allowExcessArguments()
    .action((path: string | undefined, options: UseOptions, command: Command) => {
      if (command.args.length > 1) throw new CommandError(tooMany(command.args, program))
      return explained(useSpace(path, options, terminal), path, program)
    })
  withKubeconfig(program.command('current'))
    .description('print the current workspace')
    .option(...short)
    .addOption(pathsOption())
    .action((options: UseOptions) => useSpace('.', options, terminal))
  withKubeconfig(program.command('create <name>'))
    .description('make a workspace in the current one')
    .option('--type <type>', `type of the workspace: ${TYPES}; default: the first that the current one allows`)
    .option('--enter', 'enter it when it is ready')
    .option('--ignore-existing', 'be content if it exists; --type must then start with root:')
    .option('--create-context <name>', 'also make a context for it; with --enter that context becomes current')
    .addOption(changesOption())
    .action((name: string, options: CreateOptions & ChangesOptions) =>
      printingChanges(options, terminal, told => createCommand(name, options, told)),
    )
  confirmable(withKubeconfig(program.command('delete <path>')))
    .description('delete a workspace with all that is in it and below it')
    .option('--ignore-not-found', 'be content if there is none')
    .option('--no-wait', 'do not wait until it is gone')
    .addOption(changesOption())
    .action((path: string, options: DeleteOptions & ChangesOptions) =>
      printingChanges(options, terminal, told => deleteCommand(path, options, told)),
    )
  withKubeconfig(program.command('create-context [name]'))
    .description('make a context for the current workspace, named after its path by default, and switch to it')
    .option('--overwrite', 'replace the context if it exists')
    .addOption(changesOption())
    .action((name: string | undefined, options) =>
      printingChanges(options, terminal, told => createContextCommand(name, options, told)),
    )
  const ensured = { [BAD_PATH]: 'the path has root in the middle', [ABOVE_ROOT]: 'it leads above the root' }
  exitCodes(withKubeconfig(program.command('ensure <path>')), ensured)
    .description('make all workspaces of a path that do not exist')
    .option('--enter', 'enter the last one')
    .option('-V, --verbose', 'say what is made')
    .addOption(changesOption())
    .action((path: string, options) => printingChanges(options, terminal, told => ensureCommand(path, options, told)))
  withKubeconfig(program.command('tree'))
    .description('print the workspaces below the current one, all levels')
    .option('-f, --full', 'print whole paths')
    .addOption(pathsOption())
    .action(options => treeCommand(options, terminal))
  withKubeconfig(program.command('list'))
    .description('print the workspaces in the current one')
    .addOption(pathsOption())
    .action((options: SessionOptions & DocumentOptions) => listCommand(options, terminal))
  withKubeconfig(program.command('budget'))
    .description('print what the current workspace and those in it hold, with all below them, and may hold')
    .addOption(pathsOption())
    .action((options: SessionOptions & DocumentOptions) => budgetCommand(options, terminal))
  return program
}

/** A single word that leads nowhere may have been meant as a sub-command. */
async function explained(entered: Promise<void>, path: string | undefined, program: Command): Promise<void> {
  try {
    await entered
  } catch (error) {
    if (!(error instanceof CommandError) || path === undefined) throw error
    const [top = '', ...below] = path.split(':')
    if (nearest(top, [ROOT_SPACE]).length > 0 && top !== ROOT_SPACE) {
      const meant = [ROOT_SPACE, ...below].join(':')
      throw new CommandError(`${error.message}; did you mean "${meant}"?`, error.exitCode, { cause: error })
    }
    const [command] = nearest(path, commandsOf(program))
    if (command === undefined) throw error
    throw new CommandError(`${error.message}; did you mean the command "${command}"?`, error.exitCode, { cause: error })
  }
}

function commandsOf(program: Command): string[] {
  return program.commands.map(command => command.name())
}

/** Whoever writes two words meant a sub-command. */
function tooMany([word = '', ...more]: readonly string[], program: Command): string {
  const commands = commandsOf(program)
  const hint = didYouMean(word, commands)
  if (hint !== '') return `unknown command "${word}"${hint}`
  return `one path at a time, and there is ${JSON.stringify(more[0])} after "${word}"; the commands are ${commands.join(', ')}`
}

function withKubeconfig(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig to use and to change; default: $KUBECONFIG, then ~/.kube/config')
    .option('--context <name>', 'start from this context instead of the current one')
}
