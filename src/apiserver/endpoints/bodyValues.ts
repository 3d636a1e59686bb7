/**
 * How many fields and elements a body has, before it is read: what it costs to parse, copy, prune and check follows from them
 * rather than from its bytes. `[{},{},…]` has a million of them in 3 MiB.
 */
import { MEMBERS_LIMIT, tooManyMembers, tooManyValues, VALUES_LIMIT } from '../../apimachinery/objectSize.ts'
import { PROTOBUF_MEDIA_TYPE } from '../../apimachinery/protobuf/protobufCodec.ts'
import { LARGE_BYTES, LARGE_VALUES } from '../registry/largeWrites.ts'

/** Shorter bodies are not large, and not looked at. */
export const SHORT_BYTES = 2 * LARGE_VALUES

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const SPACE = 0x20

/**
 * Members and elements of JSON text, without reading it; one more than `most` when there are more. Of other text it is any
 * number. One is behind each comma, and one behind each bracket that is not closed at once.
 */
export function countValues(json: Buffer, most: number): number {
  let values = 0
  let opened = false
  for (let at = 0; at < json.length && values <= most; at++) {
    const byte = json[at]!
    if (byte <= SPACE) continue
    if (opened) {
      opened = false
      if (byte !== CLOSING_BRACE && byte !== CLOSING_BRACKET) values++
    }
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++
    } else if (byte === COMMA) values++
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) opened = true
  }
  return values
}

/** Members of the map of JSON text that has most of them, without reading it; of other text any number. */
export function widestIn(json: Buffer): number {
  /** Of each bracket that is open. */
  const commas: number[] = []
  let widest = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++
    } else if (byte === COMMA) commas[commas.length - 1]!++
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) commas.push(0)
    else if (byte === CLOSING_BRACE) widest = Math.max(widest, (commas.pop() ?? 0) + 1)
    else if (byte === CLOSING_BRACKET) commas.pop()
  }
  return widest
}

/** Whether JSON has more at all; most texts are too short, and are not looked at. Of other text any answer. */
export function hasMoreIn(json: Buffer, limit: number): boolean {
  return json.length > 2 * limit && countValues(json, limit) > limit
}

/**
 * Whether a body that is no YAML is large. Of Protobuf, whose values are counted when they are read, its length alone says so.
 * @throws StatusError RequestEntityTooLarge
 */
export function isLargeBody(contentType: string | undefined, body: Buffer): boolean {
  if (contentType?.toLowerCase().startsWith(PROTOBUF_MEDIA_TYPE)) return body.length > SHORT_BYTES
  return isLargeJson(body)
}

/** The same of what is JSON, whatever it is called. @throws StatusError RequestEntityTooLarge */
export function isLargeJson(json: Buffer): boolean {
  if (json.length <= SHORT_BYTES) return false
  const values = countValues(json, VALUES_LIMIT)
  if (values > VALUES_LIMIT) throw tooManyValues()
  if (values > MEMBERS_LIMIT && widestIn(json) > MEMBERS_LIMIT) throw tooManyMembers()
  return json.length > LARGE_BYTES || values > LARGE_VALUES
}
