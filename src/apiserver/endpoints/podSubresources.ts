/**
 * Sub-resources that act on a Pod: binding it to a node, and evicting it as far as its disruption budget allows.
 * @see https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { labelSelectorFromObject } from '../../apimachinery/selectors.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { admitUnstored } from '../admission/unstored.ts'
import { sendValue } from '../exchange/answers/respond.ts'
import { readBody } from '../exchange/bodies/body.ts'
import { checkTypes } from '../exchange/bodies/checkTypes.ts'
import { type Exchange, isDryRun, type Services, workOf, writeContext } from '../exchange/exchange.ts'
import { objectOf } from '../operations/objectOf.ts'
import { type DeleteOptions, deleteObject } from '../operations/remove.ts'
import { accepted } from '../registry/accepted.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import { systemContext } from '../registry/context.ts'
import { keyOf } from '../registry/keys.ts'
import { deleteOptionsOf } from './delete.ts'

const BINDING = { apiVersion: 'v1', kind: 'Binding' }
const EVICTION = { apiVersion: 'policy/v1', kind: 'Eviction' }
const CREATED = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }
const RETRY_AFTER_SECONDS = 10

/** POST pods/<name>/binding, and POST bindings, which tells the Pod by its own name. */
export async function bindingEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const body = objectOf(readBody(services, exchange, BINDING), exchange.type, BINDING)
  const name = exchange.resource.name || (body.metadata.name ?? '')
  if (body.metadata.name && body.metadata.name !== name)
    throw statusError.badRequest(
      `the name of the object (${body.metadata.name}) does not match the name on the URL (${name})`,
    )
  const type = services.types.in(exchange.space).find('', 'v1', 'bindings')!
  const settle = (binding: KubeObject): void => checkTypes(binding, type)
  settle(body)
  await admit(services, exchange, body, { name, group: '', version: 'v1', kind: 'Binding', settle })
  const target = isRecord(body.target) ? body.target : {}
  const errors = targetErrors(target)
  if (errors.length > 0) throw statusError.invalid({ group: '', kind: 'Binding' }, name, errors)
  const pods = podType(services, exchange)
  const bind = (pod: KubeObject): KubeObject => bound(pod, body, String(target.name), timestamp(services.deps.clock()))
  const key = keyOf(exchange.space, pods, exchange.resource.namespace, name)
  const current = await services.reader.get(exchange.space, pods, exchange.resource.namespace, name)
  if (isDryRun(exchange)) bind(decodeObject(current))
  else
    accepted(
      await services.deps.store.update(key, now => {
        if (now === undefined) throw statusError.notFound(pods, name)
        return { type: 'put', text: encodeObject(bind(decodeObject(now))) }
      }),
    )
  await sendValue(services, exchange, 201, CREATED)
}

interface Admitted {
  name: string
  group: string
  version: string
  kind: string
  /** Called for changes of admission. */
  settle?: (changed: KubeObject) => void
}

/** `bindings` is a kind of its own; below a Pod the body has another kind than the Pod. */
function admit(
  services: Services,
  exchange: Exchange,
  body: KubeObject,
  { name, settle = () => {}, ...kind }: Admitted,
): Promise<void> {
  const { namespace, subresource } = exchange.resource
  const unstored = { context: writeContext(exchange), type: exchange.type, subresource, namespace, name, settle }
  return admitUnstored(services.deps.admission, body, subresource === '' ? unstored : { ...unstored, kind })
}

function podType(services: Services, exchange: Exchange): ResourceType {
  return exchange.type.resource === 'pods' ? exchange.type : services.types.in(exchange.space).find('', 'v1', 'pods')!
}

function targetErrors(target: Record<string, unknown>): FieldError[] {
  const errors: FieldError[] = []
  if (target.kind && target.kind !== 'Node')
    errors.push(fieldError.notSupported('target.kind', target.kind, ['Node', '<empty>']))
  if (!target.name) errors.push(fieldError.required('target.name'))
  return errors
}

function bound(pod: KubeObject, binding: KubeObject, node: string, now: string): KubeObject {
  const name = pod.metadata.name ?? ''
  const spec: Record<string, unknown> = isRecord(pod.spec) ? pod.spec : {}
  const refused = (why: string): StatusError => statusError.conflict({ group: '', resource: 'pods/binding' }, name, why)
  if (binding.metadata.uid && binding.metadata.uid !== pod.metadata.uid)
    throw refused(
      `Precondition failed: UID in precondition: ${binding.metadata.uid}, UID in object meta: ${pod.metadata.uid}`,
    )
  if (pod.metadata.deletionTimestamp !== undefined)
    throw refused(`pod ${name} is being deleted, cannot be assigned to a host`)
  if (spec.nodeName) throw refused(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`)
  const { annotations } = binding.metadata
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations }
  pod.spec = { ...spec, nodeName: node }
  const status: Record<string, unknown> = isRecord(pod.status) ? pod.status : {}
  const others = (Array.isArray(status.conditions) ? status.conditions : []).filter(
    condition => !isRecord(condition) || condition.type !== 'PodScheduled',
  )
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now }
  pod.status = { ...status, conditions: [...others, scheduled] }
  return pod
}

/** POST pods/<name>/eviction: a deletion that the Pod's PodDisruptionBudget may refuse. */
export async function evictionEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const { name, namespace } = exchange.resource
  const sent = readBody(services, exchange, EVICTION)
  // Clients of before 1.22 know it as v1beta1, which says the same.
  const elder =
    isRecord(sent) && sent.apiVersion === 'policy/v1beta1' ? { ...EVICTION, apiVersion: 'policy/v1beta1' } : EVICTION
  const body = objectOf(sent, exchange.type, elder)
  if (body.metadata.name && body.metadata.name !== name)
    throw statusError.badRequest('name in URL does not match name in Eviction object')
  await admit(services, exchange, body, {
    name,
    group: 'policy',
    version: elder.apiVersion.split('/')[1]!,
    kind: 'Eviction',
  })
  const options = deleteOptionsOf(body.deleteOptions)
  const dryRun = isDryRun(exchange) || options.dryRun === true
  const pod = decodeObject(await services.reader.get(exchange.space, exchange.type, namespace, name))
  if (!goesAnyway(pod)) await askBudget(services, exchange, pod, dryRun)
  const own: DeleteOptions = {
    ...options,
    preconditions: { uid: options.preconditions?.uid ?? pod.metadata.uid ?? '', ...options.preconditions },
  }
  await deleteObject(services.deps, { ...writeContext(exchange), dryRun }, exchange.type, { namespace, name }, own)
  await sendValue(services, exchange, 201, CREATED)
}

/** Pods that do not run do not count for any budget. */
function goesAnyway(pod: KubeObject): boolean {
  const phase = isRecord(pod.status) ? pod.status.phase : undefined
  return (
    phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined
  )
}

/** Takes one disruption from the budget. @throws StatusError TooManyRequests when there is none, InternalError for two budgets */
async function askBudget(services: Services, exchange: Exchange, pod: KubeObject, dryRun: boolean): Promise<void> {
  const type = services.types.in(exchange.space).find('policy', 'v1', 'poddisruptionbudgets')!
  const { namespace } = exchange.resource
  const { items } = await services.reader.list(type, { space: exchange.space, namespace })
  const work = workOf(services, exchange)
  const budgets: KubeObject[] = []
  for (const stored of items) {
    if (work.due) await work.rest()
    const budget = decodeObject(stored)
    if (covers(budget, pod)) budgets.push(budget)
  }
  if (budgets.length === 0) return
  if (budgets.length > 1) {
    throw new StatusError(
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const [budget] = budgets
  if (isUnready(pod) && mayLoseUnready(budget!)) return
  const context = { ...systemContext(exchange.space, 'eviction'), dryRun }
  const now = timestamp(services.deps.clock())
  const disrupt = (current: KubeObject): KubeObject => disrupted(current, pod.metadata.name ?? '', now)
  await services.registry.update(context, type, namespace, budget!.metadata.name ?? '', disrupt, {
    subresource: 'status',
  })
}

function covers(budget: KubeObject, pod: KubeObject): boolean {
  const selector = isRecord(budget.spec) ? budget.spec.selector : undefined
  return isRecord(selector) && labelSelectorFromObject(selector).matches(pod.metadata.labels)
}

function isUnready(pod: KubeObject): boolean {
  const conditions = isRecord(pod.status) && Array.isArray(pod.status.conditions) ? pod.status.conditions : []
  return !conditions.some(c => isRecord(c) && c.type === 'Ready' && c.status === 'True')
}

function mayLoseUnready({ spec, status }: KubeObject): boolean {
  if (isRecord(spec) && spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = (status ?? {}) as {
    currentHealthy?: number
    desiredHealthy?: number
  }
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy
}

function disrupted(budget: KubeObject, pod: string, now: string): KubeObject {
  const status: Record<string, unknown> = isRecord(budget.status) ? budget.status : {}
  const { name } = budget.metadata
  const { observedGeneration = 0, disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0 } = status
  if (Number(observedGeneration) < (budget.metadata.generation ?? 0)) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`, RETRY_AFTER_SECONDS)
  }
  if (Number(disruptionsAllowed) < 1) {
    throw refused(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    )
  }
  const pods = isRecord(status.disruptedPods) ? status.disruptedPods : {}
  budget.status = {
    ...status,
    disruptionsAllowed: Number(disruptionsAllowed) - 1,
    disruptedPods: { ...pods, [pod]: now },
  }
  return budget
}

function refused(message: string, retryAfterSeconds?: number): StatusError {
  return new StatusError('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}
