/**
 * Paths to a field of a schema, as validation rules and selectable fields name them: `.spec.size`, `.spec['a.b']`.
 * @see https://pkg.go.dev/k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1#ValidationRule
 */
import type { Schema } from '../schema.ts'

interface FoundField {
  /** The names on the way; two spellings of a path have the same. */
  names: string[]
  /** As errors name the field, below the schema: `.spec.map[key]`. */
  text: string
  schema: Schema
}

/** Where the path leads, or why it leads nowhere, in upstream's words. */
export function findField(schema: Schema, path: string, { brackets }: { brackets: boolean }): FoundField | string {
  const tokens = tokensOf(path)
  const names: string[] = []
  let text = ''
  let at = schema
  for (let i = 0; i < tokens.length; i++) {
    const start = tokens[i]!
    if (start === '[' && !brackets) return 'array notation is not allowed'
    if (start !== '.' && start !== '[') return `expected [ or . but got: ${start}`
    const token = tokens[++i]
    if (token === undefined) return 'unexpected end of JSON path'
    const name = start === '.' ? token : unquoted(token)
    if (name === undefined) return `expected single quoted string but got ${token}`
    const next = memberOf(at, name)
    if (next === undefined) return 'does not refer to a valid field'
    text += hasMembers(at) ? `.${name}` : `[${name}]`
    at = next
    names.push(name)
    if (start === '.') continue
    const end = tokens[++i]
    if (end === undefined) return 'unexpected end of JSON path'
    if (end !== ']') return `expected ] but got ${end}`
  }
  return { names, text, schema: at }
}

function hasMembers({ properties }: Schema): boolean {
  return properties !== undefined && Object.keys(properties).length > 0
}

function memberOf(schema: Schema, name: string): Schema | undefined {
  const { properties = {}, additionalProperties } = schema
  if (hasMembers(schema)) return Object.hasOwn(properties, name) ? properties[name] : undefined
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

function unquoted(token: string): string | undefined {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) return undefined
  return token.slice(1, -1).replace(/\\(.)/g, '$1')
}

/** Delimiters, quoted texts with their quotes, and what is between. */
function tokensOf(path: string): string[] {
  return path.match(/[.[\]]|'(?:[^'\\]|\\.)*'|[^.[\]]+/g) ?? []
}
