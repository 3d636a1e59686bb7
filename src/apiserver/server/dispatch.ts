/** From an admitted resource request to its endpoint. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { createEndpoint } from '../endpoints/create.ts'
import { deleteCollectionEndpoint, deleteEndpoint } from '../endpoints/delete.ts'
import type { Exchange, Services } from '../endpoints/exchange.ts'
import { getEndpoint } from '../endpoints/get.ts'
import { listEndpoint } from '../endpoints/list.ts'
import { negotiate } from '../endpoints/negotiate.ts'
import { patchEndpoint } from '../endpoints/patch.ts'
import { approvalEndpoint, finalizeEndpoint, scaleEndpoint } from '../endpoints/subresources.ts'
import { updateEndpoint } from '../endpoints/update.ts'
import { watchEndpoint } from '../endpoints/watch.ts'
import type { Admitted } from './pipeline.ts'

type Endpoint = (services: Services, x: Exchange) => Promise<void>

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

/** Sub-resources with endpoints of their own; keys are `group/resource/subresource` or the sub-resource alone. */
export type SubresourceEndpoints = Readonly<Record<string, Endpoint>>

const SUBRESOURCES: SubresourceEndpoints = {
  scale: scaleEndpoint,
  '/namespaces/finalize': finalizeEndpoint,
  'certificates.k8s.io/certificatesigningrequests/approval': approvalEndpoint,
}

/** The exchange for an admitted request. @throws StatusError NotFound, NotAcceptable */
export function exchangeFor(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  admitted: Admitted,
): Exchange {
  const { info, user, space } = admitted
  const resource = info.resource!
  const set = services.types.in(space)
  const type = set.find(resource.group, resource.version, resource.resource)
  if (type === undefined || (resource.namespace !== '' && !type.namespaced)) throw pageNotFound()
  if (type.namespaced && resource.namespace === '' && resource.name !== '') throw pageNotFound()
  return { request, reply, info, resource, user, space, type, form: negotiate(request.headers.accept), warnings: [] }
}

/** @throws StatusError as the endpoint */
export async function dispatch(services: Services, x: Exchange, extra: SubresourceEndpoints): Promise<void> {
  const endpoint = endpointFor(x, extra)
  if (endpoint === undefined) throw unsupported(x.type, x)
  await endpoint(services, x)
}

function endpointFor(x: Exchange, extra: SubresourceEndpoints): Endpoint | undefined {
  const { type, info, resource } = x
  const { subresource } = resource
  if (subresource === '') {
    const review = extra[`${type.group}/${type.resource}`]
    if (review) return info.verb === 'create' ? review : undefined
    return type.verbs.includes(info.verb) ? VERBS[info.verb] : undefined
  }
  if (!type.subresources.includes(subresource)) throw pageNotFound()
  const own = `${type.group}/${type.resource}/${subresource}`
  const special = extra[own] ?? SUBRESOURCES[own] ?? SUBRESOURCES[subresource]
  if (special) return special
  if (subresource === 'status' && (info.verb === 'get' || info.verb === 'update' || info.verb === 'patch'))
    return VERBS[info.verb]
  return undefined
}

function unsupported(type: ResourceType, x: Exchange): StatusError {
  if (x.resource.subresource !== '') {
    return new StatusError(
      'MethodNotAllowed',
      `the server does not allow this method on the requested resource: ${x.request.method} ${type.resource}/${x.resource.subresource}`,
    )
  }
  return statusError.methodNotAllowed(type, x.info.verb)
}

export function pageNotFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource')
}
