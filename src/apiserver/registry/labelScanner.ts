/**
 * The labels of a stored object, read in place: a selection among many objects reads no more of each than the bytes before them. Stored
 * bytes are what `encodeObject` wrote: JSON without spaces, the metadata behind apiVersion and kind.
 */
import { isRecord } from '../../apimachinery/object.ts'

type Labels = Record<string, string> | undefined

/** `unread` when the bytes are not as expected: then the object has to be parsed. */
export function scanLabels(bytes: Buffer): Labels | 'unread' {
  let at = member(bytes, 0, API_VERSION)
  at = member(bytes, at, KIND)
  if (at < 0 || !startsWith(bytes, at, METADATA)) return 'unread'
  at += METADATA.length
  if (bytes[at] === CLOSE) return undefined
  for (;;) {
    const value = stringEnd(bytes, at) + 1
    if (value <= 0 || bytes[value - 1] !== COLON) return 'unread'
    const end = valueEnd(bytes, value)
    if (end < 0) return 'unread'
    if (value - at === LABELS.length && startsWith(bytes, at, LABELS)) {
      const labels: unknown = JSON.parse(bytes.toString('utf8', value, end))
      return isRecord(labels) ? (labels as Record<string, string>) : 'unread'
    }
    if (bytes[end] === CLOSE) return undefined
    if (bytes[end] !== COMMA) return 'unread'
    at = end + 1
  }
}

const API_VERSION = Buffer.from('{"apiVersion":')
const KIND = Buffer.from(',"kind":')
const METADATA = Buffer.from(',"metadata":{')
const LABELS = Buffer.from('"labels":')
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN = 0x7b
const CLOSE = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d

/** Behind a member whose value is a string; -1 where `start` does not stand at `at`. */
function member(bytes: Buffer, at: number, start: Buffer): number {
  return at >= 0 && startsWith(bytes, at, start) ? stringEnd(bytes, at + start.length) : -1
}

function startsWith(bytes: Buffer, at: number, start: Buffer): boolean {
  for (let i = 0; i < start.length; i++) if (bytes[at + i] !== start[i]) return false
  return true
}

/** Behind the string that begins at `at`; -1 where none does. */
function stringEnd(bytes: Buffer, at: number): number {
  if (bytes[at] !== QUOTE) return -1
  for (let i = at + 1; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) return i + 1
    if (byte === BACKSLASH) i++
  }
  return -1
}

/** Behind the value that begins at `at`: where the comma, or what closes the object, is. */
function valueEnd(bytes: Buffer, at: number): number {
  let depth = 0
  for (let i = at; i < bytes.length; ) {
    const byte = bytes[i]
    if (byte === QUOTE) {
      i = stringEnd(bytes, i)
      if (i < 0) return -1
      continue
    }
    if (byte === OPEN || byte === OPEN_LIST) depth++
    else if (depth === 0 && (byte === COMMA || byte === CLOSE)) return i
    else if (byte === CLOSE || byte === CLOSE_LIST) depth--
    i++
  }
  return -1
}
