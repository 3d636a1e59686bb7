/**
 * Logs go to stderr, as JSON lines or for people; stdout belongs to what scripts read. Lines are made without a library, which would be a
 * tenth of the memory that a syncer needs.
 */
import type { LogFields } from '../../../apimachinery/logFields.ts'
import type { Logger } from '../../../client/logger.ts'
import { LOG_LEVELS, type LogFormat, type LogLevel, logLevel } from './logLevel.ts'
import { textLine } from './textLine.ts'

/** Headers may hold one. */
const SECRET = new Set(['token', 'authorization', 'headers'])
const REDACTED = '[Redacted]'
/** Errors may have one another as causes. */
const CAUSES = 5

interface LogOptions {
  component: string
  /** Stands in every line. */
  about?: LogFields
  /** Lines below it are not written. Default: ORRERY_LOG_LEVEL, or `info`. */
  level?: LogLevel
  /** Default: JSON. */
  format?: LogFormat
  /** Default: stderr. */
  write?: ((line: string) => void) | undefined
  now?: () => number
}

/** @throws Error when ORRERY_LOG_LEVEL is no level */
export function createLog(options: LogOptions): Logger {
  const { component, about = {}, format = 'json', write = toStderr, now = Date.now } = options
  const coloured = process.stderr.isTTY === true && !process.env.NO_COLOR
  const least = LOG_LEVELS[options.level ?? logLevel()]
  const at =
    (number: number) =>
    (fields: LogFields, msg: string): void => {
      if (number < least) return
      const line = {
        level: number,
        time: now(),
        pid: process.pid,
        name: component,
        ...about,
        ...shown(withObjectName(fields)),
        msg,
      }
      write(format === 'text' ? textLine(line, { component, coloured }) : `${JSON.stringify(line)}\n`)
    }
  return {
    debug: at(LOG_LEVELS.debug),
    info: at(LOG_LEVELS.info),
    warn: at(LOG_LEVELS.warn),
    error: at(LOG_LEVELS.error),
  }
}

function toStderr(line: string): void {
  process.stderr.write(line)
}

function shown(fields: LogFields): Record<string, unknown> {
  const all: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields))
    all[name] = SECRET.has(name) ? REDACTED : value instanceof Error ? errorIn(value) : value
  return all
}

/** Includes its causes; no other fields, for they may hold parts of a request. */
function errorIn(error: Error): object {
  const messages: string[] = []
  for (let one: unknown = error; one instanceof Error && messages.length < CAUSES; one = one.cause)
    messages.push(one.message)
  const code = 'code' in error ? { code: error.code } : {}
  const reason = 'reason' in error ? { reason: error.reason } : {}
  return { type: error.name, message: messages.join(': '), stack: error.stack, ...code, ...reason }
}

/** `name` in a line of the log is the program's, which separates the logs of many; `object` names the object. */
function withObjectName(fields: LogFields): LogFields {
  if (!('name' in fields)) return fields
  const { name, ...rest } = fields
  return { ...rest, object: name }
}
