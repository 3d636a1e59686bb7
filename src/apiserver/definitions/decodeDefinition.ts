/**
 * The part of a CustomResourceDefinition that its own schema leaves open. `items` and `additionalProperties` hold a schema or another
 * value, so types and nulls below them are looked at here.
 * @see https://pkg.go.dev/k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1#JSONSchemaProps
 */
import { list, record } from '../../apimachinery/fields.ts'
import { typeErrors } from '../../apimachinery/go/typeErrors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { dropNulls } from '../registry/nulls.ts'

/** Drops nulls in place, as everywhere else. The first wrong type in words of Go's JSON package, or `undefined`. In steps. */
export function* decodeDefinition(crd: KubeObject): Steps<string | undefined> {
  for (const version of list(record(crd.spec).versions)) {
    const schema = record(record(version).schema).openAPIV3Schema
    if (!isRecord(schema)) continue
    yield
    dropNulls(schema, SCHEMA_PROPS)
    yield
    const wrongType = typeErrors({ ...schema, kind: 'JSONSchemaProps' }, SCHEMA_PROPS)
    if (wrongType !== undefined) return wrongType
    yield
    const wrongBranch = branchError(schema)
    if (wrongBranch !== undefined) return wrongBranch
  }
  return undefined
}

/** Error for a value that is neither a schema nor the allowed alternative. Types of all other members are right. */
function branchError(schema: Record<string, unknown>): string | undefined {
  const { items, additionalProperties, properties, allOf, anyOf, oneOf, not } = schema
  if (additionalProperties !== undefined && !isRecord(additionalProperties)) {
    if (typeof additionalProperties !== 'boolean') return 'boolean or JSON schema expected'
  }
  if (items !== undefined && !isRecord(items) && !(Array.isArray(items) && items.every(isRecord))) {
    return 'json: cannot unmarshal into Go struct field JSONSchemaProps.items of type v1.JSONSchemaPropsOrArray'
  }
  const lists = [allOf, anyOf, oneOf].flatMap(value => list(value))
  if (!lists.every(isRecord)) return 'json: a schema is expected in allOf, anyOf and oneOf, not null'
  for (const child of [items, additionalProperties, not, ...lists, ...Object.values(record(properties))]) {
    const wrong = isRecord(child) ? branchError(child) : undefined
    if (wrong !== undefined) return wrong
  }
  return undefined
}

const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const number: Schema = { type: 'number' }
const whole: Schema = { type: 'integer' }
const texts: Schema = { type: 'array', items: text }
const open: Schema = { 'x-kubernetes-preserve-unknown-fields': true }

const SCHEMA_PROPS: Schema = schemaProps()

/** A graph: schemas contain schemas. */
function schemaProps(): Schema {
  const rule: Schema = {
    type: 'object',
    properties: {
      ...all(text, 'rule', 'message', 'messageExpression', 'reason', 'fieldPath'),
      optionalOldSelf: flag,
    },
  }
  const props: Schema = { type: 'object' }
  // a schema or something else: members are typed, what holds them is not
  const branch: Schema = {}
  const properties: Record<string, Schema> = {
    ...all(text, 'id', '$schema', '$ref', 'description', 'type', 'format', 'title', 'pattern'),
    ...all(text, 'x-kubernetes-list-type', 'x-kubernetes-map-type'),
    ...all(flag, 'exclusiveMaximum', 'exclusiveMinimum', 'uniqueItems', 'nullable'),
    ...all(
      flag,
      'x-kubernetes-preserve-unknown-fields',
      'x-kubernetes-embedded-resource',
      'x-kubernetes-int-or-string',
    ),
    ...all(number, 'maximum', 'minimum', 'multipleOf'),
    ...all(whole, 'maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'),
    ...all(texts, 'required', 'x-kubernetes-list-map-keys'),
    ...all(open, 'default', 'example', 'additionalItems', 'dependencies'),
    ...all({ type: 'array', items: props }, 'allOf', 'anyOf', 'oneOf'),
    ...all({ type: 'object', additionalProperties: props }, 'properties', 'patternProperties', 'definitions'),
    ...all(branch, 'items', 'additionalProperties'),
    enum: { type: 'array', items: open },
    not: props,
    externalDocs: { type: 'object', properties: all(text, 'description', 'url') },
    'x-kubernetes-validations': { type: 'array', items: rule },
  }
  props.properties = properties
  branch.properties = properties
  branch.items = props
  return props
}

function all(schema: Schema, ...names: string[]): Record<string, Schema> {
  return Object.fromEntries(names.map(name => [name, schema]))
}
