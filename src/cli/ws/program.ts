/** The command line of `kubectl ws`. */
import type { Command } from 'commander'
import { TYPES_PATH, UNIVERSAL } from '../../apimachinery/spaceTypes.ts'
import { budgetCommand } from './budget.ts'
import { type CreateOptions, createCommand, createContextCommand, ensureCommand } from './create.ts'
import { createProgram, runProgram, type Terminal } from './runProgram.ts'
import type { SessionOptions } from './session.ts'
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
  const program = createProgram('kubectl ws', 'Moves between workspaces (spaces) and makes new ones.')
  program.usage('[<path> | <command>] [options]').addHelpText('after', PATHS)

  const short = ['--short', 'print only the path'] as const
  withKubeconfig(program.command('use [path]', { isDefault: true }))
    .description('enter a workspace, or print the current one with "."')
    .option(...short)
    .action((path: string | undefined, options: UseOptions) => useSpace(path, options, terminal))
  withKubeconfig(program.command('current'))
    .description('print the current workspace')
    .option(...short)
    .action((options: UseOptions) => useSpace('.', options, terminal))
  withKubeconfig(program.command('create <name>'))
    .description('make a workspace in the current one')
    .option('--type <type>', `type of the workspace: ${TYPES}; default: the first that the current one allows`)
    .option('--enter', 'enter it when it is ready')
    .option('--ignore-existing', 'be content if it exists; --type must then start with root:')
    .option('--create-context <name>', 'also make a context for it; with --enter that context becomes current')
    .action((name: string, options: CreateOptions) => createCommand(name, options, terminal))
  withKubeconfig(program.command('create-context [name]'))
    .description('make a context for the current workspace, named after its path by default, and switch to it')
    .option('--overwrite', 'replace the context if it exists')
    .action((name: string | undefined, options) => createContextCommand(name, options, terminal))
  withKubeconfig(program.command('ensure <path>'))
    .description('make all workspaces of a path that do not exist')
    .option('--enter', 'enter the last one')
    .option('-V, --verbose', 'say what is made')
    .action((path: string, options) => ensureCommand(path, options, terminal))
  withKubeconfig(program.command('tree'))
    .description('print the workspaces below the current one, all levels')
    .option('-f, --full', 'print whole paths')
    .action(options => treeCommand(options, terminal))
  withKubeconfig(program.command('list'))
    .description('print the workspaces in the current one')
    .action((options: SessionOptions) => listCommand(options, terminal))
  withKubeconfig(program.command('budget'))
    .description('print what the current workspace and those in it hold, with all below them, and may hold')
    .action((options: SessionOptions) => budgetCommand(options, terminal))
  return await runProgram(program, args, terminal)
}

function withKubeconfig(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig to use and to change; default: $KUBECONFIG, then ~/.kube/config')
    .option('--context <name>', 'start from this context instead of the current one')
}
