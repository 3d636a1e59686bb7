/** The messages of the Kubernetes API, built on demand from the table that `openapi/protobufTable.ts` explains. */
import {
  hasMessage,
  messageOf,
  type ProtobufTable,
  type TableField,
  tableFields,
} from '../../../openapi/protobufTable.ts'
import { type Field, type MessageType, messageType } from './message.ts'
import { type Surroundings, wellKnownTypes } from './wellKnown.ts'
import { BOOL, BYTES, DOUBLE, INT32, INT64, STRING, type WireType } from './wire.ts'

export interface MessageTypes {
  /** Whether there is such a message; builds nothing. */
  has(apiVersion: string, message: string): boolean
  /** @throws ReferenceError when there is no such message */
  get(apiVersion: string, message: string): MessageType
}

const SCALARS: Readonly<Record<string, WireType>> = {
  s: STRING,
  b: BOOL,
  i: INT32,
  l: INT64,
  d: DOUBLE,
  y: BYTES,
}
export function messageTypes(
  loadTable: () => ProtobufTable,
  decodeEnvelope: Surroundings['decodeEnvelope'],
): MessageTypes {
  let table: ProtobufTable | undefined
  const built = new Map<string, MessageType>()
  const wellKnown = wellKnownTypes({
    decodeEnvelope,
    schemaProps: () => get('apiextensions.k8s.io/v1', 'JSONSchemaProps'),
  })
  const loaded = (): ProtobufTable => (table ??= loadTable())
  // Called for each object that is written.
  return { has: (apiVersion, message) => hasMessage(loaded(), apiVersion, message), get }

  function get(apiVersion: string, message: string): MessageType {
    const name = `${apiVersion}.${message}`
    const known = built.get(name)
    if (known !== undefined) return known
    const fields = tableFields(loaded(), apiVersion, message)
    if (fields === undefined) throw new ReferenceError(`there is no protobuf message ${name}`)
    // Messages may contain themselves, so the fields are resolved when the first value comes.
    const type = messageType(() => fields.map(field => wireField(apiVersion, field)))
    built.set(name, type)
    return type
  }

  function wireField(apiVersion: string, { many, inline, type, ...field }: TableField): Field {
    const shape = many || (inline ? 'inline' : 'single')
    return { ...field, type: resolve(apiVersion, type), shape }
  }

  function resolve(apiVersion: string, type: string): WireType {
    return SCALARS[type] ?? wellKnown.get(type) ?? get(...messageOf(apiVersion, type))
  }
}
