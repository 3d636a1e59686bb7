/** How much a program writes into its log, and in which form. */

/** As the lines say them. */
export const LOG_LEVELS = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
} as const
export type LogLevel = keyof typeof LOG_LEVELS

/** `text`: for people, a line each; `json`: for programs. */
export type LogFormat = 'text' | 'json'

interface LogChoice {
  readonly level: LogLevel
  readonly format: LogFormat
}

const VARIABLE = 'ORRERY_LOG_LEVEL'

/** Level from the environment, or `info`. @throws Error when that is no level: a mistyped level must not pass unseen */
export function logLevel(environment: Readonly<Record<string, string | undefined>> = process.env): LogLevel {
  return levelOf(environment[VARIABLE], VARIABLE)
}

/**
 * Destination of the settings `log-level` and `log-format`. Without a format it is text where a person looks on, else JSON: what collects
 * logs is no terminal.
 * @throws Error naming the flag whose value is none
 */
export function logChoice(
  settings: Readonly<Record<string, unknown>>,
  isTerminal = process.stderr.isTTY === true,
): LogChoice {
  const level = levelOf(settings.logLevel as string | undefined, '--log-level')
  const given = settings.logFormat
  if (given === 'text' || given === 'json') return { level, format: given }
  if (given === undefined || given === '' || given === 'auto') return { level, format: isTerminal ? 'text' : 'json' }
  throw new Error(`--log-format: ${JSON.stringify(given)} is no format; it must be one of auto, text, json`)
}

function levelOf(given: string | undefined, from: string): LogLevel {
  if (given === undefined || given === '') return 'info'
  if (isLevel(given)) return given
  throw new Error(`${from}: "${given}" is no level; it must be one of ${Object.keys(LOG_LEVELS).join(', ')}`)
}

function isLevel(text: string): text is LogLevel {
  return Object.hasOwn(LOG_LEVELS, text)
}
