/**
 * Kubernetes objects as `application/vnd.kubernetes.protobuf`: the magic bytes `k8s\0`, then a `runtime.Unknown` that names
 * the kind and carries the kind's own message. Watches send frames: four bytes of length, big endian, then a
 * `meta.v1 WatchEvent` whose object is such an envelope.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 */
import { StatusError } from '../errors.ts'
import { loadProtobufTable, type MessageTypes, messageTypes, type ProtobufTable } from './messageTypes.ts'
import { MAGIC } from './wellKnown.ts'
import { checkWire, eachField, finish, newReader, newWriter, STRING, WireError } from './wire.ts'

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf'
/** What a watch answers as Content-Type. */
export const PROTOBUF_WATCH_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf;stream=watch'

/** An object as it travels: options and reviews have no metadata. */
export interface WireObject {
  apiVersion: string
  kind: string
  [field: string]: unknown
}

export interface ProtobufCodec {
  /** Whether the kind has a protobuf form. Custom resources and Orrery's own kinds have none. */
  supports(apiVersion: string, kind: string): boolean
  /**
   * The object as JSON has it. `fallback` names the kind of a body that does not.
   * @throws StatusError BadRequest for anything that is not a supported kind in protobuf
   */
  decode(body: Buffer, fallback?: { apiVersion: string; kind: string }): WireObject
  /**
   * Any supported object or list; what the kind's message has no field for is left out.
   * @throws Error when the kind is not supported; TypeError when a field has another type than the message
   */
  encode(object: WireObject): Buffer
  /** One frame of a watch. `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR (with a Status). */
  encodeWatchFrame(type: string, object: WireObject): Buffer
  /** The reverse of {@link ProtobufCodec.encodeWatchFrame}, for a whole frame. @throws StatusError BadRequest */
  decodeWatchFrame(frame: Buffer): { type: string; object: WireObject }
}

const META = 'meta.k8s.io/v1'
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

/** The table of messages is read from disk when the first object comes, and kept by the codec. */
export function protobufCodec(loadTable: () => ProtobufTable = loadProtobufTable): ProtobufCodec {
  const types: MessageTypes = messageTypes(loadTable, (bytes, depth) => decodeEnvelope(bytes, depth))
  return { supports, decode: (body, fallback) => guarded(() => decodeEnvelope(body, 0, fallback)), encode, ...frames() }

  /** The version whose messages include the kind; `undefined` when it has no protobuf form. */
  function versionOf(apiVersion: string, kind: string): string | undefined {
    if (types.has(apiVersion, kind)) return apiVersion
    return META_KINDS.has(kind) ? META : undefined
  }

  function supports(apiVersion: string, kind: string): boolean {
    return versionOf(apiVersion, kind) !== undefined
  }

  function decodeEnvelope(
    bytes: Uint8Array,
    depth: number,
    fallback?: { apiVersion: string; kind: string },
  ): WireObject {
    if (!MAGIC.equals(bytes.subarray(0, 4))) throw new WireError('the body does not start with the protobuf prefix')
    const envelope = readEnvelope(bytes.subarray(4))
    const apiVersion = envelope.apiVersion || (fallback?.apiVersion ?? '')
    const kind = envelope.kind || (fallback?.kind ?? '')
    const version = versionOf(apiVersion, kind)
    if (version === undefined) {
      throw new WireError(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`)
    }
    const reader = newReader(delimited(envelope.raw))
    return { apiVersion, kind, ...(types.get(version, kind).read(reader, depth) as object) }
  }

  function encode(object: WireObject): Buffer {
    const { apiVersion, kind } = object
    const version = versionOf(apiVersion, kind)
    if (version === undefined) throw new Error(`${kind} of ${apiVersion} has no protobuf form`)
    const envelope = newWriter().uint32(10).fork()
    STRING.write(envelope.uint32(10), apiVersion)
    STRING.write(envelope.uint32(18), kind)
    envelope.ldelim()
    types.get(version, kind).write(envelope.uint32(18), object)
    envelope.uint32(26).string('').uint32(34).string('')
    return Buffer.concat([MAGIC, finish(envelope)])
  }

  function frames(): Pick<ProtobufCodec, 'encodeWatchFrame' | 'decodeWatchFrame'> {
    return {
      encodeWatchFrame: (type, object) => {
        const event = newWriter().uint32(10).string(type)
        event.uint32(18).fork().uint32(10).bytes(encode(object)).ldelim()
        const bytes = finish(event)
        const length = Buffer.alloc(4)
        length.writeUInt32BE(bytes.length)
        return Buffer.concat([length, bytes])
      },
      decodeWatchFrame: frame =>
        guarded(() => {
          if (frame.length < 4 || frame.readUInt32BE(0) !== frame.length - 4) throw new WireError('unexpected EOF')
          const reader = newReader(delimited(frame.subarray(4)))
          return types.get(META, 'WatchEvent').read(reader, 0) as { type: string; object: WireObject }
        }),
    }
  }
}

function readEnvelope(bytes: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  const envelope = { apiVersion: '', kind: '', raw: new Uint8Array() as Uint8Array }
  const reader = newReader(bytes)
  eachField(reader, reader.len, (number, wire) => {
    if (number > 2) return false
    checkWire(number === 1 ? 'TypeMeta' : 'Raw', wire, 2)
    if (number === 2) {
      envelope.raw = reader.bytes()
      return true
    }
    const end = reader.uint32() + reader.pos
    if (end > reader.len) throw new WireError('unexpected EOF')
    eachField(reader, end, (field, fieldWire) => {
      if (field > 2) return false
      checkWire(field === 1 ? 'APIVersion' : 'Kind', fieldWire, 2)
      envelope[field === 1 ? 'apiVersion' : 'kind'] = reader.string()
      return true
    })
    return true
  })
  return envelope
}

/** The bytes of a message with their length before them, as a message inside another has it. */
function delimited(bytes: Uint8Array): Buffer {
  return finish(newWriter().bytes(bytes))
}

function guarded<T>(decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    throw new StatusError('BadRequest', `unable to decode the protobuf body: ${cause.message}`, undefined, { cause })
  }
}
