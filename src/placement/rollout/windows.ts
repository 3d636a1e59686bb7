/** Times of the week within which clusters may begin, in a time zone. Pure: the time comes in. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { has, records, str, strings } from '../../apimachinery/fields.ts'

const DAYS: readonly string[] = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

export interface Window {
  /** Positions in the names of days of the days on which it opens. */
  readonly days: ReadonlySet<number>
  /** Minutes of the day. With `to` before `from` it closes on the day after. */
  readonly from: number
  readonly to: number
  /** IANA's name. */
  readonly timeZone: string
}

export const MAX_WINDOWS = 16
const DAY = 24 * 60
const MINUTE_MS = 60_000
/** A change of the clocks moves an opening: who waits looks again so long before. */
const CLOCK_CHANGE = 60

/** Whether any of the windows is open; without windows it always is. `opensAtMs`: when to look again. */
export function openWindow(windows: readonly Window[], nowMs: number): { isOpen: boolean; opensAtMs?: number } {
  if (windows.length === 0) return { isOpen: true }
  let wait = Number.POSITIVE_INFINITY
  for (const window of windows) {
    const { day, minute } = localTime(nowMs, window.timeZone)
    if (isOpenAt(window, day, minute)) return { isOpen: true }
    for (let ahead = 0; ahead <= 7; ahead++) {
      const minutes = ahead * DAY + window.from - minute
      if (minutes > 0 && window.days.has((day + ahead) % 7)) wait = Math.min(wait, minutes)
    }
  }
  const minutes = wait > CLOCK_CHANGE * 2 ? wait - CLOCK_CHANGE : wait
  return { isOpen: false, opensAtMs: (Math.floor(nowMs / MINUTE_MS) + minutes) * MINUTE_MS }
}

function isOpenAt({ days, from, to }: Window, day: number, minute: number): boolean {
  if (from < to) return days.has(day) && minute >= from && minute < to
  return (days.has(day) && minute >= from) || (days.has((day + 6) % 7) && minute < to)
}

/** For people: `Mon, Tue 09:00-17:00 Europe/Berlin`. */
export function windowText({ days, from, to, timeZone }: Window): string {
  const named = days.size === 7 ? 'daily' : DAYS.filter((_, i) => days.has(i)).join(', ')
  return `${named} ${clockText(from)}-${clockText(to)} ${timeZone}`
}

function clockText(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map(part => String(part).padStart(2, '0')).join(':')
}

function localTime(nowMs: number, timeZone: string): { day: number; minute: number } {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(nowMs)
  const part = (type: string): string => parts.find(one => one.type === type)?.value ?? ''
  const day = DAYS.indexOf(part('weekday'))
  return { day, minute: Number(part('hour')) * 60 + Number(part('minute')) }
}

export function readWindows(value: unknown, base: string, problems: FieldError[]): Window[] {
  const written = records(value, 'windows')
  if (written.length > MAX_WINDOWS) problems.push(fieldError.tooMany(base, written.length, MAX_WINDOWS))
  return written.slice(0, MAX_WINDOWS).map((one, i) => {
    const field = `${base}[${i}]`
    const [from, to] = [readMinutes(one, 'from', field, problems), readMinutes(one, 'to', field, problems)]
    if (from === to && from >= 0)
      problems.push(
        fieldError.invalid(
          `${field}.to`,
          str(one, 'to'),
          'the window never opens: from and to are the same; for whole days use "00:00" to "24:00"',
        ),
      )
    return { days: readDays(one, field, problems), from, to, timeZone: readZone(one, field, problems) }
  })
}

const CLOCK = /^([01][0-9]|2[0-3]):([0-5][0-9])$/

function readMinutes(window: unknown, name: 'from' | 'to', field: string, problems: FieldError[]): number {
  const text = str(window, name)
  if (name === 'to' && text === '24:00') return DAY
  const parts = CLOCK.exec(text)
  if (parts) return Number(parts[1]) * 60 + Number(parts[2])
  problems.push(
    text === ''
      ? fieldError.required(`${field}.${name}`, 'a time of the day such as "09:00"')
      : fieldError.invalid(`${field}.${name}`, text, 'must be a time of the day such as "09:00"'),
  )
  return -1
}

function readDays(window: unknown, field: string, problems: FieldError[]): ReadonlySet<number> {
  if (!has(window, 'days')) return new Set(DAYS.keys())
  const days = new Set<number>()
  for (const [i, name] of strings(window, 'days').entries()) {
    const day = DAYS.indexOf(name)
    if (day < 0) problems.push(fieldError.notSupported(`${field}.days[${i}]`, name, DAYS))
    else days.add(day)
  }
  if (days.size === 0 && problems.length === 0)
    problems.push(fieldError.required(`${field}.days`, 'the window never opens: name days, or leave them out for all'))
  return days
}

function readZone(window: unknown, field: string, problems: FieldError[]): string {
  const zone = str(window, 'timeZone') || 'Etc/UTC'
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    problems.push(fieldError.invalid(`${field}.timeZone`, zone, 'must be a time zone such as "Europe/Berlin"'))
  }
  return zone
}
