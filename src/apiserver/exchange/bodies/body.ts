/** Request bodies: JSON or YAML text to plain values, within limits of size, depth and aliases. */
import { bodySummary } from '../../../apimachinery/bodySummary.ts'
import { isStatusError, StatusError, statusError } from '../../../apimachinery/errors.ts'
import { unmarshalError } from '../../../apimachinery/go/goJson.ts'
import { parseHarmless } from '../../../apimachinery/jsonParse.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { refuseMistakableKeys } from '../../../apimachinery/mistakableKeys.ts'
import { apiVersionOf } from '../../../apimachinery/object.ts'
import {
  hasMoreValues,
  MEMBERS_LIMIT,
  tooManyMembers,
  tooManyValues,
  VALUES_LIMIT,
  widestMap,
} from '../../../apimachinery/objectSize.ts'
import { PROTOBUF_MEDIA_TYPE } from '../../../apimachinery/protobuf/protobufCodec.ts'
import { isTooDeep, NESTING_LIMIT } from '../../../apimachinery/values.ts'
import type { Request } from '../../http/request.ts'
import { BODY_LIMIT_BYTES } from '../../http/requestBody.ts'
import type { Exchange, Services } from '../exchange.ts'
import { beyondNumbers } from './beyondNumbers.ts'
import { parseYamlText } from './yamlBody.ts'

/**
 * The decoded body of a request: an object of `expected`, by default of the kind of the URL, or the client's own kind instead. Kinds
 * without a protobuf form are refused in it, as upstream refuses custom resources.
 * @throws StatusError BadRequest, UnsupportedMediaType
 */
export function readBody(
  services: Services,
  exchange: Exchange,
  expected?: { apiVersion: string; kind: string },
): unknown {
  const raw = exchange.request.body
  const contentType = exchange.request.headers['content-type']
  const kind = expected ?? { apiVersion: apiVersionOf(exchange.type), kind: exchange.type.kind }
  if (!contentType?.toLowerCase().startsWith(PROTOBUF_MEDIA_TYPE))
    return parseBody(raw, contentType, kind.kind, exchange.request)
  if (!services.protobuf.supports(kind.apiVersion, kind.kind)) throw unsupportedMediaType()
  const value = services.protobuf.decode(raw ?? Buffer.alloc(0), kind, VALUES_LIMIT)
  // Messages are not deep, but JSON inside of them can be, and long.
  checkNesting(value)
  if (hasMoreValues(value, VALUES_LIMIT)) throw tooManyValues()
  if (hasMoreValues(value, MEMBERS_LIMIT) && widestMap(value) > MEMBERS_LIMIT) throw tooManyMembers()
  return value
}

/** Facts about a text that its value does not show. */
export type BodyRemarks = Partial<Pick<Request, 'repeatedKeys' | 'bodyText' | 'parsed' | 'repeatsKeys'>>

/** `kind` is what the caller expects, for the words of errors. @throws StatusError BadRequest, UnsupportedMediaType */
export function parseBody(
  body: Buffer | undefined,
  contentType: string | undefined,
  kind = 'Object',
  remarks: BodyRemarks = {},
): unknown {
  const media = mediaOf(contentType)
  const text = body?.toString('utf8') ?? ''
  const isUnnamed = (contentType ?? '') === ''
  if (media === 'application/json' || isUnnamed || media.endsWith('+json')) return parseJson(text, kind, remarks)
  if (isYaml(contentType)) return parseYaml(text, kind, remarks)
  throw unsupportedMediaType()
}

export function isYaml(contentType: string | undefined): boolean {
  const media = mediaOf(contentType)
  return media === 'application/yaml' || media.endsWith('+yaml')
}

function mediaOf(contentType = 'application/json'): string {
  return contentType.split(';')[0]!.trim().toLowerCase()
}

const BODY_TYPES = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE]

export function unsupportedMediaType(accepted: readonly string[] = BODY_TYPES): StatusError {
  const why = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return new StatusError('UnsupportedMediaType', why)
}

function parseJson(text: string, kind: string, remarks: BodyRemarks): unknown {
  refuseMistakableKeys(text)
  let value: unknown
  try {
    value = parsedValue(text, remarks)
  } catch (error) {
    throw badBody(error, text, kind)
  }
  if (mayBeDeep(text)) checkNesting(value)
  if (text.length > SHORT_CHARACTERS || EXPONENT.test(text)) checkRange(text, kind)
  remarks.bodyText = text
  return value
}

function parsedValue(text: string, remarks: BodyRemarks): unknown {
  const { parsed } = remarks
  if (parsed === undefined) return parseHarmless(text)
  remarks.parsed = undefined
  remarks.repeatsKeys = parsed.repeatsKeys
  return parsed.value
}

/** Longer texts have their numbers themselves looked at: strings are skipped, which an expression does not do. */
const SHORT_CHARACTERS = 4096
/** Only such numbers can be too large: others would have more than 308 digits. Each run of digits is looked at once. */
const EXPONENT = /[0-9][eE]\+?0*[1-9][0-9]{2}|(?<![0-9])[0-9]{309}/

/** Values beyond all numbers would become null. */
function checkRange(text: string, kind: string): void {
  const number = beyondNumbers(text)
  if (number === undefined) return
  throw statusError.badRequest(
    `${kind} in version "v1" cannot be handled as a ${kind}: ${unmarshalError(0, 'value of type float64', `number ${number}`)}`,
  )
}

export function parseYaml(text: string, kind = 'Object', remarks: BodyRemarks = {}): unknown {
  // JSON is YAML, and what most clients send as such.
  if (text.startsWith('{') || text.startsWith('[')) {
    try {
      return parseJson(text, kind, remarks)
    } catch (error) {
      if (!(error instanceof StatusError && error.cause instanceof SyntaxError)) throw error
    }
  }
  let value: unknown
  try {
    const read = parseYamlText(text, { depth: NESTING_LIMIT, size: BODY_LIMIT_BYTES })
    remarks.repeatedKeys = read.repeated
    value = read.value
  } catch (error) {
    throw badYaml(error, text, kind)
  }
  // Aliases make it deeper than the text is.
  checkNesting(value)
  return value
}

/** A body that is no YAML, or none that JSON could say. */
export function badYaml(cause: unknown, text: string, kind = 'Object'): StatusError {
  return unrecognized(`yaml: ${firstLine(cause)}`.replace(/^yaml: (?=json: )/, ''), text, kind, cause)
}

/** A body that is no JSON. */
function badBody(cause: unknown, text: string, kind = 'Object'): StatusError {
  const why = firstLine(cause).replace(/^U(?=nexpected end of JSON input)/, 'u')
  return unrecognized(`couldn't get version/kind; json parse error: ${why}`, text, kind, cause)
}

function firstLine(cause: unknown): string {
  const message = messageOf(cause)
  return message.split('\n')[0]!.replace(/:$/, '')
}

function unrecognized(why: string, text: string, kind: string, cause: unknown): StatusError {
  const message = `the object provided is unrecognized (must be of type ${kind}): ${why} (${bodySummary(Buffer.from(text.slice(0, 100)))})`
  return new StatusError('BadRequest', message, undefined, { cause })
}

/** Whether so much is opened in a JSON text that it may be too deep. It is much faster than its value. */
function mayBeDeep(text: string): boolean {
  let left = NESTING_LIMIT
  for (const opening of ['{', '['])
    for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) if (left-- === 0) return true
  return false
}

/** Deep values would overflow the stack of everything behind this. */
function checkNesting(value: unknown): void {
  if (!isTooDeep(value)) return
  throw statusError.badRequest(`the request body is nested more than ${NESTING_LIMIT} levels deep; flatten it`)
}

/** A body as the audit log shows it; `undefined` for none, and for one that nobody could read: the answer names the fault. */
export function decodedBody({ protobuf }: Pick<Services, 'protobuf'>, body: unknown, contentType: unknown): unknown {
  const raw = typeof body === 'string' ? Buffer.from(body) : body
  if (!Buffer.isBuffer(raw) || raw.length === 0) return undefined
  const type = typeof contentType === 'string' ? contentType : undefined
  try {
    return type?.startsWith(PROTOBUF_MEDIA_TYPE) ? protobuf.decode(raw) : parseBody(raw, type)
  } catch (error) {
    if (isStatusError(error)) return undefined
    throw error
  }
}
