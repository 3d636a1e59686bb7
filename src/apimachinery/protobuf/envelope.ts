/**
 * Encoded objects put together: envelopes, watch frames and lists are made around the bytes of objects. An object is encoded once, however
 * many clients and forms want it.
 *
 * A part is an object's message as field 2 with its tag and length: `raw` of a `runtime.Unknown`, and an item of every list.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 */
import { MAGIC } from './wellKnown.ts'
import { finish, newWriter, type Writer } from './wire.ts'

/** Field 2, length-delimited. */
export const PART_TAG = 18
/** An envelope ends with an empty contentEncoding and contentType. */
const END = Buffer.from([26, 0, 34, 0])

interface Kind {
  apiVersion: string
  kind: string
}

/** A whole object: what a client gets as the answer to a GET. */
export function envelopeOf(kind: Kind, part: Buffer): Buffer {
  return Buffer.concat([headOf(kind), part, END])
}

/** Four bytes of length, big endian, and a `WatchEvent` with the object's envelope. */
export function watchFrameOf(type: string, kind: Kind, part: Buffer): Buffer {
  const head = headOf(kind)
  const enveloped = head.length + part.length + END.length
  const before = newWriter().uint32(10).string(type)
  // The event's object is a RawExtension, whose only field is the envelope.
  before.uint32(18).uint32(1 + varintBytes(enveloped) + enveloped)
  const event = finish(before.uint32(10).uint32(enveloped))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(event.length + enveloped)
  return Buffer.concat([length, event, head, part, END])
}

/**
 * Bytes before and after the parts of a list of `kind`, which come to `partBytes`. `metadata` is the list's, as the codec encodes it.
 */
export function listPiecesOf(kind: Kind, metadata: Buffer, partBytes: number): { before: Buffer[]; after: Buffer[] } {
  const length = finish(
    newWriter()
      .uint32(PART_TAG)
      .uint32(metadata.length + partBytes),
  )
  return { before: [headOf(kind), length, metadata], after: [END] }
}

/** The magic bytes and the envelope's `typeMeta`. */
function headOf({ apiVersion, kind }: Kind): Buffer {
  const typeMeta: Writer = newWriter().uint32(10).fork()
  typeMeta.uint32(10).string(apiVersion).uint32(18).string(kind).ldelim()
  return Buffer.concat([MAGIC, finish(typeMeta)])
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) bytes++
  return bytes
}
