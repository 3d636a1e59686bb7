/** Fields of an object that a cluster does not hold as they were sent, in their form for people. Pure. */
import type { StatusError } from '../../apimachinery/errors.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { oneLine } from '../../apimachinery/oneLine.ts'

type FieldChange = 'Dropped' | 'Changed'

export interface FieldDifference {
  /** Such as `spec.template.spec.containers[name=web].image`. */
  readonly path: string
  readonly change: FieldChange
  /** As JSON, shortened; both absent where values are withheld. */
  readonly wanted?: string
  /** The same of what the cluster holds. */
  readonly live?: string
  /** Whether it decides whether or how something runs. */
  readonly decisive: boolean
}

/** A field that is left to the cluster. */
export interface LiveField {
  /** As of a difference. */
  readonly path: string
  /** As JSON, shortened. */
  readonly live: string
}

/** Reasons of exceptions: the first of the differences decides. */
export const FIELDS_DROPPED = 'FieldsDropped'
export const FIELDS_CHANGED = 'FieldsChanged'

/** Bound for one object; the message counts the rest. */
export const MAX_DIFFERENCES = 8
export const MAX_PATH = 200
export const MAX_VALUE = 80

export function isFieldsReason(reason: string): boolean {
  return reason === FIELDS_DROPPED || reason === FIELDS_CHANGED
}

/** @param count of all differences, listed or not */
export function differenceWords(differences: readonly FieldDifference[], count: number, characters: number): string {
  const room = characters - 20
  let words = ''
  let shown = 0
  for (const one of differences) {
    const next = `${shown === 0 ? 'the cluster ' : ', '}${wordsOf(one)}`
    if (shown > 0 && words.length + next.length > room) break
    words += next
    shown++
  }
  const more = count - shown
  const text = oneLine(words, room)
  return more > 0 ? `${text}, and ${more} more` : text
}

function wordsOf({ path, change, wanted, live }: FieldDifference): string {
  if (change === 'Dropped') return `drops ${path}${wanted === undefined ? '' : ` (${wanted})`}`
  return `changes ${path}${wanted === undefined || live === undefined ? '' : ` from ${wanted} to ${live}`}`
}

type Bad = (field: string, why: string) => StatusError

/** From what a syncer sends. @throws what `bad` makes, naming the field */
export function readDifferences(value: unknown, at: string, bad: Bad): FieldDifference[] {
  return readFields(value, at, bad, (item, { where, text }) => {
    const { change, wanted, live } = item
    if (typeof change !== 'string') throw bad(`${where}.change`, 'must be a text')
    return {
      path: text('path', MAX_PATH),
      // a syncer of a later release may know more
      change: change === 'Dropped' ? change : 'Changed',
      ...(wanted !== undefined && { wanted: text('wanted', MAX_VALUE) }),
      ...(live !== undefined && { live: text('live', MAX_VALUE) }),
      decisive: item.decisive === true,
    }
  })
}

/** As {@link readDifferences}. */
export function readLiveFields(value: unknown, at: string, bad: Bad): LiveField[] {
  return readFields(value, at, bad, (_item, { text }) => ({
    path: text('path', MAX_PATH),
    live: text('live', MAX_VALUE),
  }))
}

interface FieldReader {
  readonly where: string
  text(field: string, limit: number): string
}

function readFields<T>(
  value: unknown,
  at: string,
  bad: Bad,
  read: (item: Record<string, unknown>, reader: FieldReader) => T,
): T[] {
  if (!Array.isArray(value) || value.length > MAX_DIFFERENCES)
    throw bad(at, `must be a list of at most ${MAX_DIFFERENCES}`)
  return value.map((item: unknown, i) => {
    const where = `${at}[${i}]`
    if (!isRecord(item)) throw bad(where, 'must be an object')
    const text = (field: string, limit: number): string => {
      const value = item[field]
      if (typeof value !== 'string' || value.length > limit)
        throw bad(`${where}.${field}`, `must be a text of at most ${limit} characters`)
      return oneLine(value)
    }
    return read(item, { where, text })
  })
}
