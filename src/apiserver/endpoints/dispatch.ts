/** From an authorized resource request to its endpoint. */

import type { StatusError } from '../../apimachinery/errors.ts'
import { apiVersionOf } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import { type Forwarded, UNPROVEN } from '../access/forwarded.ts'
import { headers } from '../exchange/answers/answerPieces.ts'
import {
  type Endpoint,
  type EndpointEntries,
  type EndpointEntry,
  type Exchange,
  type Services,
  workOf,
} from '../exchange/exchange.ts'
import type { Answer } from '../http/answer.ts'
import { acceptsText, negotiate } from '../http/negotiate.ts'
import { methodNotAllowed, type Paths, pageNotFound } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import type { RoadDeps } from '../http/road.ts'
import type { ResourceRequest } from '../request/requestInfo.ts'
import { definedOtherwise } from '../types/definedAlike.ts'
import type { TypeSet } from '../types/typeRegistry.ts'
import { createEndpoint } from './create.ts'
import { deleteCollectionEndpoint, deleteEndpoint } from './delete.ts'
import { getEndpoint } from './get.ts'
import { listEndpoint } from './list.ts'
import { acrossNamespaces, allowedMethods, connectionMethods } from './methods.ts'
import { patchEndpoint } from './patch.ts'
import { openStream, type SpaceStreamDeps } from './spaceStream.ts'
import { updateEndpoint } from './update.ts'
import { watchEndpoint } from './watch.ts'

export type Target = Omit<Exchange, 'request' | 'answer'>

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

/** Loaded when somebody looks for what does not run here. */
const connectionEndpoint: Endpoint = async (services, exchange) =>
  (await import('./connections.ts')).connectionEndpoint(services, exchange)

/** Connections carry their bytes as they are. Logs are negotiated about as objects are, and are text all the same. */
function answersInForms(resource: ResourceRequest, accept: string | undefined): boolean {
  if (connectionMethods(resource) === undefined) return true
  return resource.subresource === 'log' && !acceptsText(accept)
}

/** The exchange for an authorized request. @throws StatusError NotFound, NotAcceptable */
export function exchangeFor(
  services: Services,
  request: Request,
  answer: Answer,
  authorized: AuthorizedRequest,
  entries: EndpointEntries,
): Exchange {
  const { info, user, space } = authorized
  const { accept } = request.headers
  const { resource, type, entry, form, warnings } = targetOf(services, authorized, accept, entries)
  const work = request.isLarge ? workOf(services, { space, answer }) : undefined
  // named one by one: a copy of all of an object's properties takes several microseconds
  return { request, answer, info, resource, user, space, type, entry, form, warnings, work }
}

/** Target of an authorized request, over any transport. @throws StatusError NotFound, NotAcceptable */
export function targetOf(
  services: Services,
  authorized: AuthorizedRequest,
  accept: string | undefined,
  entries: EndpointEntries,
): Target {
  const { info, user, space } = authorized
  const resource = info.resource!
  const set = services.types.in(space)
  const type = set.find(resource.group, resource.version, resource.resource)
  if (type === undefined) throw definedOtherwiseIn(services, set, resource) ?? pageNotFound()
  if (resource.namespace !== '' && !type.namespaced) throw pageNotFound()
  if (type.namespaced && resource.namespace === '' && resource.name !== '') throw pageNotFound()
  const entry = entryOf(entries, type, resource.subresource)
  const form = negotiate(
    answersInForms(resource, accept) ? accept : undefined,
    () => hasProtobuf(services, type, entry),
    () => hasTable(type, entry),
  )
  return { info, resource, user, space, type, entry, form, warnings: deprecationOf(type) }
}

/** Refusal of a kind that spaces define otherwise, so that all spaces together do not serve it. */
function definedOtherwiseIn(
  { spaceName }: Services,
  set: TypeSet,
  { group, version, resource }: ResourceRequest,
): StatusError | undefined {
  const definitions = set.definitions?.(group, resource) ?? []
  const named = definitions.map(({ place, types }) => ({ place: spaceName(place), types }))
  const remedy = 'Read each at /clusters/<space>'
  return definedOtherwise({ group, version, resource }, named, { who: 'spaces', remedy })
}

/** Upstream's warnings at each use. */
const DEPRECATED: Readonly<Record<string, string>> = {
  componentstatuses: 'v1 ComponentStatus is deprecated in v1.19+',
  endpoints: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
}

function deprecationOf(type: ResourceType): string[] {
  const builtin = type.group === '' && type.version === 'v1' ? DEPRECATED[type.resource] : undefined
  const text = type.custom?.deprecation ?? builtin
  return text === undefined ? [] : [text]
}

function hasProtobuf({ protobuf }: Services, type: ResourceType, entry: EndpointEntry | undefined): boolean {
  return entry?.isOwnKind || protobuf.supports(apiVersionOf(type), type.kind)
}

/** An answered kind without storage has no table of rows. */
function hasTable(type: ResourceType, entry: EndpointEntry | undefined): boolean {
  return (entry?.isOwnKind ? entry : type).verbs.includes('get')
}

interface RoutesDeps {
  services: Services
  /** Sub-resources, and kinds that are answered. */
  endpoints: EndpointEntries
  /** Answers requests that name no resource (discovery, health, …). */
  paths: Pick<Paths, 'serve'>
  stream: SpaceStreamDeps
  /** Serves views of reports of clusters. */
  reported: RoadDeps['endpoint']
  /** Answers what a host's front proxy asks in no space. */
  host?: HostEndpoint | undefined
}

export type HostEndpoint = (
  request: Request,
  answer: Answer,
  authorized: AuthorizedRequest,
  target: Exclude<Forwarded['target'], 'space'>,
) => Soon<void>

/** Answers authorized requests. Its function throws a StatusError, also by the promise. */
export function routes({ services, endpoints, paths, stream, reported, host }: RoutesDeps): RoadDeps['endpoint'] {
  return (request, answer, authorized) => {
    const { info } = authorized
    const { forwarded } = request
    if (forwarded !== undefined && forwarded !== UNPROVEN && forwarded.target !== 'space')
      return host!(request, answer, authorized, forwarded.target)
    if (info.stream) return openStream(stream, services.turns, { request, answer, authorized })
    if (info.reported) return reported(request, answer, authorized)
    if (info.resource) return dispatch(services, exchangeFor(services, request, answer, authorized, endpoints))
    return paths.serve(request, answer, authorized)
  }
}

/** @throws StatusError as the endpoint, also by the promise */
export function dispatch(services: Services, exchange: Exchange): Soon<void> {
  const endpoint = endpointFor(exchange, exchange.request.method)
  if (endpoint === undefined) {
    exchange.answer.header('allow', allowedMethods(exchange))
    throw methodNotAllowed(exchange.type, exchange.info.verb)
  }
  const { ticket } = exchange.request
  if (ticket && exchange.type.custom?.convert) ticket.mayConvert = true
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
  if (warning !== undefined && !exchange.answer.sent) exchange.answer.header('warning', warning)
  throw error
}

function entryOf(entries: EndpointEntries, type: ResourceType, subresource: string): EndpointEntry | undefined {
  const { group, resource, subresources } = type
  if (subresource === '') return entries[`${group}/${resource}`]
  if (!subresources.includes(subresource)) return undefined
  return entries[`${group}/${resource}/${subresource}`] ?? entries[subresource]
}

function endpointFor({ type, info, resource, entry }: Target, method: string): Endpoint | undefined {
  const connected = connectionMethods(resource)
  if (connected !== undefined) return connected.includes(method) ? connectionEndpoint : undefined
  if (resource.subresource === '') {
    if (acrossNamespaces(type, resource, info.verb)) return undefined
    if ((info.verb === 'create') !== (resource.name === '') && ON_NAMES.has(info.verb)) return undefined
  } else if (entry === undefined) throw pageNotFound()
  // As upstream, which reads HEAD as GET when it asks whether one may, and then has no route for it.
  if (method === 'HEAD' || !(entry ?? type).verbs.includes(info.verb)) return undefined
  return entry?.endpoint ?? VERBS[info.verb]
}
