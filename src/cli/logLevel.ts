/** How much a program writes into its log. */

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

const VARIABLE = 'ORRERY_LOG_LEVEL'

/** What the environment asks for, or `info`. @throws Error when that is no level: who wants to see more must not miss it */
export function logLevel(environment: Readonly<Record<string, string | undefined>> = process.env): LogLevel {
  const asked = environment[VARIABLE]
  if (asked === undefined || asked === '') return 'info'
  if (isLevel(asked)) return asked
  throw new Error(`${VARIABLE}: "${asked}" is no level; it must be one of ${Object.keys(LOG_LEVELS).join(', ')}`)
}

function isLevel(text: string): text is LogLevel {
  return Object.hasOwn(LOG_LEVELS, text)
}
