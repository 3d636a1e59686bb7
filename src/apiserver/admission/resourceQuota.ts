/**
 * ResourceQuota: an addition to a namespace's use is charged to its quotas before it is stored, in the store's own order. Two requests so
 * can never both take the last place. The quota controller notices releases.
 * @see https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
import { statusError } from '../../apimachinery/errors.ts'
import { type GroupResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
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
import { countsFor, measureUsages, scopeTest, usageOf } from '../../apimachinery/quota/usage.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Work, WorkTurns } from '../../program/workTurns.ts'
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
/**
 * Quotas that are charged at the same time, in one write of the store with each other. Beyond that, each such group waits for a turn of the
 * process's long work. Many writes at a time would charge thousands in one turn of the loop.
 */
const TOGETHER = 32
/** Pods must say how much of these they want where a quota limits them. */
const REQUIRED = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

export interface QuotaDeps {
  settings: ConfigurationLog
  store: Store
  parsed: ParsedCache
  /** Where many quotas are charged. */
  turns: WorkTurns
}

export function resourceQuota(deps: QuotaDeps): Admission {
  return {
    stage: 'validate',
    handles: (type, operation, subresource) =>
      type.namespaced &&
      (subresource === ''
        ? operation === 'CREATE' || (operation === 'UPDATE' && type.group === '' && GROWING.has(type.resource))
        : subresource === 'resize' && operation === 'UPDATE'),
    reaches: ({ space, namespace, unstored }) =>
      !unstored && deps.settings.has(space, QUOTAS) && deps.settings.list(space, QUOTAS, namespace).length > 0,
    async admit(request) {
      const { context, object } = request
      const namespace = object.metadata.namespace ?? ''
      // a name that is taken will be refused: nothing is to be charged for it
      const key = keyOf(context.space, request.type, namespace, nameOf(request))
      if (request.operation === 'CREATE' && (await deps.store.get(key)) !== undefined) return
      const work = deps.turns.begin({ owner: context.space })
      const charges: Charge[] = []
      const use = useOf(request)
      const concerned: KubeObject[] = []
      for (const quota of deps.settings.list(context.space, QUOTAS, namespace)) {
        if (namesFor(quota, request.type, use).length > 0 && use.now(quota) !== undefined) concerned.push(quota)
        if (work.due) await work.rest()
      }
      for (const quota of await ready(deps, { space: context.space, namespace, work }, concerned)) {
        const delta = chargeFor(quota, request, use)
        if (!delta || delta.size === 0) continue
        checkFits(quota, delta, request)
        if (work.due) await work.rest()
        charges.push({ name: quota.metadata.name ?? '', delta })
      }
      if (context.dryRun) return
      const booked: Charge[] = []
      for (let at = 0; at < charges.length; at += TOGETHER) {
        if (charges.length > TOGETHER) await work.rest()
        const some = charges.slice(at, at + TOGETHER)
        const outcomes = await Promise.allSettled(some.map(charge => book(deps, request, namespace, charge)))
        booked.push(...some.filter((_charge, i) => outcomes[i]!.status === 'fulfilled'))
        const failed = outcomes.find(outcome => outcome.status === 'rejected')
        if (failed === undefined) continue
        for (const charge of booked) await giveBack(deps, context.space, namespace, charge)
        throw failed.reason
      }
    },
  }
}

interface Charge {
  readonly name: string
  readonly delta: Amounts
}

/** Limits of a quota that an object counts for. A quota may name a thousand: those of a Pod alone are looked through. */
function namesFor(quota: KubeObject, type: ResourceType, use: Use): string[] {
  const hard = isRecord(quota.spec) && isRecord(quota.spec.hard) ? quota.spec.hard : {}
  const resource = groupOf(type)
  const isPod = resource.group === '' && resource.resource === 'pods'
  if (isPod) return Object.keys(hard).filter(name => countsFor(resource, name))
  return [...(use.now(quota)?.keys() ?? [])].filter(name => Object.hasOwn(hard, name))
}

/** Present and former use of the object, for quotas that take it in. Reckoned once, whatever the number of quotas. */
interface Use {
  now(quota: KubeObject): Amounts | undefined
  before(quota: KubeObject): Amounts | undefined
}

function useOf({ type, object, old }: AdmissionRequest): Use {
  const of = (each: KubeObject | undefined) => {
    if (each === undefined) return () => undefined
    const takes = scopeTest(type, each)
    let usage: Amounts | undefined
    return (quota: KubeObject) => {
      if (!takes(quota)) return undefined
      usage ??= usageOf(groupOf(type), each)
      return usage
    }
  }
  return { now: of(object), before: of(old) }
}

/** Addition of the request to the use of a quota; empty when it does not concern it. @throws StatusError Forbidden */
function chargeFor(quota: KubeObject, request: AdmissionRequest, use: Use): Amounts | undefined {
  const usage = use.now(quota)
  if (usage === undefined) return undefined
  const names = new Set(namesFor(quota, request.type, use))
  if (names.size === 0) return undefined
  checkRequired(quota, names, request)
  const delta = subtractAmounts(only(usage, names), only(use.before(quota) ?? new Map(), names))
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
  { name, delta }: Charge,
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
  { name, delta }: Charge,
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

/** Quotas with their use known: those that the controller has not measured yet are measured now, all at once. */
async function ready(
  deps: QuotaDeps,
  { space, namespace, work }: { space: string; namespace: string; work: Work },
  quotas: readonly KubeObject[],
): Promise<KubeObject[]> {
  const unknown = quotas.filter(quota => !isMeasured(quota)).map(quota => ({ quota, hard: hardOf(quota) }))
  if (unknown.length === 0) return [...quotas]
  const list = async (resource: GroupResource): Promise<KubeObject[]> => {
    const range = { space, group: storageGroup(resource), resource: resource.resource, namespace }
    const objects: KubeObject[] = []
    for (const item of (await deps.store.list(range)).items) {
      if (work.due) await work.rest()
      objects.push(deps.parsed.scan(item) as KubeObject)
    }
    return objects
  }
  const used = await measureUsages(unknown, list, work)
  const written: (KubeObject | undefined)[] = []
  for (let at = 0; at < unknown.length; at += TOGETHER) {
    if (at > 0) await work.rest()
    const some = unknown.slice(at, at + TOGETHER).map(async ({ quota, hard }, i) => {
      const key = keyOf(space, QUOTAS, namespace, quota.metadata.name ?? '')
      const status = { hard: amountsToJson(hard), used: amountsToJson(used[at + i]!) }
      const outcome = await deps.store.update(key, now => {
        if (now === undefined) return undefined
        const current = decodeObject(now)
        return isMeasured(current) ? undefined : { type: 'put', text: encodeObject({ ...current, status }) }
      })
      const stored = accepted(outcome)
      return stored && decodeObject(stored)
    })
    written.push(...(await Promise.all(some)))
  }
  const measured = new Map(unknown.map(({ quota }, i) => [quota, written[i]] as const))
  return quotas.flatMap(quota => (measured.has(quota) ? (measured.get(quota) ?? []) : quota))
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
