/**
 * Number of fields and elements in a body, before it is read. The cost to parse, copy, prune and check it follows from them rather than
 * from its bytes. `[{},{},…]` has a million of them in 3 MiB.
 */
import { countValues, widestIn } from '../../../apimachinery/jsonCount.ts'
import { MEMBERS_LIMIT, tooManyMembers, tooManyValues, VALUES_LIMIT } from '../../../apimachinery/objectSize.ts'
import { PROTOBUF_MEDIA_TYPE } from '../../../apimachinery/protobuf/protobufCodec.ts'
import { LARGE_BYTES, LARGE_VALUES } from '../../registry/largeWrites.ts'

/** Shorter bodies are not large, and not looked at. */
export const SHORT_BYTES = 2 * LARGE_VALUES

const OPENING_BRACE = 0x7b

/** Whether a body begins as JSON does; false where it has more values than a body may have: it is not parsed to find out. */
export function beginsAsJson(body: Buffer): boolean {
  if (body[0] !== OPENING_BRACE) return false
  // most texts are too short for that, and are not looked at
  return body.length <= 2 * VALUES_LIMIT || countValues(body, VALUES_LIMIT) <= VALUES_LIMIT
}

/**
 * Whether a body that is no YAML is large. The values of Protobuf are counted when they are read, so its length alone decides.
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
