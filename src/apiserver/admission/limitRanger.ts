/**
 * LimitRange: what containers get that ask for nothing, and what nobody may exceed.
 * @see https://kubernetes.io/docs/concepts/policy/limit-range/
 */
import { statusError } from '../../apimachinery/errors.ts'
import { ensure, record, records, str } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { approximateQuantity, compareQuantities, formatQuantity, type Quantity } from '../../apimachinery/quantity.ts'
import { containersOf, podAmounts } from '../../apimachinery/quota/podResources.ts'
import { type Amounts, amountsOf } from '../../apimachinery/quota/resourceList.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { setMember } from '../../apimachinery/values.ts'
import { WorkBudget } from '../../apimachinery/workBudget.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { nameOf } from './attributes.ts'
import type { ConfigurationLog } from './configurationLog.ts'

export const LIMIT_RANGES = { group: '', resource: 'limitranges' }
const ANNOTATION = 'kubernetes.io/limit-ranger'
/** Limits times containers that are judged for one object; a Pod of ten containers and twenty limits is 200. */
export const MOST_WORK = 5_000
type Fields = Record<string, unknown>

export function limitRanger(settings: ConfigurationLog, turns: Pick<WorkTurns, 'begin'>): Admission[] {
  const reaches: Admission['reaches'] = ({ space, namespace }) =>
    settings.has(space, LIMIT_RANGES) && settings.list(space, LIMIT_RANGES, namespace).length > 0
  return [
    {
      stage: 'mutate',
      handles: (type, operation, subresource) => operation === 'CREATE' && subresource === '' && isCore(type, 'pods'),
      reaches,
      async admit(request) {
        const { context, object } = request
        const budget = budgetOf(request)
        const work = turns.begin({ owner: context.space })
        for (const range of settings.list(context.space, LIMIT_RANGES, object.metadata.namespace ?? '')) {
          if (work.due) await work.rest()
          budget.spend(workOf(range, object))
          applyDefaults(range, object)
        }
      },
    },
    {
      stage: 'validate',
      handles: (type, operation, subresource) =>
        (isCore(type, 'pods') && operation === (subresource === 'resize' ? 'UPDATE' : 'CREATE')) ||
        (isCore(type, 'persistentvolumeclaims') && operation !== 'DELETE' && subresource === ''),
      reaches,
      async admit(request) {
        const { context, type, object } = request
        const budget = budgetOf(request)
        const work = turns.begin({ owner: context.space })
        const errorsOf = type.resource === 'pods' ? podJudge(object) : claimJudge(object)
        for (const range of settings.list(context.space, LIMIT_RANGES, object.metadata.namespace ?? '')) {
          if (work.due) await work.rest()
          budget.spend(workOf(range, object))
          const errors = errorsOf(range)
          if (errors.length === 0) continue
          const why = errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`
          throw statusError.forbidden(type, nameOf(request), why)
        }
      },
    },
  ]
}

function isCore({ group, resource }: ResourceType, wanted: string): boolean {
  return group === '' && resource === wanted
}

function budgetOf(request: AdmissionRequest): WorkBudget {
  const why =
    `its containers times the limits of this namespace's LimitRanges are more than ${MOST_WORK}, ` +
    'which is more than can be judged: have fewer containers, or fewer limits'
  return new WorkBudget(MOST_WORK, () => statusError.forbidden(request.type, nameOf(request), why))
}

/** Each limit is held against each container. */
function workOf(range: KubeObject, object: KubeObject): number {
  const containers = records(object, 'spec', 'containers').length + records(object, 'spec', 'initContainers').length
  const limits = records(range, 'spec', 'limits').reduce(
    (sum, item) => sum + LIMITS.reduce((all, field) => all + Object.keys(record(item, field)).length, 1),
    1,
  )
  return limits * Math.max(1, containers)
}

const LIMITS = ['default', 'defaultRequest', 'min', 'max', 'maxLimitRequestRatio']

function itemsOf(range: KubeObject, type: string): Fields[] {
  return records(range, 'spec', 'limits').filter(item => item.type === type)
}

function applyDefaults(range: KubeObject, pod: KubeObject): void {
  const limits: Fields = {}
  const requests: Fields = {}
  for (const item of itemsOf(range, 'Container')) {
    for (const [name, value] of Object.entries(record(item, 'default'))) limits[name] ??= value
    for (const [name, value] of Object.entries(record(item, 'defaultRequest'))) requests[name] ??= value
  }
  const parts: string[] = []
  for (const [field, words] of [
    ['containers', 'container'],
    ['initContainers', 'init container'],
  ] as const) {
    for (const container of records(pod, 'spec', field)) {
      const resources = ensure(container, 'resources')
      for (const [of, defaults, what] of [
        ['requests', requests, 'request'],
        ['limits', limits, 'limit'],
      ] as const) {
        const set = addMissing(resources, of, defaults)
        if (set.length > 0) parts.push(`${set.join(', ')} ${what} for ${words} ${str(container, 'name')}`)
      }
    }
  }
  if (parts.length === 0) return
  const text = `LimitRanger plugin set: ${parts.join('; ')}`
  pod.metadata.annotations ??= {}
  pod.metadata.annotations[ANNOTATION] = text
}

/** Adds to what is there: to copy that for each range would take as much as all of it squared. */
function addMissing(resources: Fields, field: string, defaults: Fields): string[] {
  const known = record(resources, field)
  const missing = Object.keys(defaults)
    .filter(name => !Object.hasOwn(known, name))
    .sort()
  if (missing.length === 0) return missing
  const amounts = ensure(resources, field)
  for (const name of missing) setMember(amounts, name, defaults[name])
  return missing
}

/** Faults of a Pod, by a range; its amounts are read once. */
function podJudge(pod: KubeObject): (range: KubeObject) => string[] {
  const containers = (['containers', 'initContainers'] as const).flatMap(field => containersOf(pod, field))
  const whole = { requests: podAmounts(pod, 'requests'), limits: podAmounts(pod, 'limits') }
  return range => {
    const errors: string[] = []
    for (const item of records(range, 'spec', 'limits')) {
      const judged = item.type === 'Container' ? containers : item.type === 'Pod' ? [whole] : []
      for (const { requests, limits } of judged) errors.push(...bounds(item, requests, limits))
    }
    return errors
  }
}

/** Claims have requests only. */
function claimJudge(claim: KubeObject): (range: KubeObject) => string[] {
  const resources = record(claim, 'spec', 'resources')
  const requests = amountsOf(isRecord(resources.requests) ? resources.requests : undefined)
  return range => {
    const errors: string[] = []
    for (const item of itemsOf(range, 'PersistentVolumeClaim')) {
      for (const [name, least] of named(item.min)) errors.push(...tooLittle(item, name, least, requests, new Map()))
      for (const [name, most] of named(item.max)) {
        const request = requests.get(name)
        const rule = `maximum ${name} usage per ${item.type} is ${formatQuantity(most)}`
        if (request === undefined) errors.push(`${rule}.  No request is specified`)
        else if (compareQuantities(request, most) > 0) errors.push(`${rule}, but request is ${formatQuantity(request)}`)
      }
    }
    return errors
  }
}

function bounds(item: Fields, requests: Amounts, limits: Amounts): string[] {
  return [
    ...named(item.min).flatMap(([name, least]) => tooLittle(item, name, least, requests, limits)),
    ...named(item.max).flatMap(([name, most]) => tooMuch(item, name, most, requests, limits)),
    ...named(item.maxLimitRequestRatio).flatMap(([name, ratio]) => tooUneven(item, name, ratio, requests, limits)),
  ]
}

/** By name, so that errors always come in the same order. */
function named(list: unknown): [string, Quantity][] {
  return [...amountsOf(list)].sort(([a], [b]) => (a < b ? -1 : 1))
}

function tooLittle(item: Fields, name: string, least: Quantity, requests: Amounts, limits: Amounts): string[] {
  const rule = `minimum ${name} usage per ${item.type} is ${formatQuantity(least)}`
  const [request, limit] = [requests.get(name), limits.get(name)]
  if (request === undefined) return [`${rule}.  No request is specified`]
  if (compareQuantities(request, least) < 0) return [`${rule}, but request is ${formatQuantity(request)}`]
  return limit && compareQuantities(limit, least) < 0 ? [`${rule}, but limit is ${formatQuantity(limit)}`] : []
}

function tooMuch(item: Fields, name: string, most: Quantity, requests: Amounts, limits: Amounts): string[] {
  const rule = `maximum ${name} usage per ${item.type} is ${formatQuantity(most)}`
  const [request, limit] = [requests.get(name), limits.get(name)]
  if (limit === undefined) return [`${rule}.  No limit is specified`]
  if (compareQuantities(limit, most) > 0) return [`${rule}, but limit is ${formatQuantity(limit)}`]
  return request && compareQuantities(request, most) > 0 ? [`${rule}, but request is ${formatQuantity(request)}`] : []
}

function tooUneven(item: Fields, name: string, ratio: Quantity, requests: Amounts, limits: Amounts): string[] {
  const rule = `${name} max limit to request ratio per ${item.type} is ${formatQuantity(ratio)}, but`
  const [request, limit] = [requests.get(name), limits.get(name)]
  if (request === undefined || request.nanos === 0n) return [`${rule} no request is specified or request is 0`]
  if (limit === undefined || limit.nanos === 0n) return [`${rule} no limit is specified or limit is 0`]
  if (limit.nanos * 1_000_000_000n <= ratio.nanos * request.nanos) return []
  return [`${rule} provided ratio is ${(approximateQuantity(limit) / approximateQuantity(request)).toFixed(6)}`]
}
