/** Validation of CustomResourceDefinitions, in upstream's words and order. */
import { type FieldError, fieldError, oneOf } from '../fieldErrors.ts'
import { list, record, records, str } from '../fields.ts'
import { dns1035Label, dns1123Subdomain } from '../nameRules.ts'
import type { KubeObject } from '../object.ts'
import type { ColumnDefinition, ScalePaths } from '../resourceType.ts'
import type { Schema } from '../schema.ts'
import type { Steps } from '../steps.ts'
import { findField } from '../structural/fieldPath.ts'
import { canonicalJson } from '../values.ts'
import { APPROVAL_ANNOTATION, approvalOf } from './conditions.ts'
import { crdBoundErrors } from './crdBounds.ts'
import { storedVersionsOf } from './defaultCrd.ts'
import { type CrdNames, type CrdVersion, readNames, readSpec } from './definition.ts'
import { validateBundleUpdate, validateConversion } from './validateConversion.ts'
import { validateSchema } from './validateSchema.ts'

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const MAX_SELECTABLE_FIELDS = 8

/** {@link validateCrdInSteps} at once. */
export function validateCrd(crd: KubeObject, old?: KubeObject): FieldError[] {
  const steps = validateCrdInSteps(crd, old)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Errors of a CRD after {@link defaultCrd}; of its metadata the name alone is judged. */
export function* validateCrdInSteps(crd: KubeObject, old?: KubeObject): Steps<FieldError[]> {
  const tooLarge = yield* crdBoundErrors(crd, old)
  if (tooLarge.length > 0) return tooLarge
  yield
  return [
    ...validateName(crd),
    ...(yield* validateSpec(crd)),
    ...validateStoredVersions(crd),
    ...validateNames(readAccepted(crd), 'status.acceptedNames'),
    ...validateApproval(crd),
  ]
}

/** Errors of the change of a CRD alone: {@link validateCrd} judges the new state. */
export function validateCrdUpdate(crd: KubeObject, old: KubeObject): FieldError[] {
  const spec = readSpec(crd)
  const before = readSpec(old)
  const errors: FieldError[] = []
  const immutable = (field: string, value: string, oldValue: string) => {
    if (value !== oldValue) errors.push(fieldError.invalid(field, value, 'field is immutable'))
  }
  const isEstablished = records(old.status, 'conditions').some(
    condition => condition.type === 'Established' && condition.status === 'True',
  )
  if (isEstablished) {
    immutable('spec.scope', spec.scope, before.scope)
    immutable('spec.names.kind', spec.names.kind, before.names.kind)
    errors.push(...validateBundleUpdate(record(crd.spec).conversion, record(old.spec).conversion))
  }
  immutable('spec.group', spec.group, before.group)
  immutable('spec.names.plural', spec.names.plural, before.names.plural)
  return errors
}

/** Errors of an update of `/status`: who migrates stored objects takes versions off the list. */
export function validateCrdStatusUpdate(crd: KubeObject): FieldError[] {
  return validateStoredVersions(crd)
}

/** A version that objects may be stored in has to stay; the server itself records the storage version. */
function validateStoredVersions(crd: KubeObject): FieldError[] {
  const { versions } = readSpec(crd)
  const at = 'status.storedVersions'
  const stored =
    crd.status === undefined ? storedVersionsOf(crd) : list(record(crd.status).storedVersions).map(value => str(value))
  if (stored.length === 0) return [fieldError.invalid(at, undefined, 'must have at least one stored version')]
  const errors: FieldError[] = []
  for (const version of versions) {
    if (!version.storage || stored.includes(version.name)) continue
    errors.push(fieldError.invalid(at, stored, `must have the storage version ${version.name}`))
  }
  for (const [index, name] of stored.entries()) {
    if (versions.some(version => version.name === name)) continue
    errors.push(
      fieldError.invalid(
        `${at}[${index}]`,
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a ` +
          `storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    )
  }
  return errors
}

/** Rules for the name alone; the rest of metadata is judged as that of all objects. */
function validateName(crd: KubeObject): FieldError[] {
  const { group, names } = readSpec(crd)
  const { name = '' } = crd.metadata
  if (name === '' || name === `${names.plural}.${group}`) return []
  return [fieldError.invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
}

function readAccepted(crd: KubeObject): CrdNames {
  return readNames(record(crd.status).acceptedNames)
}

function* validateSpec(crd: KubeObject): Steps<FieldError[]> {
  const spec = readSpec(crd)
  const raw = record(crd.spec)
  const versions = sharedParts(spec.versions)
  const errors: FieldError[] = [...validateGroup(spec.group)]
  errors.push(...oneOf(spec.scope, 'spec.scope', ['Cluster', 'Namespaced']))
  for (const [index, version] of spec.versions.entries()) {
    if (version.schema !== undefined) continue
    errors.push(fieldError.required(`spec.versions[${index}].schema.openAPIV3Schema`))
  }
  for (const [index, version] of spec.versions.entries()) {
    const at = `spec.versions[${index}]`
    const nameErrors = dns1035Label(version.name)
    if (nameErrors.length > 0) errors.push(fieldError.invalid(`${at}.name`, version.name, nameErrors.join(',')))
    errors.push(...validateDeprecation(version, `${at}.deprecationWarning`))
    errors.push(...(yield* validateVersionParts(version, at, 'schema', part => !versions.has(part))))
  }
  const names = spec.versions.map(version => version.name)
  const large = (detail: string) => ({
    ...fieldError.invalid('spec.versions', raw.versions, detail),
    omitValue: names.length > 0,
  })
  if (new Set(names).size < names.length) errors.push(large('must contain unique version names'))
  if (spec.versions.filter(version => version.storage).length !== 1) {
    errors.push(large('must have exactly one version marked as storage version'))
  }
  // upstream keeps the name of the first version as the version of the whole
  const firstNameErrors = spec.versions[0]?.name ? dns1035Label(spec.versions[0].name) : []
  if (firstNameErrors.length > 0) {
    errors.push(fieldError.invalid('spec.version', spec.versions[0]?.name, firstNameErrors.join(',')))
  }
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (spec.names[field] === '') errors.push(fieldError.required(`spec.names.${field}`))
  }
  errors.push(...validateNames(spec.names, 'spec.names'))
  const first = spec.versions[0]
  if (first !== undefined)
    errors.push(...(yield* validateVersionParts(first, 'spec', 'validation', part => versions.has(part))))
  if (raw.preserveUnknownFields === true) {
    errors.push(
      fieldError.invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  }
  errors.push(...validateConversion(raw.conversion))
  return errors
}

/** Whether all versions have the same schema. */
export function sharesSchema(crd: KubeObject): boolean {
  return sharedParts(readSpec(crd).versions).has('schema')
}

type Part = 'schema' | 'subresources' | 'columns' | 'selectableFields'

/** Parts that are the same in all versions: upstream reads them as one part of the spec, and so do its error paths. */
function sharedParts(versions: readonly CrdVersion[]): Set<Part> {
  const parts: [Part, (version: CrdVersion) => unknown][] = [
    ['schema', version => version.schema],
    ['subresources', version => (version.hasStatus || version.scale ? [version.hasStatus, version.scale] : undefined)],
    ['columns', version => (version.columns.length > 0 ? version.columns : undefined)],
    ['selectableFields', version => (version.selectableFields.length > 0 ? version.selectableFields : undefined)],
  ]
  const same = parts.filter(([, read]) => {
    const [first, ...rest] = versions.map(version => read(version))
    return first !== undefined && rest.every(other => canonicalJson(other) === canonicalJson(first))
  })
  return new Set(same.map(([part]) => part))
}

function* validateVersionParts(
  version: CrdVersion,
  at: string,
  schemaField: string,
  concerns: (part: Part) => boolean,
): Steps<FieldError[]> {
  const errors: FieldError[] = []
  if (concerns('schema') && version.schema !== undefined) {
    errors.push(...(yield* validateSchema(version.schema, `${at}.${schemaField}.openAPIV3Schema`, version.hasStatus)))
  }
  if (concerns('subresources') && version.scale) errors.push(...validateScale(version.scale, `${at}.subresources`))
  if (concerns('columns')) {
    for (const [index, column] of version.columns.entries()) {
      errors.push(...validateColumn(column, `${at}.additionalPrinterColumns[${index}]`))
    }
  }
  if (concerns('selectableFields')) {
    errors.push(...validateSelectableFields(version.selectableFields, version.schema, `${at}.selectableFields`))
  }
  return errors
}

function validateGroup(group: string): FieldError[] {
  if (group === '') return [fieldError.required('spec.group')]
  const shapeErrors = dns1123Subdomain(group)
  if (shapeErrors.length > 0) return [fieldError.invalid('spec.group', group, shapeErrors.join(','))]
  return group.includes('.')
    ? []
    : [fieldError.invalid('spec.group', group, 'should be a domain with at least one dot')]
}

function validateNames(names: CrdNames, at: string): FieldError[] {
  const errors: FieldError[] = []
  const label = (field: string, value: string, checked = value, prefix = '') => {
    const shapeErrors = dns1035Label(checked)
    if (shapeErrors.length > 0) {
      errors.push(fieldError.invalid(`${at}.${field}`, value, prefix + shapeErrors.join(',')))
    }
  }
  const mixedCase = 'may have mixed case, but should otherwise match: '
  if (names.plural !== '') label('plural', names.plural)
  if (names.singular !== '') label('singular', names.singular)
  if (names.kind !== '') label('kind', names.kind, names.kind.toLowerCase(), mixedCase)
  if (names.listKind !== '') label('listKind', names.listKind, names.listKind.toLowerCase(), mixedCase)
  for (const [index, name] of names.shortNames.entries()) label(`shortNames[${index}]`, name)
  if (names.kind !== '' && names.kind === names.listKind) {
    errors.push(fieldError.invalid(`${at}.listKind`, names.listKind, 'kind and listKind may not be the same'))
  }
  for (const [index, name] of names.categories.entries()) label(`categories[${index}]`, name)
  return errors
}

function validateDeprecation({ deprecated, deprecationWarning }: CrdVersion, field: string): FieldError[] {
  if (deprecationWarning === undefined) return []
  const invalid = (why: string) => [fieldError.invalid(field, deprecationWarning, why)]
  if (!deprecated) return invalid('can only be set for deprecated versions')
  if (deprecationWarning === '') return invalid('must not be an empty string')
  return Buffer.byteLength(deprecationWarning) > 256 ? invalid('must be <= 256 characters long') : []
}

function validateScale(scale: Partial<ScalePaths>, at: string): FieldError[] {
  const errors: FieldError[] = []
  const check = (name: keyof ScalePaths, below: string) => {
    const field = `${at}.scale.${name}`
    const path = str(scale[name])
    const shapeErrors = simplePath(path, field)
    if (shapeErrors.length > 0) errors.push(...shapeErrors)
    else if (!path.startsWith(`${below}.`)) {
      errors.push(fieldError.invalid(field, path, `should be a json path under ${below}`))
    }
  }
  if (str(scale.specReplicasPath) === '') errors.push(fieldError.required(`${at}.scale.specReplicasPath`))
  else check('specReplicasPath', '.spec')
  if (str(scale.statusReplicasPath) === '') errors.push(fieldError.required(`${at}.scale.statusReplicasPath`))
  else check('statusReplicasPath', '.status')
  const selector = str(scale.labelSelectorPath)
  if (selector !== '') {
    const field = `${at}.scale.labelSelectorPath`
    const shapeErrors = simplePath(selector, field)
    if (shapeErrors.length > 0) errors.push(...shapeErrors)
    else if (!selector.startsWith('.status.') && !selector.startsWith('.spec.')) {
      errors.push(fieldError.invalid(field, selector, 'should be a json path under either .spec or .status'))
    }
  }
  return errors
}

function simplePath(path: string, field: string): FieldError[] {
  return path.startsWith('.') ? [] : [fieldError.invalid(field, path, 'must be a simple json path starting with .')]
}

function validateColumn(column: Partial<ColumnDefinition>, at: string): FieldError[] {
  const errors: FieldError[] = []
  const types = `must be one of ${COLUMN_TYPES.join(',')}`
  if (!column.name) errors.push(fieldError.required(`${at}.name`))
  if (!column.type) errors.push(fieldError.required(`${at}.type`, types))
  else if (!COLUMN_TYPES.includes(column.type)) errors.push(fieldError.invalid(`${at}.type`, column.type, types))
  if (column.format && !COLUMN_FORMATS.includes(column.format)) {
    errors.push(fieldError.invalid(`${at}.format`, column.format, `must be one of ${COLUMN_FORMATS.join(',')}`))
  }
  if (!column.jsonPath) errors.push(fieldError.required(`${at}.JSONPath`))
  else errors.push(...simplePath(column.jsonPath, `${at}.JSONPath`))
  return errors
}

function validateSelectableFields(paths: readonly string[], schema: Schema | undefined, at: string): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, path] of paths.entries()) {
    const field = `${at}[${index}].jsonPath`
    if (path === '') {
      errors.push(fieldError.required(field))
      continue
    }
    const found = findField(schema ?? {}, path, { brackets: false })
    if (typeof found === 'string') {
      errors.push(fieldError.invalid(field, path, `is an invalid path: ${found}`))
      continue
    }
    if (found.names[0] === 'metadata') {
      errors.push(fieldError.invalid(field, path, 'must not point to fields in metadata'))
    }
    if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? '')) {
      errors.push(
        fieldError.invalid(
          field,
          path,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      )
    }
    if (seen.has(path)) errors.push(fieldError.duplicate(field, path))
    seen.add(path)
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(fieldError.tooMany(at, seen.size, MAX_SELECTABLE_FIELDS))
  return errors
}

/** Groups of the Kubernetes project are protected. */
function validateApproval(crd: KubeObject): FieldError[] {
  const approval = approvalOf(crd)
  const field = `metadata.annotations[${APPROVAL_ANNOTATION}]`
  if (approval?.state === 'missing') return [fieldError.required(field, approval.message)]
  if (approval?.state !== 'invalid') return []
  return [fieldError.invalid(field, crd.metadata.annotations?.[APPROVAL_ANNOTATION], approval.message)]
}
