/** LimitRanges and ResourceQuotas. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, record, records, setDefaults, str, strings } from '../../apimachinery/fields.ts'
import { qualifiedName } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { approximateQuantity } from '../../apimachinery/quantity.ts'
import { canonicalQuantities, exceeds, invalidBy, repeats } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import {
  containerResourceName,
  isQuotaResource,
  overcommits,
  parsed,
  quotaResourceName,
  resourceList,
  resourceName,
} from '../pods/resources.ts'
import { when } from '../shapes.ts'
import type { Strategy } from '../strategy.ts'

const limitRanges: Strategy = {
  noGeneration: true,
  applyDefaults(object) {
    for (const item of records(object, 'spec', 'limits')) {
      for (const field of LIMIT_FIELDS) canonicalQuantities(item[field])
      if (item.type !== 'Container') continue
      const defaults = ensure(item, 'default')
      setDefaults(defaults, record(item, 'max'))
      const requests = ensure(item, 'defaultRequest')
      setDefaults(requests, defaults)
      setDefaults(requests, record(item, 'min'))
      for (const field of ['default', 'defaultRequest'])
        if (Object.keys(record(item, field)).length === 0) delete item[field]
    }
  },
  validate(object) {
    const limits = records(object, 'spec', 'limits')
    const again = repeats(limits.map(item => str(item, 'type')))
    return limits.flatMap((item, i) => {
      const path = `spec.limits[${i}]`
      const type = str(item, 'type')
      return [
        ...limitType(type, `${path}.type`),
        ...when(again[i]!, () => fieldError.duplicate(`${path}.type`, type)),
        ...limitNames(item, type, path),
        ...limitOrder(item, path),
      ]
    })
  },
}
const LIMIT_FIELDS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio']

/** Bound on the names in one quota: each costs a little of every write in the namespace, and of every look at the quota. */
export const MAX_NAMES = 1000

function tooManyNames(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const namesOf = (quota: KubeObject | undefined): number => Object.keys(record(quota, 'spec', 'hard')).length
  const count = namesOf(object)
  return when(count > MAX_NAMES && count > namesOf(old), () => fieldError.tooMany('spec.hard', count, MAX_NAMES))
}

const resourceQuotas = withStatus({
  noGeneration: true,
  applyDefaults(object) {
    canonicalQuantities(record(object, 'spec').hard)
    for (const list of ['hard', 'used']) canonicalQuantities(record(object, 'status')[list])
  },
  validate: (object, old) => [
    ...tooManyNames(object, old),
    ...resourceList(record(object, 'spec').hard, 'spec.hard', quotaResourceName),
    ...scopeErrors(record(object, 'spec')),
  ],
  validateUpdate(object, old) {
    const [now, before] = [object, old].map(quota => new Set(strings(quota, 'spec', 'scopes')))
    if (now!.symmetricDifference(before!).size === 0) return []
    return [fieldError.invalid('spec.scopes', record(object, 'spec').scopes ?? null, 'field is immutable')]
  },
  validateStatusUpdate: object =>
    ['hard', 'used'].flatMap(list => resourceList(record(object, 'status')[list], `status.${list}`, quotaResourceName)),
})

export const quotaStrategies: Strategies = { '/limitranges': limitRanges, '/resourcequotas': resourceQuotas }

const LIMIT_TYPES = ['Container', 'PersistentVolumeClaim', 'Pod']

function limitType(type: string, field: string): FieldError[] {
  const errors = invalidBy(qualifiedName, type, field)
  if (errors.length > 0 || type.includes('/') || LIMIT_TYPES.includes(type)) return errors
  return [fieldError.invalid(field, type, 'must be a standard limit type or fully qualified')]
}

function limitNames(item: Fields, type: string, path: string): FieldError[] {
  const rule = type === 'Pod' || type === 'Container' ? containerResourceName : resourceName
  const names = (list: string): FieldError[] =>
    Object.keys(record(item, list)).flatMap(name => rule(name, `${path}.${list}[${name}]`))
  const errors = [...names('max'), ...names('min')]
  for (const list of ['default', 'defaultRequest']) {
    if (type !== 'Pod') errors.push(...names(list))
    else if (Object.keys(record(item, list)).length > 0) {
      errors.push(fieldError.forbidden(`${path}.${list}`, "may not be specified when `type` is 'Pod'"))
    }
  }
  if (type === 'PersistentVolumeClaim' && !has(item, 'min', 'storage') && !has(item, 'max', 'storage')) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided'
    errors.push(fieldError.required(`${path}.limits`, detail))
  }
  return [...errors, ...names('maxLimitRequestRatio')]
}

/** How the amounts of each resource go together. */
function limitOrder(item: Fields, path: string): FieldError[] {
  const lists = item.type === 'Pod' ? ['min', 'max', 'maxLimitRequestRatio'] : LIMIT_FIELDS
  const names = new Set(lists.flatMap(list => Object.keys(record(item, list))))
  return [...names].flatMap(name => {
    const amount = (list: string): unknown => (lists.includes(list) ? record(item, list)[name] : undefined)
    const [min, max, limit, request] = [amount('min'), amount('max'), amount('default'), amount('defaultRequest')]
    const errors: FieldError[] = []
    const below = (low: unknown, high: unknown, at: string, shown: unknown, words: string): void => {
      if (low === undefined || high === undefined || !exceeds(low, high)) return
      const detail = words.replace('%l', String(low)).replace('%h', String(high))
      errors.push(fieldError.invalid(`${path}.${at}[${name}]`, shown, detail))
    }
    below(min, max, 'min', min, 'min value %l is greater than max value %h')
    below(min, request, 'defaultRequest', request, 'min value %l is greater than default request value %h')
    below(request, max, 'defaultRequest', request, 'default request value %l is greater than max value %h')
    below(request, limit, 'defaultRequest', request, 'default request value %l is greater than default limit value %h')
    below(min, limit, 'default', min, 'min value %l is greater than default value %h')
    below(limit, max, 'default', max, 'default value %l is greater than max value %h')
    errors.push(...ratioErrors(amount('maxLimitRequestRatio'), min, max, `${path}.maxLimitRequestRatio[${name}]`))
    if (!overcommits(name) && limit !== undefined && request !== undefined && differ(limit, request)) {
      const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`
      errors.push(fieldError.invalid(`${path}.defaultRequest[${name}]`, request, detail))
    }
    return errors
  })
}

const differ = (a: unknown, b: unknown): boolean => exceeds(a, b) || exceeds(b, a)

function ratioErrors(ratio: unknown, min: unknown, max: unknown, field: string): FieldError[] {
  const parts = [ratio, min, max].map(amount => (amount === undefined ? undefined : parsed(amount)))
  const [of, low, high] = parts.map(part => (part === undefined ? undefined : approximateQuantity(part)))
  if (of === undefined) return []
  const errors = of < 1 ? [fieldError.invalid(field, ratio, `ratio ${ratio} is less than 1`)] : []
  if (low === undefined || high === undefined || of <= high / low) return errors
  const detail = `ratio ${ratio} is greater than max/min = ${(high / low).toFixed(6)}`
  return [...errors, fieldError.invalid(field, ratio, detail)]
}

const PODS_ONLY = ['cpu', 'memory', 'pods']
const POD_COUNTS = ['requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']
/** Countable resources of the objects in a scope. */
const SCOPED: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
  BestEffort: new Set(['pods']),
  ...Object.fromEntries(
    ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'].map(scope => [
      scope,
      new Set([...PODS_ONLY, ...POD_COUNTS]),
    ]),
  ),
  VolumeAttributesClass: new Set(['persistentvolumeclaims', 'requests.storage']),
}
const EXCLUSIVE = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

function scopeErrors(spec: Fields): FieldError[] {
  const scopes = strings(spec, 'scopes')
  const hard = Object.keys(record(spec, 'hard')).filter(isQuotaResource).sort()
  const misplaced = (scope: string): string[] =>
    Object.hasOwn(SCOPED, scope) ? hard.filter(name => !SCOPED[scope]!.has(name)) : []
  const conflicts = (names: readonly string[], field: string): FieldError[] =>
    EXCLUSIVE.filter(pair => pair.every(scope => names.includes(scope))).map(() =>
      fieldError.invalid(field, spec.scopes ?? null, 'conflicting scopes'),
    )
  const errors = scopes.flatMap(scope => [
    ...(Object.hasOwn(SCOPED, scope) ? [] : [fieldError.invalid('spec.scopes', scopes, 'unsupported scope')]),
    ...misplaced(scope).map(() => fieldError.invalid('spec.scopes', scopes, 'unsupported scope applied to resource')),
  ])
  errors.push(...conflicts(scopes, 'spec.scopes'))
  // reported without indexes, as upstream does
  const path = 'spec.scopeSelector.matchExpressions'
  const expressions = records(spec, 'scopeSelector', 'matchExpressions')
  for (const expression of expressions) {
    const [scope, operator] = [str(expression, 'scopeName'), str(expression, 'operator')]
    if (!Object.hasOwn(SCOPED, scope)) errors.push(fieldError.invalid(`${path}.scopeName`, scope, 'unsupported scope'))
    const detail = 'unsupported scope applied to resource'
    errors.push(...misplaced(scope).map(() => fieldError.invalid(path, spec.scopeSelector, detail)))
    errors.push(...operatorErrors(scope, operator, strings(expression, 'values'), path))
  }
  return [
    ...errors,
    ...conflicts(
      expressions.map(expression => str(expression, 'scopeName')),
      path,
    ),
  ]
}

const EXISTING = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']

function operatorErrors(scope: string, operator: string, values: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = []
  if (EXISTING.includes(scope) && operator !== 'Exists') {
    const detail =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
    errors.push(fieldError.invalid(`${path}.operator`, operator, detail))
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return errors
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    return [...errors, fieldError.required(`${path}.values`, detail)]
  }
  if (operator !== 'Exists' && operator !== 'DoesNotExist') {
    return [...errors, fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator')]
  }
  if (values.length === 0) return errors
  const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
  return [...errors, fieldError.invalid(`${path}.values`, values, detail)]
}
