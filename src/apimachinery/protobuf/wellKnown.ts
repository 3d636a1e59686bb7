/**
 * Types whose JSON form is not an object with the fields of the message: quantities, embedded JSON, unions.
 * @see https://pkg.go.dev/k8s.io/apimachinery/pkg/runtime#RawExtension
 */
import { MICRO_TIME, TIME } from './timestamps.ts'
import { checkWire, eachField, enter, type Reader, WireError, type WireType, type Writer } from './wire.ts'

/** What the well-known types need to know of others. */
export interface Surroundings {
  /** The JSON form of a complete object in its `k8s\0` envelope. */
  decodeEnvelope(bytes: Uint8Array, depth: number): unknown
  /** `JSONSchemaProps` of apiextensions.k8s.io/v1. */
  schemaProps(): WireType
}

export const MAGIC = Buffer.from('k8s\0')

export function wellKnownTypes(surroundings: Surroundings): Map<string, WireType> {
  const rawExtension = embedded('Raw', null, surroundings)
  return new Map([
    ['Time', TIME],
    ['MicroTime', MICRO_TIME],
    ['Quantity', QUANTITY],
    ['IntOrString', INT_OR_STRING],
    ['Strings', STRINGS],
    ['FieldsV1', embedded('Raw', {})],
    ['JSON', embedded('Raw', null)],
    ['RawExtension', rawExtension],
    ...schemaUnions(surroundings),
  ])
}

const QUANTITY: WireType = {
  wire: 2,
  zero: undefined,
  read: (reader, depth) => {
    let text = '0'
    eachField(reader, enter(reader, depth), (number, wire) => {
      if (number !== 1) return false
      checkWire('String_', wire, 2)
      text = reader.string()
      return true
    })
    return text
  },
  write: (writer, value) =>
    writer
      .fork()
      .uint32(10)
      .string(String(value ?? 0))
      .ldelim(),
}

const INT_OR_STRING: WireType = {
  wire: 2,
  zero: undefined,
  read: (reader, depth) => {
    let type = 0
    let int = 0
    let text = ''
    eachField(reader, enter(reader, depth), (number, wire) => {
      if (number > 3) return false
      checkWire(['Type', 'IntVal', 'StrVal'][number - 1]!, wire, number === 3 ? 2 : 0)
      if (number === 1) type = Number(reader.int64())
      else if (number === 2) int = reader.int32()
      else text = reader.string()
      return true
    })
    if (type !== 0 && type !== 1) throw new WireError('impossible IntOrString.Type')
    return type === 0 ? int : text
  },
  write: (writer, value) => {
    const isText = typeof value === 'string'
    writer.fork().uint32(8).int32(isText ? 1 : 0)
    writer.uint32(16).int32(isText ? 0 : Number(value ?? 0))
    writer.uint32(26).string(isText ? value : '').ldelim()
  },
}

/** A message around a list of strings: what a named list type (`ExtraValue`, `Verbs`) is on the wire. */
const STRINGS: WireType = {
  wire: 2,
  zero: undefined,
  read: (reader, depth) => {
    const items: string[] = []
    eachField(reader, enter(reader, depth), (number, wire) => {
      if (number !== 1) return false
      checkWire('Items', wire, 2)
      items.push(reader.string())
      return true
    })
    return items
  },
  write: (writer, value) => {
    writer.fork()
    for (const item of (value ?? []) as string[]) writer.uint32(10).string(item)
    writer.ldelim()
  },
}

/** A message around the text of any JSON value, or around an enveloped object where `surroundings` are given. */
function embedded(name: string, empty: unknown, surroundings?: Surroundings): WireType {
  return {
    wire: 2,
    zero: undefined,
    read: (reader, depth) => {
      let bytes: Uint8Array = new Uint8Array()
      eachField(reader, enter(reader, depth), (number, wire) => {
        if (number !== 1) return false
        checkWire(name, wire, 2)
        bytes = reader.bytes()
        return true
      })
      if (bytes.length === 0) return empty
      if (surroundings !== undefined && MAGIC.equals(bytes.subarray(0, 4))) {
        return surroundings.decodeEnvelope(bytes, depth + 1)
      }
      return parseJson(bytes)
    },
    write: (writer, value) => {
      writer.fork()
      if (value !== undefined) writer.uint32(10).string(JSON.stringify(value))
      writer.ldelim()
    },
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')) as unknown
  } catch (cause) {
    throw new WireError(`embedded JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** The three unions of JSON schemas: with a list of schemas, a boolean or a list of strings. */
function schemaUnions(surroundings: Surroundings): [string, WireType][] {
  return [
    [
      'JSONSchemaPropsOrArray',
      union({
        fields: { schema: 1, list: 2 },
        item: surroundings.schemaProps,
        take: ({ schema, list }) => (list.length > 0 ? list : schema),
        give: value => (Array.isArray(value) ? { list: value } : { schema: value }),
      }),
    ],
    [
      'JSONSchemaPropsOrBool',
      union({
        fields: { allows: 1, schema: 2 },
        take: ({ schema, allows }) => schema ?? allows,
        give: value => (typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value }),
        schemaProps: surroundings.schemaProps,
      }),
    ],
  ]
}
