/**
 * How many fields and elements a body has, before it is read: what it costs to parse, copy, prune and check follows from them
 * rather than from its bytes. `[{},{},…]` has a million of them in 3 MiB.
 */
import { tooManyValues, VALUES_LIMIT } from '../../apimachinery/objectSize.ts'
import { PROTOBUF_MEDIA_TYPE } from '../../apimachinery/protobuf/protobufCodec.ts'
import { isYaml } from './body.ts'

/** Bodies with more are handled in steps, and wait for their turn; all that is done with others takes some milliseconds. */
export const MANY_VALUES = 4000

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

/** Whether JSON has more at all; most texts are too short, and are not looked at. Of other text any answer. */
export function hasMoreIn(json: Buffer, limit: number): boolean {
  return json.length > 2 * limit && countValues(json, limit) > limit
}

/**
 * Whether a body has many values. Of Protobuf and YAML, whose values are counted when they are read, it says so from their length.
 * @throws StatusError RequestEntityTooLarge
 */
export function holdsMany(contentType: string | undefined, body: Buffer): boolean {
  if (body.length <= 2 * MANY_VALUES) return false
  if (isYaml(contentType) || contentType?.toLowerCase().startsWith(PROTOBUF_MEDIA_TYPE)) return true
  return holdsManyJson(body)
}

/** The same of what is JSON, whatever it is called. @throws StatusError RequestEntityTooLarge */
export function holdsManyJson(json: Buffer): boolean {
  if (json.length <= 2 * MANY_VALUES) return false
  const values = countValues(json, VALUES_LIMIT)
  if (values > VALUES_LIMIT) throw tooManyValues()
  return values > MANY_VALUES
}
