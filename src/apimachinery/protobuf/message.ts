/**
 * A protobuf message as a JSON object, with upstream's rules for presence. Pointers are written when they are set, everything else is
 * always on the wire. JSON has no zero values, except in fields that are always there.
 */
import { isMistakable } from '../jsonParse.ts'
import { mistakableKeyWords } from '../mistakableKeys.ts'
import { setMember } from '../values.ts'
import {
  BYTES,
  checkDepth,
  checkWire,
  countField,
  eachField,
  enter,
  newReader,
  type Reader,
  STRING,
  WireError,
  type WireType,
  type Writer,
} from './wire.ts'

export interface Field {
  name: string
  number: number
  type: WireType
  /** `inline`: a message whose fields stand among those of its parent in JSON. */
  shape: 'single' | 'list' | 'map' | 'inline'
  /** Written only when set, and then even if zero. */
  pointer: boolean
  /** JSON always has it. */
  always: boolean
  /** JSON leaves out the zero value of a type that is otherwise always there. */
  omitZero: boolean
}

type JsonObject = Record<string, unknown>

interface InlineType extends MessageType {
  /** Reads the message into an object that may have other fields already. */
  readInto(object: JsonObject, reader: Reader, depth: number, end?: number): void
}

/** A message, which may also be all that there is to read, without a length before it. */
export interface MessageType extends WireType {
  readAll(reader: Reader, depth: number): JsonObject
}

/** `fields` is called once, at the first read or write of a value. */
export function messageType(fields: () => Field[]): MessageType {
  let ordered: Field[] | undefined
  let byNumber: Map<number, Field> | undefined
  const fieldList = (): Field[] => {
    ordered ??= fields().sort((a, b) => a.number - b.number)
    return ordered
  }
  const type: InlineType = {
    wire: 2,
    zero: undefined,
    read: (reader, depth) => {
      const object: JsonObject = {}
      type.readInto(object, reader, depth)
      return object
    },
    readAll: (reader, depth) => {
      const object: JsonObject = {}
      checkDepth(depth)
      type.readInto(object, reader, depth, reader.len)
      return object
    },
    readInto: (object, reader, depth, end = enter(reader, depth)) => {
      byNumber ??= new Map(fieldList().map(field => [field.number, field]))
      const known = byNumber
      eachField(reader, end, (number, wire) => {
        const field = known.get(number)
        if (field === undefined) return false
        readField(object, field, reader, wire, depth)
        return true
      })
      for (const field of fieldList()) if (field.always && !(field.name in object)) object[field.name] = emptyOf(field)
    },
    write: (writer, value) => {
      const object = asObject(value)
      writer.fork()
      for (const field of fieldList()) writeField(writer, field, object)
      writer.ldelim()
    },
  }
  return type
}

function readField(object: JsonObject, field: Field, reader: Reader, wire: number, depth: number): void {
  const { name, type } = field
  if (field.shape === 'list') {
    object[name] ??= []
    const list = object[name] as unknown[]
    if (wire === 2 && type.wire !== 2) readPacked(list, type, reader, depth)
    else {
      checkWire(name, wire, type.wire)
      list.push(type.read(reader, depth + 1))
    }
    return
  }
  if (field.shape === 'map') {
    checkWire(name, wire, 2)
    object[name] ??= {}
    readEntry(object[name] as JsonObject, type, reader, depth)
    return
  }
  checkWire(name, wire, type.wire)
  if (field.shape === 'inline') {
    ;(type as InlineType).readInto(object, reader, depth + 1)
    return
  }
  const value = type.read(reader, depth + 1)
  if (!field.pointer && value === type.zero && (field.omitZero || (!field.always && value !== null))) return
  object[name] = value
}

function readPacked(list: unknown[], type: WireType, reader: Reader, depth: number): void {
  const end = enter(reader, depth + 1)
  while (reader.pos < end) {
    countField(reader)
    list.push(type.read(reader, depth + 1))
  }
}

function readEntry(map: JsonObject, type: WireType, reader: Reader, depth: number): void {
  let key = ''
  let value: unknown
  eachField(reader, enter(reader, depth), (number, wire) => {
    if (number > 2) return false
    checkWire(number === 1 ? 'key' : 'value', wire, number === 1 ? 2 : type.wire)
    if (number === 1) key = reader.string()
    else value = type.read(reader, depth + 1)
    return true
  })
  if (isMistakable(key)) throw new WireError(mistakableKeyWords(key))
  value ??= type.zero === undefined ? emptyValue(type) : type.zero
  setMember(map, key, value)
}

/** Value of missing bytes for a type without an empty form: `{}` for messages, `"0"` for quantities. */
function emptyValue(type: WireType): unknown {
  return type.read(newReader(Uint8Array.of(0)), 0)
}

function emptyOf(field: Field): unknown {
  // Go has nil here too, but servers never let a list be null.
  if (field.shape === 'list' && field.name === 'items') return []
  return field.shape === 'list' || field.shape === 'map' || field.pointer || field.type === BYTES
    ? null
    : field.type.zero
}

function writeField(writer: Writer, field: Field, object: JsonObject): void {
  const { number, type } = field
  const tag = (number << 3) | type.wire
  if (field.shape === 'inline') {
    type.write(writer.uint32(tag), object)
    return
  }
  const value = object[field.name]
  const absent = value === undefined || value === null
  if (field.shape === 'list') {
    if (!absent) for (const item of asList(value)) type.write(writer.uint32(tag), item)
  } else if (field.shape === 'map') {
    if (!absent) writeMap(writer, field, asObject(value))
  } else if (!absent || !(field.pointer || type === BYTES)) {
    type.write(writer.uint32(tag), absent ? undefined : value)
  }
}

function writeMap(writer: Writer, { number, type }: Field, map: JsonObject): void {
  for (const key of Object.keys(map).sort()) {
    writer.uint32((number << 3) | 2).fork()
    STRING.write(writer.uint32(10), key)
    type.write(writer.uint32((2 << 3) | type.wire), map[key])
    writer.ldelim()
  }
}

function asObject(value: unknown): JsonObject {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new TypeError(`cannot write ${JSON.stringify(value)} as a message`)
  }
  return value as JsonObject
}

function asList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`cannot write ${JSON.stringify(value)} as a list`)
  return value
}
