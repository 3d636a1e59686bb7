/**
 * A line of the log for a person at a terminal: when, how bad, what, and then what it is about. JSON says the same, for
 * programs. Nothing that a line tells of can move the cursor or begin a line of its own.
 */
import { LOG_LEVELS } from './logLevel.ts'

interface LogLine {
  readonly level: number
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly msg: string
  readonly [field: string]: unknown
}

/** They are the same in every line, and known to who started the program. */
const OWN_PLACE = new Set(['level', 'time', 'pid', 'hostname', 'msg'])
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(LOG_LEVELS).map(([name, level]) => [level, name.toUpperCase()]),
)
const COLOURS: Readonly<Record<string, string>> = { WARN: '\u001b[33m', ERROR: '\u001b[31m', FATAL: '\u001b[31m' }
const PLAIN = '\u001b[0m'
/** More of one field is for JSON. */
const FIELD_CHARACTERS = 2000
const BARE = /^[^\s"={}[\]\\]+$/

/** As `10:20:30.123 WARN  the center cannot be reached  host=a err="…"`; the time is that of the machine's zone. */
export function textLine(line: LogLine, { component, coloured }: { component: string; coloured: boolean }): string {
  const level = NAMES.get(line.level) ?? String(line.level)
  const shown =
    coloured && COLOURS[level] !== undefined ? `${COLOURS[level]}${level.padEnd(5)}${PLAIN}` : level.padEnd(5)
  const fields = Object.entries(line)
    // a line about an object has the object's name where others have the program's
    .filter(([name, value]) => !OWN_PLACE.has(name) && value !== undefined && !(name === 'name' && value === component))
    .map(([name, value]) => `${name}=${shownValue(value)}`)
  return `${timeOf(line.time)} ${shown} ${[tame(line.msg), ...(fields.length > 0 ? ['', ...fields] : [])].join(' ')}\n`
}

function timeOf(ms: number): string {
  const at = new Date(ms)
  const two = (n: number): string => String(n).padStart(2, '0')
  const millis = String(at.getMilliseconds()).padStart(3, '0')
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${millis}`
}

/** Message of an error: its place in the program is in JSON. */
function shownValue(value: unknown): string {
  const isError = typeof value === 'object' && value !== null && 'message' in value && 'stack' in value
  const shown = isError ? value.message : value
  const text = typeof shown === 'string' ? shown : (JSON.stringify(shown) ?? String(shown))
  const cut = text.length > FIELD_CHARACTERS ? `${text.slice(0, FIELD_CHARACTERS)}…` : text
  return typeof shown !== 'string' || BARE.test(cut) ? tame(cut) : tame(JSON.stringify(cut))
}

/** Control characters of a terminal are written as `\u001b`. */
function tame(text: string): string {
  return text.replace(
    /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
