/** PUT of one object or of its status. */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { objectOf, readBody } from './body.ts'
import { type Exchange, type Services, writeContext } from './exchange.ts'
import { sendObject } from './respond.ts'

export async function updateEndpoint(services: Services, x: Exchange): Promise<void> {
  const context = writeContext(x)
  const object = objectOf(readBody(services, x), x.type)
  const { name } = object.metadata
  const { namespace } = x.resource
  if (!name)
    throw statusError.badRequest(
      `the name of the object (${x.resource.name} based on URL) was undeterminable: name must be provided`,
    )
  if (name !== x.resource.name) {
    throw statusError.badRequest(
      `the name of the object (${name}) does not match the name on the URL (${x.resource.name})`,
    )
  }
  if (x.type.namespaced && object.metadata.namespace && object.metadata.namespace !== namespace) {
    throw statusError.badRequest(
      `the namespace of the object (${object.metadata.namespace}) does not match the namespace on the request (${namespace})`,
    )
  }
  const strategy = services.deps.strategyFor(x.type)
  const { stored, created } = await services.registry.update(
    context,
    x.type,
    namespace,
    x.resource.name,
    () => {
      if (!object.metadata.resourceVersion && (x.type.origin === 'crd' || strategy?.requireResourceVersion))
        throw versionMissing(x)
      return structuredClone(object)
    },
    {
      subresource: x.resource.subresource,
      create: strategy?.createOnUpdate && x.resource.subresource === '' ? () => structuredClone(object) : undefined,
    },
  )
  await sendObject(services, x, stored, created ? 201 : 200)
}

/** Kinds whose updates must say which version they are made of. Upstream names the resource here, and a Go number. */
function versionMissing({ type, resource }: Exchange): StatusError {
  const error: FieldError = {
    type: 'Invalid',
    field: 'metadata.resourceVersion',
    omitValue: true,
    detail: '0x0: must be specified for an update',
  }
  return statusError.invalid({ group: type.group, kind: type.resource }, resource.name, [error])
}
