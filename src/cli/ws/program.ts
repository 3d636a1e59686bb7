/** The command line of `kubectl ws`. */
import { didYouMean, nearest } from '../../apimachinery/nearest.ts'
import { TYPES_PATH, UNIVERSAL } from '../../placement/spaces/spaceTypes.ts'
import { ABOVE_ROOT, BAD_PATH, CommandError } from '../shell/commandError.ts'
import { CONFIRM } from '../shell/confirm.ts'
import { PATHS_OUTPUT } from '../shell/output.ts'
import { type Plugin, type PluginCommand, runPlugin } from '../shell/plugin.ts'
import { IGNORE_NOT_FOUND } from '../shell/session/deleteSpace.ts'
import { SPACE } from '../shell/session/session.ts'
import { ROOT_SPACE } from '../shell/session/spacePath.ts'
import { flag } from '../shell/settings.ts'
import type { Terminal } from '../shell/terminal.ts'
import { budgetCommand } from './budget.ts'
import { createCommand, createContextCommand, ensureCommand } from './create.ts'
import { deleteCommand } from './delete.ts'
import type { ImportOptions } from './transfer/import.ts'
import { listCommand, treeCommand } from './tree.ts'
import { type UseOptions, useSpace } from './use.ts'

const PATHS = `Paths:
  a:b          below the current workspace
  :root:a:b    from the root; so is root:a:b
  . .. ..:..   here, one up, two up
  -            where you were before
  ~            root (also without a path)
  :            the first name of the current path

The current workspace is kept in the kubeconfig, as context workspace.kcp.io/current.
A workspace that is named like a sub-command is entered with 'use'.`

const TYPES = UNIVERSAL.children.map(name => `${TYPES_PATH}:${name}`).join(', ')

const SESSION = [
  flag('--kubeconfig <file>', 'kubeconfig to use and to change; default: $KUBECONFIG, then ~/.kube/config'),
  flag('--context <name>', 'start from this context instead of the current one'),
]
/** Flags of commands that do not move. */
const THERE = [...SESSION, SPACE]
const SHORT = flag('--short', 'print only the path')

const COMMANDS: readonly PluginCommand[] = [
  {
    line: 'use [path]',
    summary: 'enter a workspace, or print the current one with "."',
    isDefault: true,
    flags: [...SESSION, SHORT, PATHS_OUTPUT],
    run: (options: UseOptions, terminal, path?: string, ...more) => {
      if (more.length > 0) throw new CommandError(tooMany(path, more))
      return explained(useSpace(options, terminal, path), path)
    },
  },
  {
    line: 'current',
    summary: 'print the current workspace',
    flags: [...SESSION, SHORT, PATHS_OUTPUT],
    run: (options: UseOptions, terminal) => useSpace(options, terminal, '.'),
  },
  {
    line: 'create <name>',
    summary: 'make a workspace in the current one',
    flags: [
      ...THERE,
      flag('--type <type>', `type of the workspace: ${TYPES}; default: the first that the current one allows`),
      flag('--enter', 'enter it when it is ready'),
      flag('--no-enter', 'stay in the current workspace, as without a flag'),
      flag('--ignore-existing', 'be content if it exists; --type must then start with root:'),
      flag('--create-context <name>', 'also make a context for it; with --enter that context becomes current'),
    ],
    change: createCommand,
  },
  {
    line: 'delete <path>',
    summary: 'delete a workspace with all that is in it and below it',
    flags: [...THERE, CONFIRM, IGNORE_NOT_FOUND, flag('--no-wait', 'do not wait until it is gone')],
    change: deleteCommand,
  },
  {
    line: 'create-context [name]',
    summary: 'make a context for the current workspace, named after its path by default, and switch to it',
    flags: [...THERE, flag('--overwrite', 'replace the context if it exists')],
    change: createContextCommand,
  },
  {
    line: 'ensure <path>',
    summary: 'make all workspaces of a path that do not exist',
    exits: { [BAD_PATH]: 'the path has root in the middle', [ABOVE_ROOT]: 'it leads above the root' },
    flags: [
      ...THERE,
      flag('--enter', 'enter the last one'),
      flag('--no-enter', 'stay, as without a flag'),
      flag('-V, --verbose', 'say what is made'),
    ],
    change: ensureCommand,
  },
  {
    line: 'tree',
    summary: 'print the workspaces below the current one, all levels',
    flags: [...THERE, flag('-f, --full', 'print whole paths'), PATHS_OUTPUT],
    run: treeCommand,
  },
  {
    line: 'list',
    summary: 'print the workspaces in the current one',
    flags: [...THERE, PATHS_OUTPUT],
    run: listCommand,
  },
  {
    line: 'budget',
    summary: 'print what the current workspace and those in it hold, with all below them, and may hold',
    flags: [...THERE, PATHS_OUTPUT],
    run: budgetCommand,
  },
  {
    line: 'export [path]',
    summary: 'print the objects of a workspace for another one; changes nothing',
    notes:
      'Children of the workspace, and what servers make for themselves, are not in it. An archive is one compressed file with a checksum.\n' +
      '"kubectl ws import" makes the objects elsewhere.',
    flags: [
      ...SESSION,
      flag(
        '-l, --selector <labels>',
        'only objects with these labels, with the Namespaces and definitions that they need',
      ),
      flag('-o, --output <format>', 'default: yaml', { choices: ['yaml', 'archive'] }),
      flag('-f, --file <file>', 'a new file instead of standard output'),
      flag('--with-secrets', 'Secrets too, as they are: keep the result as you keep those'),
    ],
    load: async () => (await import('./transfer/export.ts')).exportSpace,
  },
  {
    line: 'import <file>',
    summary: 'make the objects of an export in the current workspace',
    notes:
      'All objects are looked at first. Nothing is written where one is there with another content, or would be refused; nothing is ever\n' +
      'overwritten. Placements come last, when all else is there.',
    flags: [...THERE, flag('--dry-run', 'print what would be created, and write nothing')],
    change: async (options: ImportOptions, terminal, file) =>
      await (await import('./transfer/import.ts')).importSpace(options, terminal, file),
  },
]
const NAMES = COMMANDS.map(({ line }) => line.split(' ')[0]!)

export const WS: Plugin = {
  name: 'kubectl ws',
  summary: 'Moves between workspaces (spaces) and makes new ones.',
  usage: '[<path> | <command>] [options]',
  notes: PATHS,
  commands: COMMANDS,
}

/** Resolves to the exit code. */
export async function kubectlWs(args: readonly string[], terminal: Terminal): Promise<number> {
  return await runPlugin(WS, args, terminal)
}

/** A single word that leads nowhere may have been meant as a sub-command. */
async function explained(entered: Promise<void>, path: string | undefined): Promise<void> {
  try {
    await entered
  } catch (error) {
    if (!(error instanceof CommandError) || path === undefined) throw error
    const [top = '', ...below] = path.split(':')
    if (nearest(top, [ROOT_SPACE]).length > 0 && top !== ROOT_SPACE) {
      const meant = [ROOT_SPACE, ...below].join(':')
      throw new CommandError(`${error.message}; did you mean "${meant}"?`, error.exitCode, { cause: error })
    }
    const [command] = nearest(path, NAMES)
    if (command === undefined) throw error
    throw new CommandError(`${error.message}; did you mean the command "${command}"?`, error.exitCode, { cause: error })
  }
}

/** A second word means that a sub-command was intended. */
function tooMany(word = '', [next]: readonly string[]): string {
  const hint = didYouMean(word, NAMES)
  if (hint !== '') return `unknown command "${word}"${hint}`
  return `one path at a time, and there is ${JSON.stringify(next)} after "${word}"; the commands are ${NAMES.join(', ')}`
}
