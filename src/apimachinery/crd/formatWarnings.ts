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
  return (sharesSchema(crd) ? schemas.slice(0, 1) : schemas).flatMap(inSchema)
}

function inSchema(schema: Schema): string[] {
  const { format = '', type = '', items, additionalProperties, properties = {} } = schema
  const known =
    format === '' ||
    (type === '' || type === 'string'
      ? OF_TEXTS.has(withoutDashes(format))
      : (OF_NUMBERS[type]?.includes(format) ?? false))
  const below = [
    items,
    additionalProperties,
    schema.not,
    schema.allOf,
    schema.oneOf,
    schema.anyOf,
    Object.values(properties),
  ]
  const schemas = below.flat().filter(child => typeof child === 'object')
  return [...(known ? [] : [format]), ...schemas.flatMap(inSchema)]
}

function withoutDashes(format: string): string {
  return format.replaceAll('-', '')
}
