/**
 * The schemas of CustomResourceDefinitions as OpenAPI publishes them.
 *
 * Version 2 has no word for null and none for fields beyond the listed ones. The client kubectl takes `type`, `properties` and `items` for
 * the whole truth and refuses everything else. Where more values are allowed than version 2 can describe, it describes less. Version 3 has
 * all of it.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#publish-validation-schema-in-openapi
 */
import type { Schema } from '../../apimachinery/schema.ts'
import type { Dialect, SchemaDocument } from './schemaDocument.ts'

/** Fields of every object: `apiVersion`, `kind` and `metadata`. */
type ObjectFields = Readonly<Record<string, SchemaDocument>>

/** Structural schemas do not keep these. */
const FORGOTTEN: ReadonlySet<string> = new Set(['id', '$schema', 'example'])
/** Keywords that version 2 does not know, and defaults, which no client of version 2 reads. */
const NOT_IN_V2: ReadonlySet<string> = new Set(['nullable', 'default', 'allOf', 'anyOf', 'oneOf', 'not'])
/** Also without these an embedded object is none. */
const REQUIRED_OF_OBJECTS = ['kind', 'apiVersion']

/** The schema of whole objects; `undefined` accepts anything. */
export function publishedObject(schema: Schema | undefined, dialect: Dialect, fields: ObjectFields): SchemaDocument {
  // One property here, and kubectl would refuse all that are not listed.
  const open = schema === undefined || (dialect === 'v2' && preserves(schema))
  if (open) return { type: 'object' }
  const document = published(schema, dialect, fields)
  return { ...document, properties: withFields(document, fields) }
}

/** The schema itself where it is published as it is: a definition may have fifty thousand of them. */
function published(schema: Schema, dialect: Dialect, fields: ObjectFields): SchemaDocument {
  const silent = dialect === 'v2' && (schema.nullable === true || preserves(schema))
  const document: SchemaDocument = {}
  const source: Schema = dialect === 'v2' ? schema : withAlternatives(schema)
  let isSame = source === schema
  for (const keyword in source) {
    const value: unknown = source[keyword as keyof Schema]
    const isLeftOut =
      FORGOTTEN.has(keyword) || isDefault(keyword, value) || (dialect === 'v2' && NOT_IN_V2.has(keyword))
    if (isLeftOut) {
      isSame = false
      continue
    }
    if (keyword === 'properties') {
      if (!silent) document.properties = eachPublished(value as Record<string, Schema>, dialect, fields)
    } else if (keyword === 'items') {
      if (!silent) document.items = published(value as Schema, dialect, fields)
    } else if (keyword === 'additionalProperties') {
      document[keyword] = typeof value === 'object' ? published(value as Schema, dialect, fields) : value
    } else document[keyword] = value
    isSame &&= document[keyword] === value
  }
  if (dialect === 'v2') isSame = !loosen(document, schema) && isSame
  if (schema['x-kubernetes-embedded-resource'] && !silent) {
    embed(document, fields)
    isSame = false
  }
  return isSame ? (schema as SchemaDocument) : document
}

function eachPublished(properties: Record<string, Schema>, dialect: Dialect, fields: ObjectFields): SchemaDocument {
  let isSame = true
  const all: SchemaDocument[] = []
  for (const name in properties) {
    const document = published(properties[name]!, dialect, fields)
    isSame &&= document === properties[name]
    all.push(document)
  }
  if (isSame) return properties as SchemaDocument
  return Object.fromEntries(Object.keys(properties).map((name, index) => [name, all[index]]))
}

/** Takes from a document of version 2 what would have kubectl refuse values that the schema accepts. True if it may have. */
function loosen(document: SchemaDocument, schema: Schema): boolean {
  const { properties = {}, additionalProperties, nullable } = schema
  const vague = preserves(schema) && (document.type === 'object' || document.type === 'array')
  if (nullable || vague) delete document.type
  // A required field that is null counts as missing there.
  if (typeof additionalProperties === 'object' && additionalProperties.nullable) delete document.required
  if (!Array.isArray(document.required) || document.properties === undefined) {
    return nullable === true || vague || schema.required !== document.required
  }
  const required = document.required.filter(name => !properties[name]?.nullable)
  if (required.length > 0) document.required = required
  else delete document.required
  return true
}

/** An object inside an object has what every object has. */
function embed(document: SchemaDocument, fields: ObjectFields): void {
  const required = (document.required ?? []) as readonly string[]
  document.properties = withFields(document, fields)
  document.required = [...required, ...REQUIRED_OF_OBJECTS.filter(name => !required.includes(name))]
}

/** The definition's own schema for these fields does not count. */
function withFields({ properties }: SchemaDocument, fields: ObjectFields): SchemaDocument {
  return { ...fields, ...(properties as SchemaDocument | undefined), ...fields }
}

/** Says of an integer-or-string what `x-kubernetes-int-or-string` means, unless the schema does. */
function withAlternatives(schema: Schema): Schema {
  if (!schema['x-kubernetes-int-or-string']) return schema
  const { anyOf, allOf = [] } = schema
  if (isIntOrString(anyOf) || isIntOrString(allOf[0]?.anyOf)) return schema
  const alternatives: Schema[] = [{ type: 'integer' }, { type: 'string' }]
  return anyOf === undefined
    ? { ...schema, anyOf: alternatives }
    : { ...schema, allOf: [{ anyOf: alternatives }, ...allOf] }
}

function isIntOrString(anyOf: readonly Schema[] | undefined): boolean {
  return anyOf?.length === 2 && anyOf[0]!.type === 'integer' && anyOf[1]!.type === 'string'
}

function preserves(schema: Schema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true
}

/** Whether a keyword says nothing: upstream leaves empty ones out. An empty default is a default. */
function isDefault(keyword: string, value: unknown): boolean {
  if (keyword === 'properties') {
    for (const _ in value as object) return false
    return true
  }
  if (keyword === 'default' || keyword === 'additionalProperties') return false
  return value === false || value === '' || (Array.isArray(value) && value.length === 0)
}
