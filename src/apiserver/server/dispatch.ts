/** From an authorized resource request to its endpoint. */

import { StatusError } from '../../apimachinery/errors.ts'
import { apiVersionOf } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { headers } from '../endpoints/answerPieces.ts'
import { createEndpoint } from '../endpoints/create.ts'
import { deleteCollectionEndpoint, deleteEndpoint } from '../endpoints/delete.ts'
import {
  type Endpoint,
  type Exchange,
  type Services,
  type SubresourceEndpoints,
  workOf,
} from '../endpoints/exchange.ts'
import { getEndpoint } from '../endpoints/get.ts'
import { listEndpoint } from '../endpoints/list.ts'
import { acrossNamespaces, allowedMethods, connectionMethods, methodNotAllowed } from '../endpoints/methods.ts'
import { acceptsText, negotiate } from '../endpoints/negotiate.ts'
import { patchEndpoint } from '../endpoints/patch.ts'
import { bindingEndpoint, evictionEndpoint } from '../endpoints/podSubresources.ts'
import { finalizeEndpoint, scaleEndpoint } from '../endpoints/subresources.ts'
import { updateEndpoint } from '../endpoints/update.ts'
import { watchEndpoint } from '../endpoints/watch.ts'
import type { Answer } from '../http/answer.ts'
import type { AuthorizedRequest } from '../http/pipeline.ts'
import type { Request } from '../http/request.ts'
import type { ResourceRequest } from '../request/requestInfo.ts'

export type Target = Omit<Exchange, 'request' | 'reply'>

const VERBS: Record<string, Endpoint> = {
  get: getEndpoint,
  list: listEndpoint,
  watch: watchEndpoint,
  create: createEndpoint,
  update: updateEndpoint,
  patch: patchEndpoint,
  delete: deleteEndpoint,
  deletecollection: deleteCollectionEndpoint,
}

/** Verbs that methods have on collections as well as on objects, of which each is meant for one of them. */
const ON_NAMES = new Set(['create', 'update', 'patch'])

const SUBRESOURCES: SubresourceEndpoints = {
  scale: scaleEndpoint,
  '/namespaces/finalize': finalizeEndpoint,
  '/pods/binding': bindingEndpoint,
  '/pods/eviction': evictionEndpoint,
}

/** Sub-resources that are read and written as the object itself, of which they change a part. */
const PARTS: ReadonlySet<string> = new Set([
  '/pods/ephemeralcontainers',
  '/pods/resize',
  'certificates.k8s.io/certificatesigningrequests/approval',
])

/** Loaded when somebody looks for what does not run here. */
const connectionEndpoint: Endpoint = async (services, exchange) =>
  (await import('../endpoints/connections.ts')).connectionEndpoint(services, exchange)

/** Connections carry their bytes as they are. Logs are negotiated about as objects are, and are text all the same. */
function answersInForms(resource: ResourceRequest, accept: string | undefined): boolean {
  if (connectionMethods(resource) === undefined) return true
  return resource.subresource === 'log' && !acceptsText(accept)
}

/** The exchange for an authorized request. @throws StatusError NotFound, NotAcceptable */
export function exchangeFor(
  services: Services,
  request: Request,
  reply: Answer,
  authorized: AuthorizedRequest,
): Exchange {
  const { info, user, space } = authorized
  const { resource, type, form, warnings } = targetOf(services, authorized, request.headers.accept)
  const work = request.isLarge ? workOf(services, { space, reply }) : undefined
  // named one by one: a copy of all of an object's properties takes several microseconds
  return { request, reply, info, resource, user, space, type, form, warnings, work }
}

/** What an authorized request is about, whatever carries it. @throws StatusError NotFound, NotAcceptable */
export function targetOf(services: Services, authorized: AuthorizedRequest, accept: string | undefined): Target {
  const { info, user, space } = authorized
  const resource = info.resource!
  const set = services.types.in(space)
  const type = set.find(resource.group, resource.version, resource.resource)
  if (type === undefined || (resource.namespace !== '' && !type.namespaced)) throw pageNotFound()
  if (type.namespaced && resource.namespace === '' && resource.name !== '') throw pageNotFound()
  const { subresource } = resource
  const form = negotiate(
    answersInForms(resource, accept) ? accept : undefined,
    () => hasProtobuf(services, type, subresource),
    () => hasTable(type, subresource),
  )
  return {
    info,
    resource,
    user,
    space,
    type,
    form,
    warnings: deprecationOf(type),
  }
}

/** What upstream warns of whenever it is used. */
const DEPRECATED: Readonly<Record<string, string>> = {
  componentstatuses: 'v1 ComponentStatus is deprecated in v1.19+',
  endpoints: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
}

function deprecationOf(type: ResourceType): string[] {
  const builtin = type.group === '' && type.version === 'v1' ? DEPRECATED[type.resource] : undefined
  const text = type.custom?.deprecation ?? builtin
  return text === undefined ? [] : [text]
}

/** Sub-resources that answer with a kind of their own, which has a protobuf form whatever they belong to. */
const OWN_KINDS = new Set(['scale', 'token', 'eviction'])

function hasProtobuf(services: Services, type: ResourceType, subresource: string): boolean {
  return OWN_KINDS.has(subresource) || services.protobuf.supports(apiVersionOf(type), type.kind)
}

/** What is answered and not stored has nothing that could be listed in rows. */
function hasTable(type: ResourceType, subresource: string): boolean {
  if (subresource !== '' && subresource !== 'scale' && OWN_KINDS.has(subresource)) return false
  return type.verbs.includes('get')
}

/** @throws StatusError as the endpoint, also by the promise */
export function dispatch(services: Services, exchange: Exchange, extra: SubresourceEndpoints): Soon<void> {
  const endpoint = endpointFor(exchange, exchange.request.method, extra)
  if (endpoint === undefined) {
    exchange.reply.header('allow', allowedMethods(exchange.type, exchange.resource))
    throw methodNotAllowed(exchange.type, exchange.info.verb)
  }
  const { inFlight } = exchange.request
  if (inFlight && exchange.type.custom?.convert) inFlight.mayConvert = true
  try {
    // many bodies may come in one turn of the loop
    const rested = exchange.work?.due ? exchange.work.rest() : undefined
    const answered = whenKnown(rested, () => endpoint(services, exchange))
    return answered instanceof Promise ? answered.catch(error => warned(exchange, error)) : answered
  } catch (error) {
    warned(exchange, error)
  }
}

/** A refusal carries the warnings that were given before it. @throws what it is given */
function warned(exchange: Exchange, error: unknown): never {
  const { warning } = headers(exchange)
  if (warning !== undefined && !exchange.reply.sent) exchange.reply.header('warning', warning)
  throw error
}

function endpointFor(target: Target, method: string, extra: SubresourceEndpoints): Endpoint | undefined {
  const { type, info, resource } = target
  const { subresource } = resource
  const connected = connectionMethods(resource)
  if (connected !== undefined) return connected.includes(method) ? connectionEndpoint : undefined
  // As upstream, which reads HEAD as GET when it asks whether one may, and then has no route for it.
  if (method === 'HEAD') return undefined
  if (subresource === '') {
    if (acrossNamespaces(type, resource, info.verb)) return undefined
    if ((info.verb === 'create') !== (resource.name === '') && ON_NAMES.has(info.verb)) return undefined
    if ((info.verb === 'update' || info.verb === 'patch') && resource.name === '') return undefined
    const review = extra[`${type.group}/${type.resource}`]
    if (review) return info.verb === 'create' ? review : undefined
    if (type.group === '' && type.resource === 'bindings') return info.verb === 'create' ? bindingEndpoint : undefined
    return type.verbs.includes(info.verb) ? VERBS[info.verb] : undefined
  }
  if (!type.subresources.includes(subresource)) throw pageNotFound()
  const own = `${type.group}/${type.resource}/${subresource}`
  const special = extra[own] ?? SUBRESOURCES[own] ?? SUBRESOURCES[subresource]
  if (special) return special
  const plain = subresource === 'status' || PARTS.has(own)
  if (plain && (info.verb === 'get' || info.verb === 'update' || info.verb === 'patch')) return VERBS[info.verb]
  return undefined
}

export function pageNotFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', {})
}
