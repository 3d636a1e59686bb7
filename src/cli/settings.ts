/** Settings from four places, the first wins: flag, environment (`ORRERY_*`), YAML config file, default. */
import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { yaml } from '../apimachinery/yaml.ts'

export interface Setting {
  /** `--data-dir <dir>`, as commander reads it. */
  flags: string
  description: string
  default?: string | number | boolean
  choices?: readonly string[]
  /** The value must be a whole number. */
  number?: boolean
  /** Several values; comma-separated in the environment. */
  list?: boolean
  /** `true` or `false`; the flag alone means `true`. Write its flags as `--x [bool]`. */
  boolean?: boolean
  required?: boolean
}

export function addSettings(command: Command, settings: readonly Setting[]): void {
  for (const setting of settings) {
    const option = new Option(setting.flags, setting.description).env(environmentName(setting))
    if (setting.default !== undefined) option.default(setting.default)
    if (setting.choices) option.choices(setting.choices)
    if (setting.number) option.argParser(wholeNumber)
    if (setting.boolean) option.preset('true').argParser(trueOrFalse)
    if (setting.list)
      option.argParser((value, before: string[] | undefined) => [...(before ?? []), ...value.split(',')])
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

/** The settings of a parsed command, by camel-case name. @throws Error naming a missing or unknown one */
export function settingsOf(command: Command, settings: readonly Setting[]): Record<string, unknown> {
  const values = command.opts<Record<string, unknown>>()
  if (typeof values.config === 'string') {
    const file: unknown = yaml().parse(textOf(values.config)) ?? {}
    if (typeof file !== 'object' || Array.isArray(file))
      throw new Error(`${values.config}: the config file must hold a YAML mapping`)
    for (const [key, value] of Object.entries(file as Record<string, unknown>)) {
      const setting = settings.find(s => nameOf(s) === key)
      if (setting === undefined) {
        throw new Error(
          `${values.config}: unknown setting ${JSON.stringify(key)}; known are ${settings.map(nameOf).join(', ')}`,
        )
      }
      const name = attributeOf(setting)
      const source = command.getOptionValueSource(name)
      if (source === undefined || source === 'default') values[name] = fromFile(setting, value, values.config)
    }
  }
  for (const setting of settings) {
    if (setting.required && values[attributeOf(setting)] === undefined) {
      throw new Error(
        `--${nameOf(setting)} is required (or ${environmentName(setting)}, or "${nameOf(setting)}" in the config file)`,
      )
    }
  }
  return values
}

/** What a config file says, as the flag would have it. @throws Error naming file and setting */
function fromFile(setting: Setting, value: unknown, file: string): unknown {
  const fail = (why: string): never => {
    throw new Error(`${file}: ${nameOf(setting)}: ${why}`)
  }
  const texts = (Array.isArray(value) ? value : [value]).map(item =>
    typeof item === 'string' || typeof item === 'number' || (setting.boolean && typeof item === 'boolean')
      ? String(item)
      : fail('must be a text or a number'),
  )
  if (setting.list) return texts.flatMap(text => text.split(','))
  const [text = '', ...more] = texts
  if (more.length > 0) fail('takes one value')
  if (setting.choices && !setting.choices.includes(text)) fail(`must be one of ${setting.choices.join(', ')}`)
  if (setting.boolean) return text === 'true' || (text !== 'false' && fail('must be true or false'))
  if (!setting.number) return text
  return /^\d+$/.test(text) ? Number(text) : fail(`${JSON.stringify(text)} is not a whole number`)
}

function nameOf(setting: Setting): string {
  return /--([a-z-]+)/.exec(setting.flags)![1]!
}

function attributeOf(setting: Setting): string {
  return nameOf(setting).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function environmentName(setting: Setting): string {
  return `ORRERY_${nameOf(setting).toUpperCase().replaceAll('-', '_')}`
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is not a whole number`)
  return Number(text)
}

function trueOrFalse(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('must be true or false')
  return text === 'true'
}
