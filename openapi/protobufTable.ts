/**
 * Format of `protobufFields.json`, a table of the messages of the Kubernetes API: per API version and message, its fields, separated by
 * blanks, each as `name:number:type`. The type is `s` string, `b` bool, `i` int32, `l` int64, `d` double, `y` bytes, a well-known type,
 * or a message. Messages are named as `apps/v1.DaemonSet`, without the version for one of the same version. Marks come before the type,
 * in this order:
 * - `0`: JSON leaves out the zero value though the type has no empty form (the creation time)
 * - `!`: JSON always has the field: without a value the zero value, or null for lists, maps and pointers
 * - `~`: the fields of the message stand among those of its parent in JSON
 * - `?`: a pointer: written only when there is a value, and then even if it is zero; all else is always written
 * - `[]`: list, `{}`: map by string
 */

/** By API version, then message, the text of its fields. */
export type ProtobufTable = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface TableField {
  name: string
  number: number
  omitZero: boolean
  always: boolean
  inline: boolean
  pointer: boolean
  many: '' | 'list' | 'map'
  type: string
}

const FIELD = /^([^:]+):(\d+):(0?)(!?)(~?)(\??)(\[\]|\{\})?(.+)$/

/** Reads no field. */
export function hasMessage(table: ProtobufTable, apiVersion: string, message: string): boolean {
  return Object.hasOwn(table, apiVersion) && Object.hasOwn(table[apiVersion]!, message)
}

/** `undefined` when there is no such message. @throws Error naming a field that is written wrongly */
export function tableFields(table: ProtobufTable, apiVersion: string, message: string): TableField[] | undefined {
  if (!hasMessage(table, apiVersion, message)) return undefined
  const text = table[apiVersion]![message]!
  return text === '' ? [] : text.split(' ').map(fieldOf)
}

/** The API version and the name of a message that a field of a message of `apiVersion` names. */
export function messageOf(apiVersion: string, type: string): [apiVersion: string, message: string] {
  const dot = type.lastIndexOf('.')
  return dot < 0 ? [apiVersion, type] : [type.slice(0, dot), type.slice(dot + 1)]
}

function fieldOf(text: string): TableField {
  const found = FIELD.exec(text)
  if (found === null) throw new Error(`the table of protobuf messages has a field that cannot be read: ${text}`)
  const [, name, number, omitZero, always, inline, pointer, many, type] = found
  return {
    name: name!,
    number: Number(number),
    omitZero: omitZero === '0',
    always: always === '!',
    inline: inline === '~',
    pointer: pointer === '?',
    many: many === '[]' ? 'list' : many === '{}' ? 'map' : '',
    type: type!,
  }
}
