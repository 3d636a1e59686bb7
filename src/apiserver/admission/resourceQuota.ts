/**
 * ResourceQuota: a request that adds to what a namespace uses is charged to its quotas before it is stored, in the store's own
 * order, so that two requests can never both take the last place. What comes free again the quota controller notices.
 * @see https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
import { statusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { compareQuantities } from '../../apimachinery/quantity.ts'
import { containersOf } from '../../apimachinery/quota/podResources.ts'
import {
  type Amounts,
  addAmounts,
  amountsOf,
  amountsText,
  amountsToJson,
  only,
  subtractAmounts,
  ZERO,
} from '../../apimachinery/quota/resourceList.ts'
import { countsFor, inScope, measureUsage, usageOf } from '../../apimachinery/quota/usage.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Store } from '../../storage/store.ts'
import { accepted } from '../registry/accepted.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { decodeObject, encodeObject, type ParsedCache } from '../registry/codec.ts'
import { storageGroup } from '../registry/convert.ts'
import { keyOf } from '../registry/keys.ts'
import { nameOf } from './attributes.ts'
import type { ConfigurationLog } from './configurationLog.ts'

export const QUOTAS = { group: '', resource: 'resourcequotas' }
/** Kinds of which an update can use more than before. */
const GROWING = new Set(['services', 'persistentvolumeclaims'])
/** Pods must say how much of these they want where a quota limits them. */
const REQUIRED = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

export interface QuotaDeps {
  settings: ConfigurationLog
  store: Store
  parsed: ParsedCache
}

export function resourceQuota(deps: QuotaDeps): Admission {
  return {
    stage: 'validate',
    handles: (type, operation, { space, namespace, subresource, unstored }) =>
      type.namespaced &&
      !unstored &&
      (subresource === ''
        ? operation === 'CREATE' || (operation === 'UPDATE' && type.group === '' && GROWING.has(type.resource))
        : subresource === 'resize' && operation === 'UPDATE') &&
      deps.settings.has(space, QUOTAS) &&
      deps.settings.list(space, QUOTAS, namespace).length > 0,
    async admit(request) {
      const { context, object } = request
      const namespace = object.metadata.namespace ?? ''
      // a name that is taken will be refused: nothing is to be charged for it
      const key = keyOf(context.space, request.type, namespace, nameOf(request))
      if (request.operation === 'CREATE' && (await deps.store.get(key)) !== undefined) return
      const charges: { name: string; delta: Amounts }[] = []
      for (const { metadata } of deps.settings.list(context.space, QUOTAS, namespace)) {
        const name = metadata.name ?? ''
        const quota = await ready(deps, context.space, namespace, name)
        const delta = quota && chargeFor(quota, request)
        if (!quota || !delta || delta.size === 0) continue
        checkFits(quota, delta, request)
        charges.push({ name, delta })
      }
      if (context.dryRun) return
      const done: typeof charges = []
      try {
        for (const charge of charges) {
          await book(deps, request, namespace, charge)
          done.push(charge)
        }
      } catch (error) {
        for (const { name, delta } of done) await giveBack(deps, context.space, namespace, name, delta)
        throw error
      }
    },
  }
}

/** What the request adds to the use of a quota; nothing when it does not concern it. @throws StatusError Forbidden */
function chargeFor(quota: KubeObject, request: AdmissionRequest): Amounts | undefined {
  const { type, object, old } = request
  if (!inScope(quota, type, object)) return undefined
  const hard = hardOf(quota)
  const names = new Set([...hard.keys()].filter(name => countsFor(groupOf(type), name)))
  if (names.size === 0) return undefined
  checkRequired(quota, names, request)
  const usage = only(usageOf(groupOf(type), object), names)
  const before = old && inScope(quota, type, old) ? only(usageOf(groupOf(type), old), names) : new Map()
  const delta = subtractAmounts(usage, before)
  return new Map([...delta].filter(([, amount]) => amount.nanos > 0n))
}

function groupOf(type: ResourceType): { group: string; resource: string } {
  return { group: storageGroup(type), resource: type.resource }
}

function checkRequired(quota: KubeObject, names: ReadonlySet<string>, request: AdmissionRequest): void {
  const { type, object } = request
  if (type.group !== '' || type.resource !== 'pods') return
  const missing = new Map<string, string[]>()
  const containers = [...containersOf(object, 'containers'), ...containersOf(object, 'initContainers')]
  const whole = isRecord(object.spec) && isRecord(object.spec.resources) ? object.spec.resources : {}
  for (const name of [...names].filter(each => REQUIRED.has(each)).sort()) {
    const of = name.startsWith('limits.') ? 'limits' : 'requests'
    const resource = name.replace(/^(requests|limits)\./, '')
    if (amountsOf(whole[of]).has(resource)) continue
    const lacking = containers.filter(container => !container[of].has(resource)).map(container => container.name)
    if (lacking.length > 0) missing.set(name, lacking.sort())
  }
  if (missing.size === 0) return
  const texts = [...missing].map(([name, lacking]) => `${name} for: ${lacking.join(',')}`)
  const why = `failed quota: ${quota.metadata.name}: must specify ${texts.join('; ')}`
  throw statusError.forbidden(type, nameOf(request), why)
}

/** @throws StatusError Forbidden naming what does not fit */
function checkFits(quota: KubeObject, delta: Amounts, request: AdmissionRequest): void {
  const hard = hardOf(quota)
  const used = amountsOf(isRecord(quota.status) ? quota.status.used : undefined)
  const next = addAmounts(used, delta)
  const exceeded = new Set(
    [...delta.keys()].filter(name => compareQuantities(next.get(name)!, hard.get(name) ?? ZERO) > 0),
  )
  if (exceeded.size === 0) return
  const [requested, now, limited] = [delta, used, hard].map(amounts => amountsText(only(amounts, exceeded)))
  const why = `exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${now}, limited: ${limited}`
  throw statusError.forbidden(request.type, nameOf(request), why)
}

async function book(
  { store }: QuotaDeps,
  request: AdmissionRequest,
  namespace: string,
  { name, delta }: { name: string; delta: Amounts },
): Promise<void> {
  const outcome = await store.update(keyOf(request.context.space, QUOTAS, namespace, name), stored => {
    if (stored === undefined) return undefined
    const quota = decodeObject(stored)
    checkFits(quota, delta, request)
    return { type: 'put', text: encodeObject(withUse(quota, delta)) }
  })
  accepted(outcome)
}

async function giveBack(
  { store }: QuotaDeps,
  space: string,
  namespace: string,
  name: string,
  delta: Amounts,
): Promise<void> {
  const outcome = await store.update(keyOf(space, QUOTAS, namespace, name), stored => {
    if (stored === undefined) return undefined
    const quota = decodeObject(stored)
    return { type: 'put', text: encodeObject(withUse(quota, subtractAmounts(new Map(), delta))) }
  })
  accepted(outcome)
}

function withUse(quota: KubeObject, delta: Amounts): KubeObject {
  const status = isRecord(quota.status) ? quota.status : {}
  const used = amountsToJson(addAmounts(amountsOf(status.used), delta))
  return { ...quota, status: { ...status, used } }
}

/** The quota with its use known: what the controller has not measured yet is measured now. */
async function ready(deps: QuotaDeps, space: string, namespace: string, name: string): Promise<KubeObject | undefined> {
  const key = keyOf(space, QUOTAS, namespace, name)
  const stored = await deps.store.get(key)
  if (stored === undefined) return undefined
  const quota = decodeObject(stored)
  if (isMeasured(quota)) return quota
  const hard = hardOf(quota)
  const used = await measureUsage(quota, hard, async resource => {
    const { items } = await deps.store.list({
      space,
      group: storageGroup(resource),
      resource: resource.resource,
      namespace,
    })
    return items.map(item => deps.parsed.scan(item) as KubeObject)
  })
  const status = { hard: amountsToJson(hard), used: amountsToJson(used) }
  const outcome = await deps.store.update(key, now => {
    if (now === undefined) return undefined
    const current = decodeObject(now)
    return isMeasured(current) ? undefined : { type: 'put', text: encodeObject({ ...current, status }) }
  })
  const written = accepted(outcome)
  return written && decodeObject(written)
}

function isMeasured(quota: KubeObject): boolean {
  const status = isRecord(quota.status) ? quota.status : {}
  const [known, used] = [amountsOf(status.hard), amountsOf(status.used)]
  const hard = hardOf(quota)
  return (
    known.size === hard.size &&
    [...hard].every(([name, amount]) => known.get(name)?.nanos === amount.nanos && used.has(name))
  )
}

function hardOf(
  quota: KubeObject,
): Map<string, { nanos: bigint; format: 'DecimalSI' | 'BinarySI' | 'DecimalExponent' }> {
  return amountsOf(isRecord(quota.spec) ? quota.spec.hard : undefined)
}
