/**
 * Sub-resources that lead to a running Pod, a Service or a node: log, exec, attach, portforward, proxy.
 *
 * There is no kubelet behind this server. Answers that upstream gives before it would ask one are the same here: a Pod that is
 * not there, or has no node yet. The rest says where to ask instead, and so does a workload space of each Pod: none gets a node
 * there. Discovery does not list them, since no client looks for them there.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { list, records, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { forbidden } from '../auth/forbidden.ts'
import { effectiveUser } from '../auth/users.ts'
import { warningHeaders } from '../exchange/answers/warningHeaders.ts'
import { type Exchange, intOption, type Services } from '../exchange/exchange.ts'
import { CACHE_CONTROL } from '../http/answer.ts'
import { decodeObject } from '../registry/codec.ts'

/** @throws StatusError always, but for the log of a Pod without a node where no workload is described: it is empty */
export async function connectionEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const { resource, subresource, name } = exchange.resource
  if (subresource === 'proxy') return proxy(services, exchange)
  if (subresource === 'log') checkLogOptions(exchange.info.query, name)
  // A WebSocket begins as a GET and changes what it leads to all the same.
  else if (exchange.info.verb === 'get') await requireStreaming(services, exchange)
  const pod = await objectOf(services, exchange, name)
  if (subresource !== 'portforward') checkContainer(pod, exchange.info.query.get('container') ?? '')
  if (str(pod, 'spec', 'nodeName') !== '') throw elsewhere(`${resource}/${subresource} of "${name}"`, 'the pod runs')
  if (services.describes(exchange.space)) throw describedOnly(pod)
  if (subresource !== 'log') throw statusError.badRequest(`pod ${name} does not have a host assigned`)
  const { answer, warnings } = exchange
  answer.code(204).header('cache-control', CACHE_CONTROL)
  if (warnings.length > 0) answer.header('warning', warningHeaders(warnings))
  answer.send()
}

/** @throws StatusError Forbidden for who may not create the sub-resource */
async function requireStreaming({ authorizer }: Services, exchange: Exchange): Promise<void> {
  const { info, resource, space } = exchange
  const attributes = { user: effectiveUser(exchange.user, space), space, verb: 'create', path: info.path, resource }
  const { allowed, reason } = await authorizer.authorize(attributes)
  if (!allowed) throw forbidden(attributes, reason)
}

async function proxy(services: Services, exchange: Exchange): Promise<void> {
  const { resource, name: id } = exchange.resource
  const kind = resource.slice(0, -1)
  const target = targetOf(id)
  if (target === undefined) throw statusError.badRequest(`invalid ${kind} request ${JSON.stringify(id)}`)
  const object = await objectOf(services, exchange, target.name)
  if (resource === 'pods' && podAddress(object) === undefined) throw statusError.badRequest('address not allowed')
  if (resource === 'services') await checkService(services, exchange, object, target)
  throw elsewhere(`${resource}/proxy of "${target.name}"`, `the ${kind} is`)
}

function elsewhere(what: string, where: string): StatusError {
  return new StatusError('NotImplemented', `this server has no kubelets: ask the cluster where ${where} for ${what}`)
}

/** An empty log, or a host that is not assigned, would have people wait for what never comes. */
function describedOnly({ metadata: { name, namespace } }: KubeObject): StatusError {
  return statusError.badRequest(
    `pod ${name} does not run in this space: "kubectl kubestellar why pod/${name} -n ${namespace}" tells in which clusters it is placed, ` +
      'and kubectl with the kubeconfig of one of them reaches it',
  )
}

async function objectOf(services: Services, exchange: Exchange, name: string): Promise<KubeObject> {
  return decodeObject(await services.reader.get(exchange.space, exchange.type, exchange.resource.namespace, name))
}

interface ProxyTarget {
  name: string
  /** Name or number. */
  port: string
}

/** From `name`, `name:port` or `scheme:name:port`. */
function targetOf(id: string): ProxyTarget | undefined {
  const parts = id.split(':')
  const [scheme, name, port] = parts.length < 3 ? ['', parts[0], parts[1]] : parts
  if (parts.length > 3 || !name || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) return undefined
  return { name, port: port ?? '' }
}

function podAddress(pod: KubeObject): string | undefined {
  return str(pod, 'status', 'podIPs', 0, 'ip') || undefined
}

/** @throws StatusError ServiceUnavailable when it lacks the port, or nothing is behind it */
async function checkService(
  services: Services,
  exchange: Exchange,
  service: KubeObject,
  target: ProxyTarget,
): Promise<void> {
  const { name, port } = target
  const listed = records(service, 'spec', 'ports').map(each => each.port)
  if (/^[+-]?\d+$/.test(port) && !listed.includes(Number(port))) {
    throw unavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`)
  }
  const { namespace } = exchange.resource
  const types = services.types.in(exchange.space)
  const endpoints = await services.deps.store.get({
    space: exchange.space,
    group: '',
    resource: 'endpoints',
    namespace,
    name,
  })
  if (endpoints !== undefined && list(decodeObject(endpoints), 'subsets').length > 0) return
  const slices = await services.reader.list(types.find('discovery.k8s.io', 'v1', 'endpointslices')!, {
    space: exchange.space,
    namespace,
  })
  const behind = slices.items
    .map(stored => decodeObject(stored))
    .find(slice => {
      return slice.metadata.labels?.['kubernetes.io/service-name'] === name && list(slice, 'endpoints').length > 0
    })
  if (behind === undefined) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
}

const unavailable = (message: string): StatusError => new StatusError('ServiceUnavailable', message)

/** @throws StatusError BadRequest when the container is ambiguous */
function checkContainer(pod: KubeObject, container: string): void {
  const namesIn = (field: string): string[] => records(pod, 'spec', field).map(each => String(each.name))
  const own = namesIn('containers')
  const all = [...namesIn('initContainers'), ...own, ...namesIn('ephemeralContainers')]
  const { name } = pod.metadata
  if (container === '' && own.length !== 1) {
    throw statusError.badRequest(
      `a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`,
    )
  }
  if (container !== '' && !all.includes(container)) {
    throw statusError.badRequest(`container ${container} is not valid for pod ${name}`)
  }
}

/** @throws StatusError BadRequest, Invalid */
function checkLogOptions(query: URLSearchParams, pod: string): void {
  const sinceTime = query.get('sinceTime') ?? ''
  if (sinceTime !== '' && Number.isNaN(Date.parse(sinceTime))) {
    throw statusError.badRequest(`parsing time ${JSON.stringify(sinceTime)}: it is not as RFC 3339 has it`)
  }
  const tail = intOption(query, 'tailLines')
  const limit = intOption(query, 'limitBytes')
  const since = intOption(query, 'sinceSeconds')
  const errors: FieldError[] = []
  const tooSmall = (field: string, value: number, detail: string) =>
    errors.push(fieldError.invalid(field, value, detail))
  if (tail !== undefined && tail < 0) tooSmall('tailLines', tail, 'must be greater than or equal to 0')
  if (limit !== undefined && limit < 1) tooSmall('limitBytes', limit, 'must be greater than 0')
  if (since !== undefined && query.has('sinceTime')) {
    // the path is upstream's: none, as it is written there
    errors.push(fieldError.forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  } else if (since !== undefined && since < 1) tooSmall('sinceSeconds', since, 'must be greater than 0')
  if (errors.length > 0) throw statusError.invalid({ group: '', kind: 'PodLogOptions' }, pod, errors)
}
