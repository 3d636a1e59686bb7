/**
 * Continuations of a command line, for shells. The server gives the names of spaces and clusters; all else stands in the command's own
 * description. The answer has the form of cobra's `__complete`, which kubectl asks its plugins for.
 * @see https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/ (kubectl_complete-*)
 */
import type { Argument, Command, Option } from 'commander'

export interface Candidate {
  readonly value: string
  readonly description?: string
}

/** Words that only the server knows. */
type Live = 'space' | 'synctarget' | 'location'

export interface NameQuery {
  readonly what: Live
  /** Start of the word. */
  readonly word: string
  /** Values of options that were given before, by long name without dashes. */
  readonly given: Readonly<Record<string, string>>
}

/** Cobra's ShellCompDirective. */
export const FILES = 0
export const NOTHING_ELSE = 4

interface Completion {
  readonly candidates: readonly Candidate[]
  readonly directive: number
}

/** By the name of an argument, or the long name of an option. */
const MEANINGS: Readonly<Record<string, Live>> = {
  path: 'space',
  space: 'space',
  imw: 'space',
  espw: 'space',
  inventory: 'space',
  synctarget: 'synctarget',
  location: 'synctarget',
  cluster: 'location',
}
const FILE = /file|dir|output$/

/** `words`: all after the program's name; the last is the one that is completed, and may be empty. */
export async function complete(
  program: Command,
  words: readonly string[],
  ask: (query: NameQuery) => Promise<readonly Candidate[]>,
): Promise<Completion> {
  const word = words.at(-1) ?? ''
  const { command, given, open, taken } = follow(program, words.slice(0, -1))
  const inline = /^(--[^=]+)=(.*)$/s.exec(word)
  const option = open ?? (inline ? optionOf(command, inline[1]!) : undefined)
  if (option !== undefined) {
    const value = inline && !open ? inline[2]! : word
    const lead = inline && !open ? `${inline[1]}=` : ''
    const { candidates, directive } = await valuesOf(option, value, { given, ask })
    return { candidates: candidates.map(each => ({ ...each, value: lead + each.value })), directive }
  }
  if (word.startsWith('-')) return only(flagsOf(command), word)
  const below = command.commands.filter(each => !each.name().startsWith('_')).map(describe)
  const own = defaultOf(command)
  const argument = argumentAt(command, taken) ?? (own && argumentAt(own, taken))
  if (argument?.argChoices)
    return only(
      argument.argChoices.map(value => ({ value })),
      word,
    )
  const live = argument && meaningOf(argument.name())
  const liveOnes = live === undefined ? [] : await ask({ what: live, word, given })
  if (taken === 0 && below.length > 0) return only([...below, ...liveOnes], word)
  if (live !== undefined) return only(liveOnes, word)
  return { candidates: [], directive: argument === undefined ? NOTHING_ELSE : FILES }
}

/** As kubectl and the shells' scripts read it. */
export function completionText({ candidates, directive }: Completion): string {
  const lines = candidates.map(({ value, description }) => (description ? `${value}\t${description}` : value))
  return [...lines, `:${directive}`].join('\n')
}

interface Followed {
  command: Command
  given: Record<string, string>
  /** An option whose value comes next. */
  open: Option | undefined
  /** Arguments of `command` that stand there. */
  taken: number
}

function follow(program: Command, words: readonly string[]): Followed {
  const found: Followed = { command: program, given: {}, open: undefined, taken: 0 }
  for (const word of words) {
    if (found.open) {
      found.given[found.open.long?.slice(2) ?? ''] = word
      found.open = undefined
      continue
    }
    if (word.startsWith('-')) {
      const [flag = '', value] = splitFlag(word)
      const option = optionOf(found.command, flag)
      if (value !== undefined) found.given[flag.slice(2)] = value
      else if (option?.required) found.open = option
      continue
    }
    const below = found.taken === 0 ? found.command.commands.find(each => each.name() === word) : undefined
    if (below) found.command = below
    else found.taken++
  }
  return found
}

function splitFlag(word: string): [string, string | undefined] {
  const at = word.indexOf('=')
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

async function valuesOf(
  option: Option,
  word: string,
  { given, ask }: { given: Record<string, string>; ask: (query: NameQuery) => Promise<readonly Candidate[]> },
): Promise<Completion> {
  const choices = option.argChoices
  if (choices !== undefined)
    return only(
      choices.map(value => ({ value })),
      word,
    )
  const name = option.long?.slice(2) ?? ''
  const live = meaningOf(name)
  if (live !== undefined) return only(await ask({ what: live, word, given }), word)
  return { candidates: [], directive: FILE.test(`${name} ${option.flags}`) ? FILES : NOTHING_ELSE }
}

function meaningOf(name: string): Live | undefined {
  return Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined
}

function only(candidates: readonly Candidate[], word: string): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(word)), directive: NOTHING_ELSE }
}

function optionOf(command: Command, flag: string): Option | undefined {
  return [command, defaultOf(command)]
    .flatMap(each => each?.options ?? [])
    .find(({ short, long }) => flag === short || flag === long)
}

function flagsOf(command: Command): Candidate[] {
  const help = { value: '--help', description: 'display help for command' }
  const options = [command, defaultOf(command)].flatMap(each => each?.options ?? []).filter(({ hidden }) => !hidden)
  return [...options.map(({ long, short, description }) => ({ value: long ?? short ?? '', description })), help]
}

function describe(command: Command): Candidate {
  return { value: command.name(), description: command.description() }
}

function argumentAt({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1)
  return registeredArguments[index] ?? (last?.variadic ? last : undefined)
}

/** The sub-command that runs where none is named. */
function defaultOf(command: Command): Command | undefined {
  const name = (command as unknown as { _defaultCommandName?: string })._defaultCommandName
  return name === undefined ? undefined : command.commands.find(each => each.name() === name)
}
