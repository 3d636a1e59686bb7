/** Formats in schemas that nothing checks: whoever writes them is warned. */
import type { KubeObject } from '../object.ts'
import type { Schema } from '../schema.ts'
import { stringFormats } from '../structural/formats.ts'
import { readSpec } from './definition.ts'
import { sharesSchema } from './validateCrd.ts'

const OF_NUMBERS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}
/** Texts may be anything of these; Go's library leaves the dashes out. */
const OF_TEXTS: ReadonlySet<string> = new Set(['password', ...Object.keys(stringFormats)].map(withoutDashes))

/** Texts of warnings about formats that `old` does not have. */
export function formatWarnings(crd: KubeObject, old: KubeObject | undefined): string[] {
  const before = new Set(old === undefined ? [] : unknownFormats(old))
  return unknownFormats(crd)
    .filter(format => !before.has(format))
    .map(format => `unrecognized format ${JSON.stringify(format)}`)
}

function unknownFormats(crd: KubeObject): string[] {
  const { versions } = readSpec(crd)
  const schemas = versions.flatMap(({ schema }) => (schema === undefined ? [] : [schema]))
  const found: string[] = []
  for (const schema of sharesSchema(crd) ? schemas.slice(0, 1) : schemas) addFormats(schema, found)
  return found
}

/** Nothing is made on the way, as a definition may have fifty thousand schemas. */
function addFormats(schema: Schema, found: string[]): void {
  const { format, type = '', items, additionalProperties, not, allOf, oneOf, anyOf, properties } = schema
  if (format !== undefined && format !== '' && !isKnown(format, type)) found.push(format)
  for (const child of Array.isArray(items) ? items : [items]) if (typeof child === 'object') addFormats(child, found)
  if (typeof additionalProperties === 'object') addFormats(additionalProperties, found)
  if (not !== undefined) addFormats(not, found)
  for (const branches of [allOf, oneOf, anyOf]) for (const branch of branches ?? []) addFormats(branch, found)
  for (const name in properties) addFormats(properties[name]!, found)
}

function isKnown(format: string, type: string): boolean {
  if (type === '' || type === 'string') return OF_TEXTS.has(withoutDashes(format))
  return OF_NUMBERS[type]?.includes(format) ?? false
}

function withoutDashes(format: string): string {
  return format.replaceAll('-', '')
}
