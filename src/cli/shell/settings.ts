/** Settings from four places, the first wins: flag, environment (`ORRERY_*`), YAML config file, default. */
import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { yaml } from '../../apimachinery/yaml.ts'

export interface Setting {
  /** `--data-dir <dir>`, as commander reads it. */
  flags: string
  description: string
  default?: string | number | boolean
  choices?: readonly string[]
  /** The value must be a whole number. */
  number?: boolean
  /** The smallest and largest numbers that will do. */
  minimum?: number
  maximum?: number
  /** Several values; comma-separated in the environment. */
  list?: boolean
  /** `true` or `false`; the flag alone means `true`. Write its flags as `--x [bool]`. */
  boolean?: boolean
  required?: boolean
  /** As `required`, where there is nothing but the flag. */
  mandatory?: boolean
  /** Not in the help. */
  hidden?: boolean
  /** Reads the value, also that of the default. */
  parse?(text: string, before?: unknown): unknown
  /** Neither in the environment nor in a config file. */
  flagOnly?: boolean
  /** A further environment variable, of another program whose settings are understood; empty is as if it was not there. */
  alias?: string
}

/** One that is a flag alone. */
export function flag(flags: string, description: string, more: Partial<Setting> = {}): Setting {
  return { flags, description, flagOnly: true, ...more }
}

/** Reads each value of a repeatable flag. */
export function repeated(value: string, before?: string[]): string[] {
  return [...(before ?? []), value]
}

export function addSettings(command: Command, settings: readonly Setting[]): void {
  for (const setting of settings) {
    const option = new Option(setting.flags, setting.description)
    if (!setting.flagOnly) option.env(variableOf(setting))
    if (setting.default !== undefined)
      option.default(setting.parse?.(String(setting.default)) ?? setting.default, JSON.stringify(setting.default))
    if (setting.choices) option.choices(setting.choices)
    if (setting.number) option.argParser(wholeNumber)
    if (setting.boolean) option.preset('true').argParser(trueOrFalse)
    if (setting.list) option.argParser((value, before?: string[]) => [...(before ?? []), ...value.split(',')])
    if (setting.parse) option.argParser(setting.parse)
    if (setting.hidden) option.hideHelp()
    if (setting.mandatory) option.makeOptionMandatory()
    command.addOption(option)
  }
}

function textOf(config: string): string {
  try {
    return readFileSync(config, 'utf8')
  } catch (error) {
    throw new Error(`--config ${config} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * The settings of a parsed command, by camel-case name. `inFile` are the allowed settings of its config file: more, when that is also
 * another command's.
 * @throws Error naming one that is missing, unknown, too small or too large
 */
export async function settingsOf(
  command: Command,
  settings: readonly Setting[],
  inFile = settings,
): Promise<Record<string, unknown>> {
  const values = command.opts<Record<string, unknown>>()
  if (typeof values.config === 'string') {
    const file = await configOf(values.config, inFile)
    for (const setting of settings) {
      const value = file[nameOf(setting)]
      const name = attributeOf(setting)
      const source = command.getOptionValueSource(name)
      if (value !== undefined && (source === undefined || source === 'default')) values[name] = asFlag(setting, value)
    }
  }
  for (const setting of settings) {
    const value = values[attributeOf(setting)]
    if (setting.minimum !== undefined && typeof value === 'number' && value < setting.minimum)
      throw new Error(`--${nameOf(setting)}: ${value} is less than ${setting.minimum}`)
    if (setting.maximum !== undefined && typeof value === 'number' && value > setting.maximum)
      throw new Error(`--${nameOf(setting)}: ${value} is more than ${setting.maximum}`)
    if (setting.required && value === undefined) {
      throw new Error(
        `--${nameOf(setting)} is required (or ${environmentName(setting)}, or "${nameOf(setting)}" in the config file)`,
      )
    }
  }
  return values
}

/** Settings by the names of their flags, for who wants to know what a program runs with. Those that have no value are left out. */
export function shownSettings(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`), value]),
  )
}

type ConfigValue = string | number | boolean | (string | number)[]

/** @throws Error naming file and setting */
async function configOf(path: string, settings: readonly Setting[]): Promise<Record<string, ConfigValue>> {
  const { checkerOf } = await import('../../apimachinery/ownDocuments.ts')
  const text = textOf(path)
  try {
    const inFile = settings.filter(setting => !setting.flagOnly)
    const properties = Object.fromEntries(inFile.map(setting => [nameOf(setting), schemaOf(setting)]))
    const check = checkerOf<Record<string, ConfigValue>>(
      { type: 'object', properties, additionalProperties: false },
      'the config file',
    )
    return check(yaml().parse(text) ?? {})
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

/** Schema of a setting in a config file. */
function schemaOf(setting: Setting): object {
  const one = { type: ['string', 'number'] }
  if (setting.choices) return { enum: setting.choices }
  if (setting.boolean) return { enum: [true, false, 'true', 'false'] }
  if (setting.number)
    return { type: ['integer', 'string'], pattern: '^\\d+$', $comment: 'is not a whole number', minimum: 0 }
  return setting.list ? { type: ['array', 'string', 'number'], items: one } : one
}

/** Value of a config file in the form of the flag. */
function asFlag(setting: Setting, value: ConfigValue): unknown {
  if (setting.list) return [value].flat().flatMap(item => String(item).split(','))
  if (setting.boolean) return String(value) === 'true'
  return setting.number ? Number(value) : String(value)
}

function nameOf(setting: Setting): string {
  return /--([a-z-]+)/.exec(setting.flags)![1]!
}

export function attributeOf(setting: Setting): string {
  return nameOf(setting).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function environmentName(setting: Setting): string {
  return `ORRERY_${nameOf(setting).toUpperCase().replaceAll('-', '_')}`
}

/** The one that is read: the program's own, unless only the other is set. */
function variableOf(setting: Setting): string {
  const own = environmentName(setting)
  const { alias } = setting
  return alias !== undefined && process.env[own] === undefined && process.env[alias] ? alias : own
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is not a whole number`)
  return Number(text)
}

function trueOrFalse(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('must be true or false')
  return text === 'true'
}
