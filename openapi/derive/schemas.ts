/**
 * Turns model classes into OpenAPI v3 schemas under upstream's definition names, and adds the facts of `fieldFacts.ts`. The table of
 * protobuf messages says which strings are quantities, and the content of fields that the generated client types `any`.
 */
import type { DescriptionsFile, SchemaNode } from '../catalogFormat.ts'
import { META_PACKAGE } from '../definitionNames.ts'
import { ATOMIC_TYPES, FIELD_FACTS } from '../fieldFacts.ts'
import type { Model, ModelAttribute } from './models.ts'
import { StructTable } from './structs.ts'

const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'
const RAW = 'io.k8s.apimachinery.pkg.runtime.RawExtension'
const FREE_FORM: SchemaNode = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** Types that the generated client has no model for. */
const PRIMITIVE_DEFINITIONS: Readonly<Record<string, SchemaNode>> = {
  [QUANTITY]: { format: 'quantity', 'x-kubernetes-int-or-string': true },
  [INT_OR_STRING]: { format: 'int-or-string', 'x-kubernetes-int-or-string': true },
  [RAW]: FREE_FORM,
  [`${META_PACKAGE}.FieldsV1`]: FREE_FORM,
  [`${META_PACKAGE}.MicroTime`]: { type: 'string', format: 'date-time' },
  [`${META_PACKAGE}.Patch`]: FREE_FORM,
  [`${META_PACKAGE}.Time`]: { type: 'string', format: 'date-time' },
}

/** Content of a field without a model, by its protobuf type. All others hold any JSON value. */
const FREE_CONTENT: Readonly<Record<string, string>> = {
  RawExtension: RAW,
  CustomResourceSubresourceStatus: RAW,
  FieldsV1: `${META_PACKAGE}.FieldsV1`,
}

const PRIMITIVE_DESCRIPTIONS: DescriptionsFile = {
  [QUANTITY]: { '': 'A number with an optional suffix, such as 500m, 2 or 1.5Gi; written as a string or a number.' },
  [INT_OR_STRING]: { '': 'An integer or a string.' },
  [RAW]: { '': 'Any object.' },
  [`${META_PACKAGE}.FieldsV1`]: { '': 'A set of fields, as a trie of path elements.' },
  [`${META_PACKAGE}.MicroTime`]: { '': 'A time in RFC 3339 format, with microseconds.' },
  [`${META_PACKAGE}.Patch`]: { '': 'A patch in the format that the content type of the request names.' },
  [`${META_PACKAGE}.Time`]: { '': 'A time in RFC 3339 format, in seconds.' },
}

/** `core.v1.Container` and `meta.v1.ObjectMeta` for definition names. */
function shortDefinitionName(name: string): string {
  return name.replace(/^io\.k8s\..*?([a-z0-9]+\.v[0-9a-z]+\.\w+)$/, '$1')
}

/**
 * @param names definition name per model
 * @throws Error when a fact names a field that no model has, or the table lacks an `any` field
 */
export function buildSchemas(
  models: Iterable<Model>,
  names: ReadonlyMap<string, string>,
): { definitions: Record<string, SchemaNode>; descriptions: DescriptionsFile } {
  const definitions: Record<string, SchemaNode> = { ...PRIMITIVE_DEFINITIONS }
  const descriptions: DescriptionsFile = { ...PRIMITIVE_DESCRIPTIONS }
  const facts = new FactTable()
  const structs = new StructTable()
  for (const model of models) {
    const name = names.get(model.name)!
    const short = shortDefinitionName(name)
    const schema = modelSchema(model, short, { names, facts, structs })
    const struct = structs.factsOf(short, schema)
    definitions[name] = struct === undefined ? schema : { ...schema, struct }
    descriptions[name] = Object.fromEntries(
      [['', model.description], ...model.attributes.map(a => [a.name, a.description])].filter(
        ([, text]) => text !== '',
      ),
    )
  }
  facts.assertAllUsed()
  structs.assertAllUsed()
  return { definitions: sortKeys(definitions), descriptions: sortKeys(descriptions) }
}

interface Sources {
  names: ReadonlyMap<string, string>
  facts: FactTable
  structs: StructTable
}

function modelSchema(model: Model, short: string, { names, facts, structs }: Sources): SchemaNode {
  const properties: Record<string, SchemaNode> = {}
  const protobufTypes = structs.typesOf(short)
  for (const attribute of model.attributes) {
    const field = `${short}.${attribute.name}`
    const node = attributeSchema(attribute, field, names, protobufTypes.get(attribute.name))
    for (const word of facts.take(field)) applyFact(node, word)
    properties[attribute.name] = node
  }
  const required = model.attributes.filter(a => a.required).map(a => a.name)
  return {
    type: 'object',
    ...(facts.takeAtomic(short) && { 'x-kubernetes-map-type': 'atomic' }),
    ...(required.length > 0 && { required }),
    ...(model.attributes.length > 0 && { properties }),
  }
}

function attributeSchema(
  { type, format }: ModelAttribute,
  field: string,
  names: ReadonlyMap<string, string>,
  protobufType: string | undefined,
): SchemaNode {
  return schemaOf(type)

  function schemaOf(text: string): SchemaNode {
    const array = /^Array<(.*)>$/.exec(text)
    if (array !== null) return { type: 'array', items: schemaOf(array[1]!) }
    const map = /^\{ \[key: string\]: (.*); \}$/.exec(text)
    if (map !== null) return { type: 'object', additionalProperties: schemaOf(map[1]!) }
    switch (text) {
      case 'string':
        return protobufType === 'Quantity' ? { $ref: QUANTITY } : { type: 'string', ...(format && { format }) }
      case 'boolean':
        return { type: 'boolean' }
      case 'number':
        return { type: format === 'double' ? 'number' : 'integer', ...(format && { format }) }
      case 'Date':
        return { $ref: `${META_PACKAGE}.Time` }
      case 'V1MicroTime':
        return { $ref: `${META_PACKAGE}.MicroTime` }
      case 'IntOrString':
        return { $ref: INT_OR_STRING }
      case 'any': {
        if (protobufType === undefined) throw new Error(`the content of ${field} is unknown`)
        const content = FREE_CONTENT[protobufType]
        return content === undefined ? { 'x-kubernetes-preserve-unknown-fields': true } : { $ref: content }
      }
    }
    const name = names.get(text)
    if (name === undefined) throw new Error(`${field} is of the unknown type ${text}`)
    return { $ref: name }
  }
}

function applyFact(node: SchemaNode, word: string): void {
  const [verb, argument] = word.startsWith('=') ? ['=', word.slice(1)] : (word.split(':') as [string, string?])
  switch (verb) {
    case '=':
      node.default = node.type === 'boolean' ? argument === 'true' : argument
      return
    case 'atomic':
    case 'set':
      node['x-kubernetes-list-type'] = verb
      return
    case 'map':
      node['x-kubernetes-list-type'] = 'map'
      node['x-kubernetes-list-map-keys'] = argument!.split(',')
      return
    case 'key':
      applyFact(node, `map:${argument}`)
      applyFact(node, `merge:${argument}`)
      return
    case 'mapAtomic':
    case 'mapGranular':
      node['x-kubernetes-map-type'] = verb === 'mapAtomic' ? 'atomic' : 'granular'
      return
    case 'merge':
    case 'replace':
    case 'retainKeys':
    case 'merge+retainKeys':
      node['x-kubernetes-patch-strategy'] = verb.replace('+', ',')
      if (argument !== undefined) node['x-kubernetes-patch-merge-key'] = argument
      return
  }
  throw new Error(`unknown fact ${word}`)
}

/** The facts, and which of them are still unclaimed. */
class FactTable {
  readonly #fields = new Map<string, string[]>()
  readonly #atomic = new Set(ATOMIC_TYPES)
  readonly #unused = new Set<string>()

  constructor() {
    for (const [path, facts] of Object.entries(FIELD_FACTS)) {
      const [, type, fields] = /^(\w+\.\w+\.\w+)\.(.*)$/.exec(path)!
      for (const field of fields!.split(',')) {
        this.#fields.set(`${type}.${field}`, [...(this.#fields.get(`${type}.${field}`) ?? []), ...facts.split(' ')])
      }
    }
    for (const name of [...this.#fields.keys(), ...this.#atomic]) this.#unused.add(name)
  }

  take(field: string): string[] {
    this.#unused.delete(field)
    return this.#fields.get(field) ?? []
  }

  takeAtomic(type: string): boolean {
    this.#unused.delete(type)
    return this.#atomic.has(type)
  }

  assertAllUsed(): void {
    if (this.#unused.size > 0) throw new Error(`facts about unknown fields: ${[...this.#unused].join(', ')}`)
  }
}

function sortKeys<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
