/**
 * Property names as CEL identifiers.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
import type { Schema } from '../schema.ts'

const RESERVED = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
)
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** The identifier that a rule writes for a property; `undefined` when rules cannot reach it. */
export function celName(property: string): string | undefined {
  if (RESERVED.has(property)) return `__${property}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(property)) return undefined
  const escaped = property.replace(/__|[./-]/g, part => ESCAPES[part]!)
  return /^[0-9]/.test(escaped) ? undefined : escaped
}

const text: Schema = { type: 'string' }
/** Members of every resource that rules see. */
const RESOURCE_MEMBERS: Readonly<Record<string, Schema>> = {
  apiVersion: text,
  kind: text,
  metadata: { type: 'object', properties: { name: text, generateName: text } },
}

/** The property that a rule names so. */
export function memberNamed(schema: Schema, name: string): Schema | undefined {
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  if (isResource && Object.hasOwn(RESOURCE_MEMBERS, name)) return RESOURCE_MEMBERS[name]
  return membersOf(schema).get(name)
}

// A memo of a pure function: rules name members one by one, of schemas that may have thousands.
const known = new WeakMap<Schema, ReadonlyMap<string, Schema>>()

/** By the name that rules write; the first of those that would be written alike. */
function membersOf(schema: Schema): ReadonlyMap<string, Schema> {
  let members = known.get(schema)
  if (members === undefined) {
    const named = new Map<string, Schema>()
    for (const [property, member] of Object.entries(schema.properties ?? {})) {
      const written = celName(property)
      if (written !== undefined && !named.has(written)) named.set(written, member)
    }
    known.set(schema, named)
    members = named
  }
  return members
}
