/**
 * Facts of upstream's structs about their fields beyond the schema. They are fields that JSON always has, pointers, fields of a nameless
 * struct, and the names of their types. From the table of protobuf messages, whose marks say the first three (`protobufTable.ts` explains
 * them), and from `namedTypes.ts`.
 */
import { readProtobufFields } from '../../src/program/dataFiles.ts'
import type { SchemaNode, StructFacts } from '../catalogFormat.ts'
import { NAMED_TYPES } from '../namedTypes.ts'
import { type ProtobufTable, tableFields } from '../protobufTable.ts'

interface Field {
  name: string
  always: boolean
  pointer: boolean
  type: string
  /** Names of the nameless structs around it, outermost first. */
  within: readonly string[]
}

/** Types of fields that are values of their own and whose JSON is there even when nothing is in them. */
const VALUES: ReadonlySet<string> = new Set(['IntOrString', 'MicroTime', 'Quantity', 'RawExtension', 'Time'])
const SCALARS: ReadonlySet<string> = new Set(['b', 'd', 'i', 'l', 's', 'y'])

export class StructTable {
  readonly #byVersion: ProtobufTable
  readonly #types = new Map<string, Record<string, string>>()
  readonly #unused = new Set<string>()

  constructor() {
    this.#byVersion = readProtobufFields()
    for (const [type, fields] of Object.entries(NAMED_TYPES)) {
      for (const field of fields.split(/\s+/)) {
        const [, struct = '', name = ''] = /^(.*)\.([^.]+)$/.exec(field) ?? []
        this.#types.set(struct, { ...this.#types.get(struct), [name]: type })
        this.#unused.add(struct)
      }
    }
  }

  /** Protobuf types of the fields of a struct, or of what they list or map to. @param short `core.v1.Container` */
  typesOf(short: string): Map<string, string> {
    return new Map(this.#fieldsOf(short)?.map(({ name, type }) => [name, type]))
  }

  /** @param short `core.v1.Container`. `undefined` for what is no struct. */
  factsOf(short: string, { properties = {}, required = [] }: SchemaNode): StructFacts | undefined {
    const fields = this.#fieldsOf(short)
    if (fields === undefined) return undefined
    const served = fields.filter(({ name }) => Object.hasOwn(properties, name))
    const pick = (test: (field: Field) => boolean): string[] => served.filter(test).map(({ name }) => name)
    const within = Object.groupBy(
      served.filter(field => field.within.length > 0),
      field => field.within.join('.'),
    )
    const typeMeta = ['apiVersion', 'kind'].filter(
      name => Object.hasOwn(properties, name) && !fields.some(field => field.name === name),
    )
    this.#unused.delete(short)
    const types = this.#types.get(short)
    return {
      ...some(
        'always',
        pick(({ name, always }) => always && !required.includes(name)),
      ),
      ...some(
        'omitted',
        pick(({ name, always }) => !always && required.includes(name)),
      ),
      ...some(
        'pointers',
        pick(({ pointer, always, type }) => pointer && (always || SCALARS.has(type))),
      ),
      ...((typeMeta.length > 0 || Object.keys(within).length > 0) && {
        within: {
          ...(typeMeta.length > 0 && { TypeMeta: typeMeta }),
          ...Object.fromEntries(
            Object.entries(within).map(([outer, inner]) => [outer, inner!.map(({ name }) => name)]),
          ),
        },
      }),
      ...(types && { types }),
    }
  }

  /** @throws Error naming structs that the catalog does not have */
  assertAllUsed(): void {
    if (this.#unused.size > 0) throw new Error(`names of types in unknown structs: ${[...this.#unused].join(', ')}`)
  }

  #fieldsOf(short: string): Field[] | undefined {
    const [group = '', version = '', message = ''] = short.split('.')
    const apiVersion = Object.keys(this.#byVersion).find(name =>
      group === 'core' ? name === 'v1' : name.split('.')[0]!.split('/')[0] === group && name.endsWith(`/${version}`),
    )
    return apiVersion === undefined ? undefined : this.#messageFields(apiVersion, message, [])
  }

  #messageFields(apiVersion: string, message: string, within: readonly string[]): Field[] | undefined {
    const fields = tableFields(this.#byVersion, apiVersion, message)
    return fields?.flatMap(({ name, omitZero, always, inline, pointer, many, type }) => {
      if (inline) return this.#messageFields(apiVersion, type, [...within, type]) ?? []
      const isStruct = VALUES.has(type) || (!SCALARS.has(type) && !pointer && !many)
      return [{ name, always: always || (isStruct && !pointer && !many && !omitZero), pointer, type, within }]
    })
  }
}

function some<K extends string>(name: K, list: readonly string[]): { [P in K]?: string[] } {
  return list.length > 0 ? ({ [name]: [...list] } as { [P in K]?: string[] }) : {}
}
