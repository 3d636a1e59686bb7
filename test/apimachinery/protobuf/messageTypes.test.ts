import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { CatalogFile, SchemaNode } from '../../../openapi/catalogFormat.ts'
import { isStatusError } from '../../../src/apimachinery/errors.ts'
import { isMistakable, parseJsonSafely } from '../../../src/apimachinery/jsonParse.ts'
import { protobufCodec, type WireObject } from '../../../src/apimachinery/protobuf/protobufCodec.ts'
import { readProtobufFields } from '../../../src/program/dataFiles.ts'
import * as fc from '../../support/fastCheck.ts'

parseJsonSafely()
/** Without those that are refused: see jsonParse.ts. */
const key = (any: fc.Arbitrary<string>): fc.Arbitrary<string> => any.filter(each => !isMistakable(each))

interface Row {
  name: string
  number: number
  inline: boolean
  many: '' | '[]' | '{}'
  type: string
}

const table = readProtobufFields()
const codec = protobufCodec(() => table)
const catalog = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../openapi/generated/catalog.json'), 'utf8'),
) as CatalogFile
const SCALAR = /^[sbildy]$/
const OWN = /^io\.(kcp|kubestellar)\./
/** Well-known types by the definitions that describe them. */
const WELL_KNOWN: Record<string, string> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'Quantity',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'Time',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': 'MicroTime',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': 'FieldsV1',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'RawExtension',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'IntOrString',
}
const WELL_TYPES: ReadonlySet<string> = new Set([
  ...Object.values(WELL_KNOWN),
  'JSON',
  'JSONSchemaPropsOrArray',
  'JSONSchemaPropsOrBool',
  'JSONSchemaPropsOrStringArray',
  'Strings',
])
const KINDS = catalog.resources
  .filter(r => !OWN.test(r.definition))
  .map(r => [r.group ? `${r.group}/${r.version}` : r.version, r.kind] as const)

t.test('every field of the table can be read', async t => {
  for (const [version, messages] of Object.entries(table)) {
    for (const message of Object.keys(messages)) {
      const rows = rowsOf(version, message)
      t.equal(new Set(rows.map(row => row.number)).size, rows.length, `${version}.${message}: numbers are used once`)
      for (const { type } of rows) {
        const { version: target, message: name } = targetOf(version, type)
        t.ok(SCALAR.test(type) || WELL_TYPES.has(type) || table[target]?.[name] !== undefined, `${message}: ${type}`)
      }
    }
  }
})

t.test('every kind of the catalog and its list has a message', async t => {
  for (const [version, kind] of KINDS) t.ok(codec.supports(version, kind), `${version} ${kind}`)
  for (const r of catalog.resources) {
    if (r.listDefinition === undefined || OWN.test(r.definition)) continue
    t.ok(codec.supports(r.group ? `${r.group}/${r.version}` : r.version, r.listKind), r.listKind)
  }
})

t.test('every property of the catalog has a field of the same type', async t => {
  for (const [definition, schema] of Object.entries(catalog.definitions)) {
    const home = homeOf(definition)
    if (home === undefined || OWN.test(definition)) continue
    const rows = new Map(flatRows(home.version, home.message).map(row => [row.name, row]))
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const row = rows.get(name)
      if (row === undefined && (name === 'apiVersion' || name === 'kind')) continue
      const path = `${definition}.${name}`
      if (row === undefined) {
        t.fail(`${path} has no field`)
        continue
      }
      t.ok(agrees(row, property), `${path}: ${JSON.stringify(property)} is ${row.many}${row.type}`)
    }
  }
})

t.test('any object comes back as it was sent', async () => {
  for (const [version, kind] of KINDS) {
    fc.assert(
      fc.property(objectOf(version, kind, 4), fields => {
        const object = { apiVersion: version, kind, ...fields } as WireObject
        const bytes = codec.encode(object)
        const read = codec.decode(bytes)
        includes(read, object, kind)
        return codec.encode(read).equals(bytes)
      }),
      { numRuns: 2 },
    )
  }
})

t.test('broken input is a bad request and nothing else', async () => {
  const pod = objectOf('v1', 'Pod', 5).map(fields => codec.encode({ apiVersion: 'v1', kind: 'Pod', ...fields }))
  const breakage = fc.record({ at: fc.nat(), byte: fc.nat(255), cut: fc.boolean() })
  fc.assert(
    fc.property(pod, breakage, (bytes, { at, byte, cut }) => {
      const broken = Buffer.from(bytes)
      broken[at % broken.length] = byte
      try {
        codec.decode(cut ? broken.subarray(0, at % broken.length) : broken)
      } catch (error) {
        if (!isStatusError(error, 'BadRequest')) throw error
      }
    }),
    { numRuns: 100 },
  )
})

function rowsOf(version: string, message: string): Row[] {
  const text = table[version]![message]!
  if (text === '') return []
  return text.split(' ').map(field => {
    const match = /^([^:]+):(\d+):0?!?(~?)\??(\[\]|\{\}|)(.+)$/.exec(field)!
    const [, name, number, inline, many, type] = match as unknown as string[]
    return {
      name: name!,
      number: Number(number),
      inline: inline !== '',
      many: many as Row['many'],
      type: type!,
    }
  })
}

/** With the fields of inline messages in place of them. */
function flatRows(version: string, message: string): Row[] {
  return rowsOf(version, message).flatMap(row => {
    if (!row.inline) return [row]
    const target = targetOf(version, row.type)
    return flatRows(target.version, target.message)
  })
}

function targetOf(version: string, type: string): { version: string; message: string } {
  const dot = type.lastIndexOf('.')
  return dot < 0 ? { version, message: type } : { version: type.slice(0, dot), message: type.slice(dot + 1) }
}

/** The section of the table that holds a definition; `undefined` for well-known types. */
function homeOf(definition: string): { version: string; message: string } | undefined {
  if (WELL_KNOWN[definition] !== undefined) return undefined
  const parts = definition.split('.')
  const message = parts.at(-1)!
  if (definition.startsWith('io.k8s.apimachinery.pkg.apis.meta.')) return { version: 'meta.k8s.io/v1', message }
  const [name, version] = parts.slice(-3)
  const isHome = (apiVersion: string): boolean => {
    const [group, suffix] = apiVersion.split('/')
    return name === 'core' ? apiVersion === version : suffix === version && group!.split('.')[0] === name
  }
  const apiVersion = Object.keys(table).find(isHome)
  return apiVersion === undefined ? undefined : { version: apiVersion, message }
}

function agrees(row: Row, property: SchemaNode): boolean {
  // An empty structure in upstream's sources, which the catalog calls any object.
  if (row.type === 'CustomResourceSubresourceStatus') return true
  if (property.$ref !== undefined) {
    if (row.many !== '') return false
    const well = WELL_KNOWN[property.$ref]
    return well !== undefined ? row.type === well : row.type.endsWith(property.$ref.split('.').at(-1)!)
  }
  if (property.type === 'array') {
    if (row.type === 'Strings') return row.many === ''
    return row.many === '[]' && agrees({ ...row, many: '' }, property.items ?? {})
  }
  if (property.type === 'object') {
    if (typeof property.additionalProperties === 'object') {
      return row.many === '{}' && agrees({ ...row, many: '' }, property.additionalProperties)
    }
    return row.many === '' && !SCALAR.test(row.type)
  }
  if (row.many !== '') return false
  if (property.type === 'boolean') return row.type === 'b'
  if (property.type === 'number') return row.type === 'd'
  if (property.type === 'integer') return row.type === (property.format === 'int64' ? 'l' : 'i')
  if (property.type === 'string') {
    return property.format === 'byte' ? row.type === 'y' : ['s', 'Time', 'MicroTime', 'Quantity'].includes(row.type)
  }
  return WELL_TYPES.has(row.type)
}

/** Objects of a message, `depth` levels deep; the values are canonical, so that they come back as they are. */
function objectOf(version: string, message: string, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const members: Record<string, fc.Arbitrary<unknown>> = {}
  for (const row of flatRows(version, message)) {
    const value = fieldValue(version, row.type, depth - 1)
    if (value === undefined) continue
    if (row.many === '[]') members[row.name] = fc.array(value, { minLength: 1, maxLength: 2 })
    else if (row.many === '{}')
      members[row.name] = fc.dictionary(key(fc.string({ maxLength: 5 })), value, { minKeys: 1, maxKeys: 2 })
    else members[row.name] = value
  }
  return fc.record(members, { requiredKeys: [] })
}

function fieldValue(version: string, type: string, depth: number): fc.Arbitrary<unknown> | undefined {
  const json = fc.jsonValue({ maxDepth: 2 }).map(value => JSON.parse(JSON.stringify(value)) as unknown)
  const seconds = fc.integer({ min: -62135596799, max: 253402300799 })
  const time = seconds.map(value => new Date(value * 1000).toISOString().replace('.000Z', 'Z'))
  const known: Record<string, () => fc.Arbitrary<unknown>> = {
    s: () => fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' }),
    b: () => fc.constant(true),
    i: () => fc.integer().filter(n => n !== 0),
    l: () => fc.maxSafeInteger().filter(n => n !== 0),
    d: () => fc.double({ noNaN: true, noDefaultInfinity: true }).filter(n => n !== 0),
    y: () => fc.uint8Array({ minLength: 1, maxLength: 5 }).map(bytes => Buffer.from(bytes).toString('base64')),
    Time: () => time,
    MicroTime: () =>
      fc
        .tuple(time, fc.nat(999_999))
        .map(([text, micros]) => text.replace('Z', `.${String(micros).padStart(6, '0')}Z`)),
    Quantity: () => fc.constantFrom('0', '1', '500m', '1Gi'),
    IntOrString: () => fc.oneof(fc.integer(), fc.string()),
    Strings: () => fc.array(fc.string()),
    FieldsV1: () => fc.dictionary(key(fc.string()), fc.constant({})),
    JSON: () => json,
    RawExtension: () => fc.dictionary(key(fc.string()), json),
    JSONSchemaPropsOrStringArray: () => fc.array(fc.string(), { minLength: 1 }),
    JSONSchemaPropsOrBool: () => fc.boolean(),
    JSONSchemaPropsOrArray: () => fc.constant({ type: 'string' }),
  }
  const scalar = known[type]
  if (scalar !== undefined) return scalar()
  const target = targetOf(version, type)
  return depth > 0 ? objectOf(target.version, target.message, depth) : undefined
}

/** Everything of `part` is in `whole`, which may have zero values and empty messages beside it. */
function includes(whole: unknown, part: unknown, path: string): void {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || whole.length !== part.length) throw new Error(`${path} is another list`)
    for (const [index, item] of part.entries()) includes(whole[index], item, `${path}[${index}]`)
  } else if (typeof part === 'object' && part !== null) {
    if (typeof whole !== 'object' || whole === null) throw new Error(`${path} is ${JSON.stringify(whole)}`)
    for (const [name, member] of Object.entries(part)) {
      includes(Object.getOwnPropertyDescriptor(whole, name)?.value, member, `${path}.${name}`)
    }
  } else if (whole !== part) throw new Error(`${path} is ${JSON.stringify(whole)}, not ${JSON.stringify(part)}`)
}
