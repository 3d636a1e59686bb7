/**
 * How objects count against a ResourceQuota.
 * @see https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
import { type GroupResource, groupResourceName, isRecord, type KubeObject } from '../object.ts'
import { addQuantities, mustParseQuantity, type Quantity } from '../quantity.ts'
import type { Rests } from '../steps.ts'
import { podAmounts } from './podResources.ts'
import { type Amounts, addAmounts, amountsOf, ZERO } from './resourceList.ts'

const ONE = mustParseQuantity('1')
const CORE_COUNTS = new Set(['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas', 'services', 'pods'])
const PODS = 'pods'
const SERVICES = 'services'
const CLAIMS = 'persistentvolumeclaims'
const STORAGE_CLASS = '.storageclass.storage.k8s.io/'

/** Everything that an object of a resource counts for, by names of quota resources. */
export function usageOf(resource: GroupResource, object: KubeObject): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([[`count/${groupResourceName(resource)}`, ONE]])
  if (resource.group !== '') return usage
  if (resource.resource === PODS) return addAmounts(usage, podUsage(object))
  if (CORE_COUNTS.has(resource.resource)) usage.set(resource.resource, ONE)
  if (resource.resource === SERVICES) return addAmounts(usage, serviceUsage(object))
  return resource.resource === CLAIMS ? addAmounts(usage, claimUsage(object)) : usage
}

/** The resources whose objects must be looked at to know the use of a quota. */
export function countedResources(names: Iterable<string>): GroupResource[] {
  const found = new Map<string, GroupResource>()
  for (const name of names) {
    const resource = countedBy(name)
    found.set(groupResourceName(resource), resource)
  }
  return [...found.values()]
}

/** Whether objects of a resource can count for a quota resource. */
export function countsFor(resource: GroupResource, name: string): boolean {
  const counted = countedBy(name)
  return counted.group === resource.group && counted.resource === resource.resource
}

function countedBy(name: string): GroupResource {
  if (name.startsWith('count/')) {
    const [resource = '', ...group] = name.slice('count/'.length).split('.')
    return { group: group.join('.'), resource }
  }
  if (name === CLAIMS || name === 'requests.storage' || name.includes(STORAGE_CLASS)) return core(CLAIMS)
  if (name.startsWith('services')) return core(SERVICES)
  return CORE_COUNTS.has(name) ? core(name) : core(PODS)
}

const core = (resource: string): GroupResource => ({ group: '', resource })

/** A quota, and what it limits. */
export interface Measured {
  readonly quota: KubeObject
  readonly hard: Amounts
}

/**
 * The use of each `hard` by all objects that count: every name of it, zero where nothing counts. Objects are listed once for
 * each kind, and counted once for each kind of scope, however many quotas there are. Others have their turn between.
 */
export async function measureUsages(
  quotas: readonly Measured[],
  list: (resource: GroupResource) => Promise<readonly KubeObject[]>,
  work?: Rests,
): Promise<Map<string, Quantity>[]> {
  const scopes = new Map<string, { quota: KubeObject; names: Set<string>; used: Map<string, Quantity> }>()
  const own = quotas.map(({ quota, hard }) => {
    const text = JSON.stringify(scopesOf(quota))
    const scope = scopes.get(text) ?? { quota, names: new Set<string>(), used: new Map<string, Quantity>() }
    scopes.set(text, scope)
    for (const name of hard.keys()) scope.names.add(name)
    return scope
  })
  for (const { resource, concerned } of await countedBySome([...scopes.values()], work)) {
    if (work?.due) await work.rest()
    for (const object of await list(resource)) {
      const usage = [...usageOf(resource, object)]
      const inScope = scopeTest(resource, object)
      for (const { quota, names, used } of concerned) {
        if (work?.due) await work.rest()
        if (!inScope(quota)) continue
        for (const [name, amount] of usage)
          if (names.has(name)) used.set(name, addQuantities(used.get(name) ?? ZERO, amount))
      }
    }
  }
  return quotas.map(({ hard }, i) => {
    const { used } = own[i]!
    return new Map([...hard].map(([name, { format }]) => [name, used.get(name) ?? { nanos: 0n, format }]))
  })
}

/** The resources that quotas count, each with those that do: a quota may name tens of thousands, which is gone through once. */
async function countedBySome<T extends { readonly names: Iterable<string> }>(
  scopes: readonly T[],
  work: Rests | undefined,
): Promise<Iterable<{ resource: GroupResource; concerned: ReadonlySet<T> }>> {
  const found = new Map<string, { resource: GroupResource; concerned: Set<T> }>()
  for (const scope of scopes) {
    for (const name of scope.names) {
      if (work?.due) await work.rest()
      const resource = countedBy(name)
      const id = groupResourceName(resource)
      const known = found.get(id) ?? { resource, concerned: new Set<T>() }
      known.concerned.add(scope)
      found.set(id, known)
    }
  }
  return found.values()
}

/** Whether the scopes of a quota take an object in. Quotas with scopes are about Pods alone. */
export function inScope(quota: KubeObject, resource: GroupResource, object: KubeObject): boolean {
  return scopeTest(resource, object)(quota)
}

/** The same for many quotas: what needs all containers of a Pod is found out once. */
export function scopeTest(resource: GroupResource, object: KubeObject): (quota: KubeObject) => boolean {
  const isPod = resource.group === '' && resource.resource === PODS
  let known: boolean | undefined
  const bestEffort = (): boolean => {
    known ??= isBestEffort(object)
    return known
  }
  return quota => {
    const all = scopesOf(quota)
    if (all.length === 0) return true
    return isPod && all.filter(isRecord).every(expression => podInScope(expression, object, bestEffort))
  }
}

/** Scopes that all must hold. */
function scopesOf({ spec }: KubeObject): unknown[] {
  if (!isRecord(spec)) return []
  const scopes = Array.isArray(spec.scopes) ? spec.scopes.map(scopeName => ({ scopeName, operator: 'Exists' })) : []
  const selector = isRecord(spec.scopeSelector) ? spec.scopeSelector.matchExpressions : undefined
  return [...scopes, ...(Array.isArray(selector) ? selector : [])]
}

function podInScope(expression: Record<string, unknown>, pod: KubeObject, bestEffort: () => boolean): boolean {
  const spec = isRecord(pod.spec) ? pod.spec : {}
  const terminating = typeof spec.activeDeadlineSeconds === 'number' && spec.activeDeadlineSeconds >= 0
  switch (expression.scopeName) {
    case 'Terminating':
      return terminating
    case 'NotTerminating':
      return !terminating
    case 'BestEffort':
      return bestEffort()
    case 'NotBestEffort':
      return !bestEffort()
    case 'PriorityClass':
      return priorityMatches(expression, String(spec.priorityClassName ?? ''))
    case 'CrossNamespacePodAffinity':
      return JSON.stringify(spec.affinity ?? null).match(/"namespaces":\[.|"namespaceSelector":\{/) !== null
    default:
      return false
  }
}

function priorityMatches({ operator, values }: Record<string, unknown>, name: string): boolean {
  const list: unknown[] = Array.isArray(values) ? values : []
  if (operator === 'In') return list.includes(name)
  if (operator === 'NotIn') return !list.includes(name)
  return operator === 'DoesNotExist' ? name === '' : name !== ''
}

function isBestEffort(pod: KubeObject): boolean {
  const positive = (amounts: Amounts) => ['cpu', 'memory'].some(name => (amounts.get(name) ?? ZERO).nanos > 0n)
  return !positive(podAmounts(pod, 'requests')) && !positive(podAmounts(pod, 'limits'))
}

/** Pods that have ended count as objects, and for nothing else. */
function podUsage(pod: KubeObject): Map<string, Quantity> {
  const usage = new Map<string, Quantity>()
  const phase = isRecord(pod.status) ? pod.status.phase : undefined
  if (phase === 'Succeeded' || phase === 'Failed') return usage
  usage.set(PODS, ONE)
  for (const [name, quantity] of podAmounts(pod, 'requests')) {
    usage.set(`requests.${name}`, quantity)
    if (name === 'cpu' || name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-')) {
      usage.set(name, quantity)
    }
  }
  for (const [name, quantity] of podAmounts(pod, 'limits')) usage.set(`limits.${name}`, quantity)
  return usage
}

function serviceUsage(service: KubeObject): Map<string, Quantity> {
  const spec = isRecord(service.spec) ? service.spec : {}
  const count = Array.isArray(spec.ports) ? spec.ports.length : 0
  const ports = mustParseQuantity(String(count))
  const balanced = spec.type === 'LoadBalancer'
  const withPorts = spec.type === 'NodePort' || (balanced && spec.allocateLoadBalancerNodePorts !== false)
  return new Map([
    ['services.loadbalancers', balanced ? ONE : ZERO],
    ['services.nodeports', withPorts ? ports : ZERO],
  ])
}

function claimUsage(claim: KubeObject): Map<string, Quantity> {
  const spec = isRecord(claim.spec) ? claim.spec : {}
  const resources = isRecord(spec.resources) ? spec.resources : {}
  const storage = amountsOf(resources.requests).get('storage')
  const storageClass = claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName
  const usage = new Map([[CLAIMS, ONE]])
  if (storage) usage.set('requests.storage', storage)
  if (typeof storageClass !== 'string' || storageClass === '') return usage
  usage.set(`${storageClass}${STORAGE_CLASS}${CLAIMS}`, ONE)
  if (storage) usage.set(`${storageClass}${STORAGE_CLASS}requests.storage`, storage)
  return usage
}
