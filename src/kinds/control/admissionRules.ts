/**
 * Common parts of webhook configurations and admission policies: their requests and their match conditions. Whether expressions compile is
 * `admission/expressionCheck.ts`'s concern.
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, record, records, setDefault, str, strings } from '../../apimachinery/fields.ts'
import { pathSegment, qualifiedName } from '../../apimachinery/names.ts'
import { invalidBy, optionalSelector, repeated, repeats, requiredName } from '../checks.ts'
import { atMost, choice, when } from '../shapes.ts'

export const FAILURE_POLICIES = ['Fail', 'Ignore']
export const MATCH_POLICIES = ['Equivalent', 'Exact']
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']
const MOST_CONDITIONS = 64

export function defaultMatch(match: Fields): void {
  ensure(match, 'namespaceSelector')
  ensure(match, 'objectSelector')
  setDefault(match, 'matchPolicy', 'Equivalent')
  for (const field of ['resourceRules', 'excludeResourceRules']) {
    for (const rule of records(match, field)) setDefault(rule, 'scope', '*')
  }
}

/** `matchConstraints` of a policy, `matchResources` of a binding. */
export function validateMatch(match: unknown, path: string): FieldError[] {
  const rules = (field: string): FieldError[] =>
    records(match, field).flatMap((rule, i) => {
      const at = `${path}.${field}[${i}]`
      const names = strings(rule, 'resourceNames')
      return [
        ...names.flatMap((name, j) => invalidBy(pathSegment, name, `${at}.resourceNames[${j}]`)),
        ...repeated(names, j => `${at}.resourceNames[${j}]`),
        ...validateRule(rule, at),
      ]
    })
  return [
    ...choice(match, 'matchPolicy', `${path}.matchPolicy`, MATCH_POLICIES),
    ...optionalSelector(record(match, 'namespaceSelector'), `${path}.namespaceSelector`),
    ...optionalSelector(record(match, 'objectSelector'), `${path}.objectSelector`),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  ]
}

export function validateRule(rule: Fields, path: string): FieldError[] {
  const operations = strings(rule, 'operations')
  const versions = strings(rule, 'apiVersions')
  return [
    ...someOrAll(operations, `${path}.operations`, 'operations'),
    ...operations.flatMap((operation, i) =>
      when(!OPERATIONS.includes(operation), () =>
        fieldError.notSupported(`${path}.operations[${i}]`, operation, OPERATIONS),
      ),
    ),
    ...someOrAll(strings(rule, 'apiGroups'), `${path}.apiGroups`, 'API groups'),
    ...someOrAll(versions, `${path}.apiVersions`, 'API versions'),
    ...versions.flatMap((version, i) => when(version === '', () => fieldError.required(`${path}.apiVersions[${i}]`))),
    ...validateResources(strings(rule, 'resources'), `${path}.resources`),
    ...choice(rule, 'scope', `${path}.scope`, SCOPES),
  ]
}

function someOrAll(values: readonly string[], field: string, what: string): FieldError[] {
  return [
    ...when(values.length === 0, () => fieldError.required(field)),
    ...when(values.length > 1 && values.includes('*'), () =>
      fieldError.invalid(field, values, `if '*' is present, must not specify other ${what}`),
    ),
  ]
}

// pods, pods/status, pods/*, */status, *, */*: a wildcard excludes entries that it covers
function validateResources(resources: readonly string[], field: string): FieldError[] {
  const errors = when(resources.length === 0, () => fieldError.required(field))
  const allOf = new Set<string>()
  const ofAll = new Set<string>()
  for (const [i, resource] of resources.entries()) {
    if (resource === '') errors.push(fieldError.required(`${field}[${i}]`))
    const slash = resource.indexOf('/')
    if (slash < 0) continue
    const [name, sub] = [resource.slice(0, slash), resource.slice(slash + 1)]
    const covered = (by: string): void => {
      const detail = `if '${by}' is present, must not specify ${resource}`
      errors.push(fieldError.invalid(`${field}[${i}]`, resource, detail))
    }
    if (allOf.has(name)) covered(`${name}/*`)
    if (ofAll.has(sub)) covered(`*/${sub}`)
    if (sub === '*') allOf.add(name)
    if (name === '*') ofAll.add(sub)
  }
  const invalid = (detail: string) => fieldError.invalid(field, resources, detail)
  const plain = resources.filter(resource => resource !== '' && !resource.includes('/')).at(-1)
  return [
    ...errors,
    ...when(resources.length > 1 && resources.includes('*/*'), () =>
      invalid("if '*/*' is present, must not specify other resources"),
    ),
    ...when(resources.includes('*') && plain !== undefined && plain !== '*', () =>
      invalid("if '*' is present, must not specify other resources without subresources"),
    ),
  ]
}

export function validateConditions(holder: Fields, path: string): FieldError[] {
  const conditions = records(holder, 'matchConditions')
  const field = `${path}.matchConditions`
  const again = repeats(conditions.map(({ name }) => name))
  return [
    ...atMost(conditions, MOST_CONDITIONS, field),
    ...conditions.flatMap((condition, i) => {
      const name = str(condition, 'name')
      return [
        ...when(str(condition, 'expression').trim() === '', () => fieldError.required(`${field}[${i}].expression`)),
        ...requiredName(name, `${field}[${i}].name`, qualifiedName),
        ...when(name !== '' && again[i]!, () => fieldError.duplicate(`${field}[${i}].name`, name)),
      ]
    }),
  ]
}

export const isSet = (object: Fields, field: string): boolean => has(object, field) && str(object, field) !== ''
