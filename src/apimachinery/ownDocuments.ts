/**
 * Documents that Orrery reads from its own operators (configuration, policies), checked against a JSON Schema. Users' objects are validated
 * elsewhere, in Kubernetes' words; here a fault names its field in Orrery's. Load it lazily: it brings ajv along.
 * @see https://json-schema.org/draft/2020-12
 */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { didYouMean } from './nearest.ts'
import { isRecord } from './object.ts'

/** Narrows a parsed document. Fields that are null count as absent. @throws Error naming the field that is wrong */
export type Check<T> = (document: unknown) => T

/** `what` is what a document is called when it is wrong as a whole: `the audit policy`. */
export function checkerOf<T>(schema: object, what: string): Check<T> {
  const validate = new Ajv2020({ strict: true, verbose: true, allowUnionTypes: true }).compile<T>(schema)
  return document => {
    const value = withoutNulls(document)
    if (validate(value)) return value
    throw new Error(faultOf(validate.errors![0]!, what))
  }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutNulls(member)]))
}

const NAMES: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
}

function faultOf({ keyword, params, data, message, instancePath, parentSchema }: ErrorObject, what: string): string {
  const path = pathOf(instancePath)
  const place = path === '' ? what : path
  const shown = JSON.stringify(data)
  switch (keyword) {
    case 'type':
      return `${place} must be ${[params.type]
        .flat()
        .map(type => NAMES[type] ?? type)
        .join(' or ')}`
    case 'const':
      return `${place} must be ${params.allowedValue}`
    case 'enum':
      return `${place}: ${shown} is not one of ${params.allowedValues.join(', ')}`
    case 'additionalProperties':
      return `${place}: unknown field ${JSON.stringify(params.additionalProperty)}${meant(String(params.additionalProperty), parentSchema)}`
    case 'required':
      return `${place} has no ${params.missingProperty}`
    case 'minItems':
      return `${place} must not be empty`
    case 'pattern':
      return `${place}: ${shown} ${(parentSchema as { $comment?: string }).$comment ?? message}`
    default:
      return `${place} ${message}`
  }
}

/** Possible corrections: similar names, or else all that there are. */
function meant(field: string, schema: ErrorObject['parentSchema']): string {
  const known = Object.keys((schema as { properties?: object }).properties ?? {})
  return didYouMean(field, known) || `; known are ${known.join(', ')}`
}

/** `/rules/0/level` as `rules[0].level`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(step => (/^\d+$/.test(step) ? `[${step}]` : `.${step.replaceAll('~1', '/').replaceAll('~0', '~')}`))
    .join('')
    .replace(/^\./, '')
}
