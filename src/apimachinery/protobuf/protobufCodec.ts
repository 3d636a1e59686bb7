/**
 * Kubernetes objects as `application/vnd.kubernetes.protobuf`: the magic bytes `k8s\0`, then a `runtime.Unknown` that names
 * the kind and carries the kind's own message. Watches send frames: four bytes of length, big endian, then a
 * `meta.v1 WatchEvent` whose object is such an envelope.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 */

import type { ProtobufTable } from '../../../openapi/protobufTable.ts'
import { bodySummary } from '../bodySummary.ts'
import { StatusError } from '../errors.ts'
import { tooManyValues } from '../objectSize.ts'
import { envelopeOf, PART_TAG, watchFrameOf } from './envelope.ts'
import { type MessageTypes, messageTypes } from './messageTypes.ts'
import { MAGIC } from './wellKnown.ts'
import {
  type Allowance,
  checkWire,
  eachField,
  enter,
  finish,
  newReader,
  newWriter,
  type Reader,
  TooManyFields,
  WireError,
  type Writer,
} from './wire.ts'

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf'
/** Content-Type of a watch's answer. */
export const PROTOBUF_WATCH_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf;stream=watch'

/** An object as it travels: options and reviews have no metadata. */
export interface WireObject {
  apiVersion: string
  kind: string
  [field: string]: unknown
}

interface Kind {
  apiVersion: string
  kind: string
}

export interface ProtobufCodec {
  /** Whether the kind has a protobuf form. Custom resources and Orrery's own kinds have none. */
  supports(apiVersion: string, kind: string): boolean
  /**
   * The object as JSON has it. `expected` is the kind of a body that does not name one, and is named in errors. The caller checks that the
   * body has this kind. `most`: fields and elements that it may have.
   * @throws StatusError BadRequest for anything that is not a supported kind in protobuf, RequestEntityTooLarge
   */
  decode(body: Buffer, expected?: Kind, most?: number): WireObject
  /**
   * Any supported object or list; what the kind's message has no field for is left out.
   * @throws Error when the kind is not supported; TypeError when a field has another type than the message
   */
  encode(object: WireObject): Buffer
  /**
   * The object without its kind: field 2 of a message, its tag and length before it. Envelopes and lists have objects so,
   * which {@link envelopeOf}, {@link watchFrameOf} and {@link listPiecesOf} put together. Throws as `encode`.
   */
  encodePart(object: WireObject): Buffer
  /** The metadata of a list: field 1 of its message, its tag and length before it. */
  encodeListMeta(metadata: object): Buffer
  /** One frame of a watch. `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR (with a Status). */
  encodeWatchFrame(type: string, object: WireObject): Buffer
  /** The reverse of {@link ProtobufCodec.encodeWatchFrame}, for a whole frame. @throws StatusError BadRequest */
  decodeWatchFrame(frame: Buffer): { type: string; object: WireObject }
}

const META = 'meta.k8s.io/v1'
/** Its metadata-only kinds are those of v1. */
const META_BETA = 'meta.k8s.io/v1beta1'
const PARTIAL_KINDS: ReadonlySet<string> = new Set(['PartialObjectMetadata', 'PartialObjectMetadataList'])
/** Kinds of every group and version, which clients send under the version of the resource or under `v1`. */
const META_KINDS: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'Status',
  'UpdateOptions',
  'WatchEvent',
])

/** Bound on a writer that is kept for the next object. */
const KEPT_WRITER_BYTES = 2 * 1024 * 1024

interface Envelope extends Kind {
  raw: Uint8Array
}

/** The table of messages is read from disk when the first object comes, and kept by the codec. */
export function protobufCodec(loadTable: () => ProtobufTable): ProtobufCodec {
  /** Kept, with the memory that it has grown to: what grows anew for each large object is most of their cost. */
  let idle: Writer | undefined
  const types: MessageTypes = messageTypes(loadTable, (bytes, depth, allowance) =>
    decodeObject(readEnvelope(bytes, allowance), depth, allowance),
  )
  return {
    supports: (apiVersion, kind) => versionOf(apiVersion, kind) !== undefined,
    decode,
    encode,
    encodePart,
    encodeListMeta,
    encodeWatchFrame,
    decodeWatchFrame,
  }

  /** The version whose messages include the kind; `undefined` when it has no protobuf form. */
  function versionOf(apiVersion: string, kind: string): string | undefined {
    if (types.has(apiVersion, kind)) return apiVersion
    if (apiVersion === META_BETA && PARTIAL_KINDS.has(kind)) return META
    return META_KINDS.has(kind) ? META : undefined
  }

  function decode(body: Buffer, expected?: Kind, most?: number): WireObject {
    const wanted = expected?.kind ?? 'Object'
    const allowance = most === undefined ? undefined : { left: most }
    const envelope = asBadRequest(
      () => readEnvelope(body, allowance),
      why => `the object provided is unrecognized (must be of type ${wanted}): ${why} (${bodySummary(body)})`,
    )
    const apiVersion = envelope.apiVersion || (expected?.apiVersion ?? '')
    const kind = envelope.kind || (expected?.kind ?? '')
    return asBadRequest(
      () => decodeObject({ ...envelope, apiVersion, kind }, 0, allowance),
      why => {
        const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
        return `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected?.kind ?? kind}: ${why}`
      },
    )
  }

  function decodeObject({ apiVersion, kind, raw }: Envelope, depth: number, allowance?: Allowance): WireObject {
    const version = versionOf(apiVersion, kind)
    if (version === undefined) {
      throw new WireError(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`)
    }
    return { apiVersion, kind, ...types.get(version, kind).readAll(newReader(raw, allowance), depth) }
  }

  function encode(object: WireObject): Buffer {
    return envelopeOf(object, encodePart(object))
  }

  function encodePart(object: WireObject): Buffer {
    const { apiVersion, kind } = object
    const version = versionOf(apiVersion, kind)
    if (version === undefined) throw new Error(`${kind} of ${apiVersion} has no protobuf form`)
    const part = idle ?? newWriter()
    // Until it is written: one that fails half way leaves nothing behind.
    idle = undefined
    types.get(version, kind).write(part.uint32(PART_TAG), object)
    const bytes = finish(part)
    if (bytes.length <= KEPT_WRITER_BYTES) idle = part.reset()
    return bytes
  }

  function encodeListMeta(metadata: object): Buffer {
    const writer = newWriter().uint32(10)
    types.get(META, 'ListMeta').write(writer, metadata)
    return finish(writer)
  }

  function encodeWatchFrame(type: string, object: WireObject): Buffer {
    return watchFrameOf(type, object, encodePart(object))
  }

  function decodeWatchFrame(frame: Buffer): { type: string; object: WireObject } {
    const read = (): unknown => {
      if (frame.length < 4 || frame.readUInt32BE(0) !== frame.length - 4) throw new WireError('unexpected EOF')
      return types.get(META, 'WatchEvent').readAll(newReader(frame.subarray(4)), 0)
    }
    const event = asBadRequest(read, why => `unable to decode watch event: ${why}`)
    return event as { type: string; object: WireObject }
  }
}

function readEnvelope(bytes: Uint8Array, allowance?: Allowance): Envelope {
  if (bytes.length === 0) throw new WireError('empty data')
  if (!MAGIC.equals(bytes.subarray(0, 4))) {
    throw new WireError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  }
  if (bytes.length === 4) throw new WireError('empty body')
  const envelope: Envelope = { apiVersion: '', kind: '', raw: new Uint8Array() }
  const reader = newReader(bytes.subarray(4), allowance)
  eachField(reader, reader.len, (number, wire) => {
    if (number > 2) return false
    checkWire(number === 1 ? 'TypeMeta' : 'Raw', wire, 2)
    if (number === 2) envelope.raw = reader.bytes()
    else readTypeMeta(envelope, reader)
    return true
  })
  return envelope
}

function readTypeMeta(envelope: Envelope, reader: Reader): void {
  eachField(reader, enter(reader, 0), (number, wire) => {
    if (number > 2) return false
    checkWire(number === 1 ? 'APIVersion' : 'Kind', wire, 2)
    envelope[number === 1 ? 'apiVersion' : 'kind'] = reader.string()
    return true
  })
}

function asBadRequest<T>(decode: () => T, message: (why: string) => string): T {
  try {
    return decode()
  } catch (cause) {
    if (cause instanceof TooManyFields) throw tooManyValues()
    // protobufjs throws RangeError at the end and Error for bad input; the other two are mistakes in the code or the table.
    if (!(cause instanceof Error) || cause instanceof TypeError || cause instanceof ReferenceError) throw cause
    const why = cause instanceof RangeError ? 'unexpected EOF' : cause.message
    throw new StatusError('BadRequest', message(why), undefined, { cause })
  }
}
