/**
 * The messages of the Kubernetes API, built on demand from `openapi/protobufFields.json`.
 *
 * The file holds, per API version and message, its fields by number, separated by blanks: `name:number:type`. The type is
 * `s` string, `b` bool, `i` int32, `l` int64, `d` double, `y` bytes, a well-known type, or a message (`apps/v1.DaemonSet`,
 * without the version for one of the same version), with these marks before it, in this order:
 *   `0` JSON leaves out the zero value though the type has no empty form (the creation time)
 *   `!` JSON always has the field: without a value it says the zero value, or null for lists, maps and pointers
 *   `~` the fields of the message stand among those of its parent in JSON
 *   `?` a pointer: written only when there is a value, and then even if it is zero; all else is always written
 *   `[]` list, `{}` map by string
 */
import { type Field, messageType } from './message.ts'
import { type Surroundings, wellKnownTypes } from './wellKnown.ts'
import { BOOL, BYTES, DOUBLE, INT32, INT64, STRING, type WireType } from './wire.ts'

/** By API version, then message, the fields in the form described above. */
export type ProtobufTable = Record<string, Record<string, string>>

export interface MessageTypes {
  /** Whether there is such a message; builds nothing. */
  has(apiVersion: string, message: string): boolean
  /** @throws ReferenceError when there is no such message */
  get(apiVersion: string, message: string): WireType
}

const SCALARS: Readonly<Record<string, WireType>> = {
  s: STRING,
  b: BOOL,
  i: INT32,
  l: INT64,
  d: DOUBLE,
  y: BYTES,
}
const FIELD = /^([^:]+):(\d+):(0?)(!?)(~?)(\??)(\[\]|\{\})?(.+)$/

export function messageTypes(
  loadTable: () => ProtobufTable,
  decodeEnvelope: Surroundings['decodeEnvelope'],
): MessageTypes {
  let table: ProtobufTable | undefined
  const built = new Map<string, WireType>()
  const wellKnown = wellKnownTypes({
    decodeEnvelope,
    schemaProps: () => get('apiextensions.k8s.io/v1', 'JSONSchemaProps'),
  })
  return { has: (apiVersion, message) => fieldsOf(apiVersion, message) !== undefined, get }

  function fieldsOf(apiVersion: string, message: string): string | undefined {
    table ??= loadTable()
    if (!Object.hasOwn(table, apiVersion)) return undefined
    const messages = table[apiVersion]!
    return Object.hasOwn(messages, message) ? messages[message] : undefined
  }

  function get(apiVersion: string, message: string): WireType {
    const name = `${apiVersion}.${message}`
    const known = built.get(name)
    if (known !== undefined) return known
    const text = fieldsOf(apiVersion, message)
    if (text === undefined) throw new ReferenceError(`there is no protobuf message ${name}`)
    // Messages may contain themselves, so the fields are resolved when the first value comes.
    const type = messageType(() => (text === '' ? [] : text.split(' ').map(field => parseField(apiVersion, field))))
    built.set(name, type)
    return type
  }

  function parseField(apiVersion: string, text: string): Field {
    const [, name, number, omitZero, always, inline, pointer, many, type] = FIELD.exec(text)!
    return {
      name: name!,
      number: Number(number),
      type: resolve(apiVersion, type!),
      shape: many === '[]' ? 'list' : many === '{}' ? 'map' : inline ? 'inline' : 'single',
      pointer: pointer === '?',
      always: always === '!',
      omitZero: omitZero === '0',
    }
  }

  function resolve(apiVersion: string, type: string): WireType {
    const simple = SCALARS[type] ?? wellKnown.get(type)
    if (simple !== undefined) return simple
    const dot = type.lastIndexOf('.')
    return dot < 0 ? get(apiVersion, type) : get(type.slice(0, dot), type.slice(dot + 1))
  }
}
