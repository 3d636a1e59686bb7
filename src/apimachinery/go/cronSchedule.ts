/**
 * Fault of a cron schedule, in the words of the parser that upstream uses.
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax
 */
import { GO_DURATION } from '../structural/formats.ts'
import { goInteger } from './goIntegers.ts'
import { quotedAsGo } from './goPrint.ts'

interface Bounds {
  min: number
  max: number
  names?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const BOUNDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
]
const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']

/** `undefined` when the schedule is right. */
export function cronScheduleError(schedule: string): string | undefined {
  try {
    check(schedule)
    return undefined
  } catch (error) {
    if (error instanceof ScheduleError) return error.message
    throw error
  }
}

class ScheduleError extends Error {}

function check(schedule: string): void {
  if (schedule.startsWith('@')) {
    checkDescriptor(schedule)
    return
  }
  const fields = schedule.split(/\s+/).filter(field => field !== '')
  if (fields.length !== 5) {
    throw new ScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`)
  }
  for (const [i, field] of fields.entries()) {
    for (const range of field.split(',')) if (range !== '') checkRange(range, BOUNDS[i]!)
  }
}

function checkDescriptor(descriptor: string): void {
  if (DESCRIPTORS.includes(descriptor)) return
  if (!descriptor.startsWith('@every ')) throw new ScheduleError(`unrecognized descriptor: ${descriptor}`)
  const duration = descriptor.slice('@every '.length)
  if (duration !== '0' && !GO_DURATION.test(duration)) {
    throw new ScheduleError(`failed to parse duration ${descriptor}: time: invalid duration ${quotedAsGo(duration)}`)
  }
}

/** `*`, `a`, `a-b`, each with an optional `/step`. */
function checkRange(text: string, bounds: Bounds): void {
  const [span = '', step, ...tooMany] = text.split('/')
  const [low = '', high, ...more] = span.split('-')
  let start = bounds.min
  let end = bounds.max
  if (low !== '*' && low !== '?') {
    start = value(low, bounds)
    if (more.length > 0) throw new ScheduleError(`too many hyphens: ${text}`)
    end = high === undefined ? start : value(high, bounds)
  }
  if (tooMany.length > 0) throw new ScheduleError(`too many slashes: ${text}`)
  const stride = step === undefined ? 1 : integer(step)
  if (step !== undefined && high === undefined) end = bounds.max
  if (start < bounds.min)
    throw new ScheduleError(`beginning of range (${start}) below minimum (${bounds.min}): ${text}`)
  if (end > bounds.max) throw new ScheduleError(`end of range (${end}) above maximum (${bounds.max}): ${text}`)
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`)
  if (stride === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`)
}

function value(text: string, { names, min }: Bounds): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  return named < 0 ? integer(text) : named + min
}

function integer(text: string): number {
  const parsed = goInteger(text, 'Atoi')
  if (typeof parsed === 'string') throw new ScheduleError(`failed to parse int from ${text}: ${parsed}`)
  if (parsed < 0n) throw new ScheduleError(`negative number (${parsed}) not allowed: ${text}`)
  return Number(parsed)
}
