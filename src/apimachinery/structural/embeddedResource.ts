/** Rules for every embedded resource (`x-kubernetes-embedded-resource`), beside its own schema. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import { unmarshalError } from '../go/goJson.ts'
import { typeErrors } from '../go/typeErrors.ts'
import { dns1035Label } from '../nameRules.ts'
import { isRecord, type ObjectMeta, parseApiVersion } from '../object.ts'
import { validateObjectMeta } from '../objectMeta.ts'
import { canonicalJson } from '../values.ts'
import { objectMetaSchema } from './objectMetaSchema.ts'
import { trailText } from './trail.ts'

/** Errors of `apiVersion`, `kind` and `metadata`, in upstream's words and order. */
export function embeddedErrors(value: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  const { apiVersion, kind, metadata } = value
  const errors: FieldError[] = []
  const text = (name: string, given: unknown, check: (text: string) => string | undefined): void => {
    const field = trailText([name], path)
    if (given === undefined) errors.push(fieldError.required(field))
    else if (given === '') errors.push(fieldError.invalid(field, given, 'must not be empty'))
    else if (typeof given !== 'string') errors.push(fieldError.invalid(field, given, 'must be a string'))
    else {
      const why = check(given)
      if (why !== undefined) errors.push(fieldError.invalid(field, given, why))
    }
  }
  text('apiVersion', apiVersion, given =>
    parseApiVersion(given) === undefined ? `unexpected GroupVersion string: ${given}` : undefined,
  )
  text('kind', kind, given => {
    const shape = dns1035Label(given.toLowerCase())
    return shape.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${shape.join(',')}`
  })
  if (metadata !== undefined) errors.push(...metadataErrors(metadata, path))
  return errors
}

function metadataErrors(metadata: unknown, path: string): FieldError[] {
  if (!isRecord(metadata)) {
    const why = unmarshalError(metadata, 'value of type v1.ObjectMeta')
    return [fieldError.invalid(trailText(['metadata'], path), metadata, why)]
  }
  const wrong = typeErrors(metadata, objectMetaSchema)
  if (wrong !== undefined) {
    return [fieldError.invalid(trailText(['metadata'], path), JSON.parse(canonicalJson(metadata)), wrong)]
  }
  // an embedded resource may still get its name and its namespace; nobody goes through its lists, which have no limits
  const meta = { ...metadata, name: metadata.name || 'unnamed' } as ObjectMeta
  const rules = { namespaced: Boolean(meta.namespace), nameRule: 'pathSegment' as const, before: meta }
  return validateObjectMeta(meta, rules).map(error => ({
    ...error,
    field: path === '' ? error.field : `${path}.${error.field}`,
  }))
}
