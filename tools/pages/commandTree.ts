/** All commands of Orrery's programs, as their own descriptions tell them. */
import { type Command, Help, type Option } from 'commander'
import { KUBESTELLAR } from '../../src/cli/kubestellar/program.ts'
import { orreryProgram } from '../../src/cli/orrery/main.ts'
import { pluginProgram } from '../../src/cli/shell/plugin.ts'
import { WS } from '../../src/cli/ws/program.ts'

export interface DescribedCommand {
  /** `kubectl ws create`. */
  readonly path: string
  /** `kubectl ws create [options] <name>`. */
  readonly usage: string
  readonly description: string
  readonly options: readonly DescribedOption[]
  /** Text of the help after the flags; `''` for none. */
  readonly notes: string
  /** Commands with an action. */
  readonly commands: readonly DescribedCommand[]
}

export interface DescribedOption {
  /** `-o, --output <format>`. */
  readonly flags: string
  /** With choices, the default and the environment variable, as the help has them. */
  readonly description: string
}

const NOBODY = { out: () => {}, err: () => {} }
const HELP = new Help()
HELP.prepareContext({ helpWidth: 120 })

export function commandTree(): DescribedCommand[] {
  const programs = [orreryProgram(), pluginProgram(WS, NOBODY), pluginProgram(KUBESTELLAR, NOBODY)]
  return programs.map(({ program }) => described(program, program.name()))
}

function described(command: Command, path: string): DescribedCommand {
  const commands = HELP.visibleCommands(command).filter(each => each.name() !== 'help')
  return {
    path,
    usage: `${path} ${command.usage()}`.trim(),
    description: command.description(),
    options: HELP.visibleOptions(command).map(option),
    notes: notesOf(command),
    commands: commands.map(below => described(below, `${path} ${below.name()}`)),
  }
}

function notesOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: text => (help += text) })
  command.outputHelp()
  return help.slice(command.helpInformation().length).trim()
}

function option(each: Option): DescribedOption {
  return { flags: HELP.optionTerm(each), description: HELP.optionDescription(each) }
}
