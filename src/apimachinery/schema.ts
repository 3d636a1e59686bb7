/**
 * Schemas as the algorithms of this folder see them: OpenAPI v3 structural schemas plus the Kubernetes extensions.
 *
 * In memory a schema is a graph. Nodes refer to each other directly and may be shared or cyclic (JSONSchemaProps), so no code resolves
 * `$ref` at run time. Never walk a schema without an object beside it that ends the walk.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
import type { StructFacts } from '../../openapi/catalogFormat.ts'
import type { Json } from './object.ts'

export interface ValidationRule {
  rule: string
  message?: string
  messageExpression?: string
  reason?: string
  fieldPath?: string
  optionalOldSelf?: boolean
}

/** Name of a schema that is a struct in upstream's code (`v1.DeploymentSpec`), for messages. Never in JSON. */
export const STRUCT_NAME: unique symbol = Symbol('name of the struct')
/** Facts about such a struct beyond the schema. Never in JSON. */
export const STRUCT_FACTS: unique symbol = Symbol('facts about the struct')
/** Mark of a schema whose values have one owner as a whole. Never in JSON. */
export const ONE_VALUE: unique symbol = Symbol('one value')

export interface Schema {
  [STRUCT_NAME]?: string
  [STRUCT_FACTS]?: StructFacts
  [ONE_VALUE]?: true
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  format?: string
  title?: string
  description?: string
  nullable?: boolean
  default?: Json
  enum?: Json[]
  required?: string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  not?: Schema
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-validations'?: ValidationRule[]
  /** Strategic merge (built-in kinds only): the key that names an element of this list. */
  'x-kubernetes-patch-merge-key'?: string
  /** Strategic merge (built-in kinds only): comma-separated `merge`, `replace`, `retainKeys`. */
  'x-kubernetes-patch-strategy'?: string
}

/** The schema of member `name` of an object of schema `schema`; `undefined` when the schema does not say. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema === undefined) return undefined
  const property = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
  if (property !== undefined) return property
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}
