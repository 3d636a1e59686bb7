/**
 * Types whose JSON form is not an object with the fields of the message: quantities, embedded JSON, unions.
 * @see https://pkg.go.dev/k8s.io/apimachinery/pkg/runtime#RawExtension
 */
import { escapedAsGo } from '../go/goJson.ts'
import { countValues } from '../jsonCount.ts'
import { messageOf } from '../messageOf.ts'
import { MICRO_TIME, TIME } from './timestamps.ts'
import {
  type Allowance,
  checkWire,
  countField,
  eachField,
  enter,
  type Reader,
  readInt64,
  WireError,
  type WireType,
} from './wire.ts'

/** Facts about other types that the well-known ones need. */
export interface Surroundings {
  /** The JSON form of a complete object in its `k8s\0` envelope. */
  decodeEnvelope(bytes: Uint8Array, depth: number, allowance: Allowance | undefined): unknown
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
    eachFirst(reader, depth, 'String_', () => {
      text = reader.string()
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
      if (number === 1) type = readInt64(reader)
      else if (number === 2) int = reader.int32()
      else text = reader.string()
      return true
    })
    if (type !== 0 && type !== 1) throw new WireError('impossible IntOrString.Type')
    return type === 0 ? int : text
  },
  write: (writer, value) => {
    const isText = typeof value === 'string'
    writer
      .fork()
      .uint32(8)
      .int32(isText ? 1 : 0)
    writer.uint32(16).int32(isText ? 0 : Number(value ?? 0))
    writer
      .uint32(26)
      .string(isText ? value : '')
      .ldelim()
  },
}

/** A message around a list of strings: what a named list type (`ExtraValue`, `Verbs`) is on the wire. */
const STRINGS: WireType = {
  wire: 2,
  zero: undefined,
  read: (reader, depth) => {
    const items: string[] = []
    eachFirst(reader, depth, 'Items', () => items.push(reader.string()))
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
      eachFirst(reader, depth, name, () => {
        bytes = reader.bytes()
      })
      if (bytes.length === 0) return empty
      if (surroundings !== undefined && MAGIC.equals(bytes.subarray(0, 4))) {
        return surroundings.decodeEnvelope(bytes, depth + 1, reader.allowance)
      }
      const { allowance } = reader
      if (allowance) countField(reader, countValues(bytes, allowance.left))
      return parseJson(bytes)
    },
    write: (writer, value) => {
      writer.fork()
      if (value !== undefined) {
        const text = JSON.stringify(value)
        writer.uint32(10).string(surroundings === undefined ? text : escapedAsGo(text))
      }
      writer.ldelim()
    },
  }
}

/** Reads each value of the first field of a message; it is length-delimited. */
function eachFirst(reader: Reader, depth: number, name: string, read: () => void): void {
  eachField(reader, enter(reader, depth), (number, wire) => {
    if (number !== 1) return false
    checkWire(name, wire, 2)
    read()
    return true
  })
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')) as unknown
  } catch (cause) {
    throw new WireError(`embedded JSON: ${messageOf(cause)}`, { cause })
  }
}

interface UnionParts {
  schema?: unknown
  allows?: boolean
  schemas: unknown[]
  texts: string[]
}

/** The three unions of JSON schemas: a schema or a list of schemas, a boolean, a list of strings. */
function schemaUnions({ schemaProps }: Surroundings): [string, WireType][] {
  const readUnion = (reader: Reader, depth: number, kinds: readonly (keyof UnionParts)[]): UnionParts => {
    const parts: UnionParts = { schemas: [], texts: [] }
    eachField(reader, enter(reader, depth), (number, wire) => {
      const kind = kinds[number - 1]
      if (kind === undefined) return false
      checkWire(kind, wire, kind === 'allows' ? 0 : 2)
      if (kind === 'allows') parts.allows = reader.bool()
      else if (kind === 'texts') parts.texts.push(reader.string())
      else if (kind === 'schema') parts.schema = schemaProps().read(reader, depth + 1)
      else parts.schemas.push(schemaProps().read(reader, depth + 1))
      return true
    })
    return parts
  }
  const orArray: WireType = {
    wire: 2,
    zero: undefined,
    read: (reader, depth) => {
      const { schema, schemas } = readUnion(reader, depth, ['schema', 'schemas'])
      return schemas.length > 0 ? schemas : (schema ?? null)
    },
    write: (writer, value) => {
      writer.fork()
      if (Array.isArray(value)) for (const item of value) schemaProps().write(writer.uint32(18), item)
      else if (value !== undefined) schemaProps().write(writer.uint32(10), value)
      writer.ldelim()
    },
  }
  const orBool: WireType = {
    wire: 2,
    zero: undefined,
    read: (reader, depth) => {
      const { schema, allows } = readUnion(reader, depth, ['allows', 'schema'])
      return schema ?? allows ?? false
    },
    write: (writer, value) => {
      const isSchema = typeof value === 'object' && value !== null
      writer
        .fork()
        .uint32(8)
        .bool(isSchema || value === true)
      if (isSchema) schemaProps().write(writer.uint32(18), value)
      writer.ldelim()
    },
  }
  const orStringArray: WireType = {
    wire: 2,
    zero: undefined,
    read: (reader, depth) => {
      const { schema, texts } = readUnion(reader, depth, ['schema', 'texts'])
      return texts.length > 0 ? texts : (schema ?? null)
    },
    write: (writer, value) => {
      writer.fork()
      if (Array.isArray(value)) for (const item of value as string[]) writer.uint32(18).string(item)
      else if (value !== undefined) schemaProps().write(writer.uint32(10), value)
      writer.ldelim()
    },
  }
  return [
    ['JSONSchemaPropsOrArray', orArray],
    ['JSONSchemaPropsOrBool', orBool],
    ['JSONSchemaPropsOrStringArray', orStringArray],
  ]
}
