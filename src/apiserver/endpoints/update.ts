/** PUT of one object or of its status. */
import { statusError } from '../../apimachinery/errors.ts'
import { objectOf, parseBody } from './body.ts'
import { namespaceOf } from './create.ts'
import { type Exchange, type Services, writeContext } from './exchange.ts'
import { sendObject } from './respond.ts'

export async function updateEndpoint(services: Services, x: Exchange): Promise<void> {
  const context = writeContext(x)
  const object = objectOf(parseBody(x.request.body as Buffer | undefined, x.request.headers['content-type']), x.type)
  const namespace = namespaceOf(x, object)
  const { name } = object.metadata
  if (!name)
    throw statusError.badRequest('the name of the object (metadata.name) must be set, and equal to the name on the URL')
  if (name !== x.resource.name) {
    throw statusError.badRequest(
      `the name of the object (${name}) does not match the name on the URL (${x.resource.name})`,
    )
  }
  const strategy = services.deps.strategyFor(x.type)
  const { stored, created } = await services.registry.update(
    context,
    x.type,
    namespace,
    x.resource.name,
    () => structuredClone(object),
    {
      subresource: x.resource.subresource,
      create: strategy?.createOnUpdate && x.resource.subresource === '' ? () => structuredClone(object) : undefined,
    },
  )
  await sendObject(services, x, stored, created ? 201 : 200)
}
