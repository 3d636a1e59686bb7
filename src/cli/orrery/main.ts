/** The command line of `orrery`: its sub-commands, with their settings and exit codes. */
import { Argument, Command, Option } from 'commander'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { didYouMean } from '../../apimachinery/nearest.ts'
import { COMPLETE, completionScript, SHELLS, type Shell } from '../shell/completion/scripts.ts'
import { addSettings, attributeOf, type Setting, settingsOf } from '../shell/settings.ts'
import { endWithReader, outliveReaders, processTerminal } from '../shell/terminal.ts'
import { processHost } from './host.ts'
import { PRIVATE_UMASK } from './process/privateFolder.ts'
import { isLasting } from './process/tunedProcess.ts'
import { SUB_COMMANDS, type SubCommand } from './subCommands.ts'

const VERSION_SUMMARY = 'print the version, its commit and date'

/** The kubectl plugins under the names that they have behind `kubectl`, with command lines of their own. */
const PLUGINS = [
  {
    name: 'ws',
    summary: 'move between spaces, as kubectl ws',
    load: async () => (await import('../ws/program.ts')).kubectlWs,
  },
  {
    name: 'kubestellar',
    summary: 'inventory, workload spaces and syncers, as kubectl kubestellar',
    load: async () => (await import('../kubestellar/program.ts')).kubectlKubestellar,
  },
]

/** Runs one command line; resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args[0] === 'help' ? [...args.slice(1, 2), '--help'] : args
  if (isLasting(first)) outliveReaders()
  else endWithReader()
  const plugin = PLUGINS.find(({ name }) => name === first)
  if (plugin !== undefined) return await (await plugin.load())(rest, processTerminal)
  if (first === COMPLETE) {
    const [word, ...more] = rest
    const completed = more.length > 0 ? PLUGINS.find(({ name }) => name === word) : undefined
    return completed ? await (await completed.load())([COMPLETE, ...more], processTerminal) : await completeWords(rest)
  }
  process.umask(PRIVATE_UMASK)
  const { program, result } = orreryProgram()
  await program.parseAsync(args[0] === '--version' ? ['version', ...args.slice(1)] : [...args], { from: 'user' })
  return result.code
}

/** Not loaded for what every process of `orrery` does. */
async function completeWords(words: readonly string[]): Promise<number> {
  const { printCompletion } = await import('../shell/completion/printCompletion.ts')
  return await printCompletion(orreryProgram().program, words, processTerminal)
}

/** The command line, and where its exit code will stand. */
export function orreryProgram(host = processHost): { program: Command; result: { readonly code: number } } {
  const result = { code: 0 }
  const program = new Command('orrery')
    .description('A multi-cluster configuration server: spaces, placement and syncing in one process')
    // A flag behind a sub-command's name is the sub-command's.
    .enablePositionalOptions()
  program.option('--version', VERSION_SUMMARY)
  const reporting = (name: string, run: () => Promise<number>) => async (): Promise<void> => {
    try {
      result.code = await run()
    } catch (error) {
      host.err(`orrery ${name}: ${messageOf(error)}`)
      result.code = 1
    }
  }
  const add = (to: Command, described: SubCommand): void => {
    const { name, summary, notes, settings, argument, inFile, load, mistaken, commands = [] } = described
    const command = to.command(name).description(summary).enablePositionalOptions()
    if (mistaken) command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : mistaken(command.opts())))
    if (notes !== undefined) command.addHelpText('after', `\n${notes}`)
    addSettings(command, settings)
    if (argument) command.argument(argument.flags.replace(/^.*<(.+)>$/, '[$1]'), argument.description)
    const path = to === program ? name : `${to.name()} ${name}`
    // One that also runs by itself takes a misspelt sub-command for an argument too many, and would only count it.
    if (load && commands.length > 0) command.allowExcessArguments()
    const run = async (start: NonNullable<typeof load>): Promise<number> => {
      const [word, more] = command.args
      const names = commands.map(below => below.name)
      const meant = argument && word !== undefined ? didYouMean(word, names) : ''
      if (argument && more === undefined && meant === '') takeArgument(command, argument, word)
      else if (word !== undefined) {
        const remedy = meant === '' ? `; there is: ${names.join(', ')}` : `${meant} A file of that name is ./${word}`
        throw new Error(`there is no sub-command ${JSON.stringify(word)}${remedy}`)
      }
      return (await start())(await settingsOf(command, settings, inFile), host)
    }
    if (load) command.action(reporting(path, () => run(load)))
    for (const below of commands) add(command, below)
  }
  for (const command of SUB_COMMANDS) add(program, command)
  // For the help: they have run already.
  for (const { name, summary } of PLUGINS) program.command(name).description(summary)
  const version = program.command('version').description(VERSION_SUMMARY)
  version.addOption(new Option('-o, --output <format>', 'json: all that is known, as JSON').choices(['json']))
  const printVersion = async (): Promise<number> => {
    const { factsLine, programFacts } = await import('./version/programFacts.ts')
    const facts = await programFacts()
    const { output } = version.opts<{ output?: 'json' }>()
    host.out(output === 'json' ? JSON.stringify(facts, undefined, 2) : factsLine(facts))
    return 0
  }
  version.action(reporting('version', printVersion))
  const completion = program
    .command('completion')
    .description('print the script that completes command lines of orrery in a shell')
    .addArgument(new Argument('<shell>', 'whose script').choices(SHELLS))
    .addHelpText('after', COMPLETION_NOTES)
  completion.action((shell: Shell) =>
    reporting('completion', async () => {
      host.out(completionScript(shell).trimEnd())
      return 0
    })(),
  )
  return { program, result }
}

/** A name without its flag; it goes before the environment and a file, and contradicts no flag. */
function takeArgument(command: Command, setting: Setting, word: string | undefined): void {
  if (word === undefined) return
  const attribute = attributeOf(setting)
  const flag = command.getOptionValueSource(attribute) === 'cli' ? command.getOptionValue(attribute) : word
  if (flag !== word) throw new Error(`it names ${JSON.stringify(word)}, and ${JSON.stringify(flag)} by its flag`)
  command.setOptionValueWithSource(attribute, word, 'cli')
}

const COMPLETION_NOTES = `
  bash:  source <(orrery completion bash)
  zsh:   source <(orrery completion zsh)
  fish:  orrery completion fish | source

kubectl completes "kubectl ws" and "kubectl kubestellar" itself, where kubectl_complete-ws and kubectl_complete-kubestellar are on
the PATH.`
