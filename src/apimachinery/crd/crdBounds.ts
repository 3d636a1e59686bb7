/**
 * How large a CustomResourceDefinition may be, judged before anything is made of it. Upstream bounds nothing but its bytes; but
 * whatever is made of a definition (checks, columns, published schemas) is made while nobody else is served. The largest that
 * are known, with a megabyte of schemas, have some fifteen thousand schemas, some hundred rules, and go thirty levels deep.
 */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import { list, record, str } from '../fields.ts'
import { isRecord, type KubeObject } from '../object.ts'
import type { Steps } from '../steps.ts'
import { isTooLong, patternSize } from '../structural/userPatterns.ts'
import { equalJson } from '../values.ts'

/** Bounds on one definition, all its versions together by default. */
export const CRD_LIMITS = {
  versions: 100,
  /** Bound on each kind of names. */
  names: 100,
  /** Bound on a version. */
  printerColumns: 200,
  selectableFields: 200,
  /** Properties, items, branches of anyOf, oneOf, allOf and not. */
  schemas: 50_000,
  schemaDepth: 100,
  /** Values of enums, names in `required`, keys of lists. */
  values: 200_000,
  listMapKeys: 100,
  rules: 2000,
  ruleCharacters: 128 * 1024,
  /** Characters and classes of all different patterns, with their repetitions written out. */
  patternParts: 64 * 1024,
  /** Characters of all defaults as JSON; one inside another counts twice. */
  defaultCharacters: 1024 * 1024,
} as const

/** Schemas that are counted in one step. */
const STEP = 1024

/** Empty for a definition whose spec is as it was: it may have been stored when there were no bounds. In steps. */
export function* crdBoundErrors(crd: KubeObject, old: KubeObject | undefined): Steps<FieldError[]> {
  if (old !== undefined && equalJson(crd.spec, old.spec)) return []
  const spec = record(crd.spec)
  const errors: FieldError[] = []
  const count = (field: string, values: unknown, limit: number): void => {
    const { length } = list(values)
    if (length > limit) errors.push(fieldError.tooMany(field, length, limit))
  }
  count('spec.versions', spec.versions, CRD_LIMITS.versions)
  count('spec.names.shortNames', record(spec.names).shortNames, CRD_LIMITS.names)
  count('spec.names.categories', record(spec.names).categories, CRD_LIMITS.names)
  for (const [i, version] of list(spec.versions).slice(0, CRD_LIMITS.versions).entries()) {
    const { additionalPrinterColumns: columns, selectableFields } = record(version)
    count(`spec.versions[${i}].additionalPrinterColumns`, columns, CRD_LIMITS.printerColumns)
    count(`spec.versions[${i}].selectableFields`, selectableFields, CRD_LIMITS.selectableFields)
  }
  return errors.length > 0 ? errors : yield* schemaErrors(list(spec.versions))
}

interface Place {
  schema: Record<string, unknown>
  /** The place above, for the path, which is worded only for a message. */
  above: Place | undefined
  step: string
  depth: number
}

function* schemaErrors(versions: readonly unknown[]): Steps<FieldError[]> {
  const counts = new Counts()
  let looked = 0
  for (const [i, version] of versions.entries()) {
    const root = record(record(version).schema).openAPIV3Schema
    if (!isRecord(root)) continue
    const open: Place[] = [
      { schema: root, above: undefined, step: `spec.versions[${i}].schema.openAPIV3Schema`, depth: 1 },
    ]
    // a stack of our own: what is too deep must not end the one of the program
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const error = counts.add(place)
      if (error !== undefined) return [error]
      for (const child of below(place)) open.push(child)
      if (++looked % STEP === 0) yield
    }
  }
  return []
}

class Counts {
  #schemas = 0
  #values = 0
  #rules = 0
  #ruleCharacters = 0
  #patternParts = 0
  #defaultCharacters = 0
  readonly #patterns = new Set<string>()

  /** Bound that this schema exceeds. */
  add(place: Place): FieldError | undefined {
    const { schema, depth } = place
    const { schemas, schemaDepth, values, listMapKeys, rules, ruleCharacters } = CRD_LIMITS
    if (depth > schemaDepth) return tooLarge(place, '', `schemas may stand ${schemaDepth} levels deep at most`)
    if (++this.#schemas > schemas) return tooLarge(place, '', `a definition may have ${schemas} schemas at most`)
    const keys = list(schema['x-kubernetes-list-map-keys']).length
    if (keys > listMapKeys) return fieldError.tooMany(`${fieldOf(place)}.x-kubernetes-list-map-keys`, keys, listMapKeys)
    this.#values += list(schema.enum).length + list(schema.required).length + keys
    if (this.#values > values) {
      return tooLarge(place, '', `a definition may have ${values} values of enums and required names at most`)
    }
    for (const rule of list(schema['x-kubernetes-validations'])) {
      this.#rules++
      this.#ruleCharacters += str(rule, 'rule').length + str(rule, 'messageExpression').length
    }
    if (this.#rules > rules || this.#ruleCharacters > ruleCharacters) {
      const why = `a definition may have ${rules} rules of ${ruleCharacters} characters together at most`
      return tooLarge(place, '.x-kubernetes-validations', why)
    }
    return this.#addPattern(place) ?? this.#addDefault(place)
  }

  #addPattern(place: Place): FieldError | undefined {
    const { pattern } = place.schema
    if (typeof pattern !== 'string' || this.#patterns.has(pattern)) return undefined
    this.#patterns.add(pattern)
    // its compilation reports it
    if (isTooLong(pattern)) return undefined
    this.#patternParts += patternSize(pattern)
    const most = CRD_LIMITS.patternParts
    if (this.#patternParts <= most) return undefined
    const why = `the patterns of a definition may have ${most} parts at most, with their repetitions written out`
    return tooLarge(place, '.pattern', why)
  }

  #addDefault(place: Place): FieldError | undefined {
    if (place.schema.default === undefined) return undefined
    this.#defaultCharacters += JSON.stringify(place.schema.default).length
    const most = CRD_LIMITS.defaultCharacters
    if (this.#defaultCharacters <= most) return undefined
    return tooLarge(place, '.default', `the defaults of a definition may have ${most} characters at most`)
  }
}

function tooLarge(place: Place, member: string, why: string): FieldError {
  return fieldError.forbidden(`${fieldOf(place)}${member}`, why)
}

function fieldOf(place: Place): string {
  const steps: string[] = []
  for (let at: Place | undefined = place; at !== undefined; at = at.above) steps.push(at.step)
  return steps.toReversed().join('')
}

function below(place: Place): Place[] {
  const { schema } = place
  const found: Place[] = []
  const add = (child: unknown, step: string): void => {
    if (isRecord(child)) found.push({ schema: child, above: place, step, depth: place.depth + 1 })
  }
  for (const keyword of ['items', 'additionalProperties', 'not']) add(schema[keyword], `.${keyword}`)
  for (const [name, child] of Object.entries(record(schema.properties))) add(child, `.properties[${name}]`)
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    for (const [i, child] of list(schema[keyword]).entries()) add(child, `.${keyword}[${i}]`)
  }
  return found
}
