/** Arguments of the commands, checked as the server will check them: names, labels, durations. */
import { InvalidArgumentError } from 'commander'
import { dns1123Subdomain, labelValue, qualifiedName } from '../../apimachinery/nameRules.ts'
import { CommandError } from '../shell/commandError.ts'
import { durationMs } from '../shell/durations.ts'

/** @throws CommandError when no SyncTarget and Location can be called so */
export function checkObjectName(name: string): void {
  if (dns1123Subdomain(name).length === 0) return
  const rule =
    'use lower-case letters, digits, "-" and ".", with a letter or digit first and last, 253 characters at most'
  throw new CommandError(`${JSON.stringify(name)} is not a valid name: ${rule}`)
}

export interface LabelArguments {
  /** Labels in the form `key=value`. */
  readonly labels: Readonly<Record<string, string>>
  /** Keys of `key-`. */
  readonly removed: readonly string[]
}

/** {@link labelsOf}, of which there must be one. */
export function parseLabels(args: readonly string[]): LabelArguments {
  if (args.length === 0) throw new CommandError('must be given at least one label key=value')
  return labelsOf(args)
}

/** A Location by its name and labels. @throws CommandError naming the argument that is wrong */
export function inventoryEntry(name: string, labels: readonly string[]): LabelArguments & { readonly name: string } {
  checkObjectName(name)
  return { name, ...parseLabels(labels) }
}

/** As `kubectl label` takes them. The label `id` is ours. @throws CommandError naming the argument that is wrong */
export function labelsOf(args: readonly string[]): LabelArguments {
  const labels: Record<string, string> = {}
  const removed = new Set<string>()
  for (const argument of args) {
    const [key = '', value, ...more] = argument.split('=')
    if (value === undefined && key.endsWith('-')) {
      const name = key.slice(0, -1)
      const problems = qualifiedName(name)
      if (problems.length > 0) throw new CommandError(`syntax error in key of ${argument}: ${problems.join('; ')}`)
      if (name === 'id') throw new CommandError(`'id' label may not be taken away: the Location selects by it`)
      removed.add(name)
      continue
    }
    if (value === undefined || more.length > 0) {
      const [name = '', meant, ...rest] = argument.split(':')
      const hint = meant && rest.length === 0 ? `; did you mean ${name}=${meant}?` : ''
      throw new CommandError(
        `${JSON.stringify(argument)} is no label: write NAME=VALUE, or NAME- to take one away${hint}`,
      )
    }
    const keyProblems = qualifiedName(key)
    if (keyProblems.length > 0) throw new CommandError(`syntax error in key of ${argument}: ${keyProblems.join('; ')}`)
    const valueProblems = value === '' ? ['must not be empty'] : labelValue(value)
    if (valueProblems.length > 0) {
      throw new CommandError(`syntax error in value of ${argument}: ${valueProblems.join('; ')}`)
    }
    if (key === 'id') throw new CommandError(`'id' label may not be specified`)
    labels[key] = value
  }
  const both = Object.keys(labels).find(key => removed.has(key))
  if (both !== undefined) throw new CommandError(`the label "${both}" is set and taken away in one command; choose one`)
  return { labels, removed: [...removed] }
}

/** Reads the seconds of a `--lifetime` of at most so many. @throws InvalidArgumentError */
export function lifetime(mostSeconds: number, meaning = ''): (text: string) => number {
  return text => {
    const seconds = Math.floor((durationMs(text) ?? 0) / 1000)
    if (seconds >= MIN_LIFETIME_SECONDS && seconds <= mostSeconds) return seconds
    throw new InvalidArgumentError(`It is no duration between 10m and ${mostSeconds / 3600}h${meaning}.`)
  }
}

/** The shortest time that servers give to certificates and tokens. */
const MIN_LIFETIME_SECONDS = 600

/** Reads the whole seconds of a `--timeout`: a duration, or a number without a unit. @throws InvalidArgumentError */
export function timeoutSeconds(text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : durationMs(text)
  if (ms !== undefined && ms <= MAX_TIMEOUT_MS) return Math.ceil(ms / 1000)
  throw new InvalidArgumentError('It is no duration such as 90s or 5m, of at most 24h.')
}

/** Timers have a bound. */
const MAX_TIMEOUT_MS = 24 * 3_600_000
