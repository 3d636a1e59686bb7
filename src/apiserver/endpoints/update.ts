/** PUT of one object or of its status. */
import { objectOf, readBody } from './body.ts'
import { type Exchange, requireCreate, type Services, writeContext } from './exchange.ts'
import { requireKind } from './otherKinds.ts'
import { requireSamePlace } from './place.ts'
import { sendObject } from './respond.ts'
import { tellingRepeats } from './strictText.ts'

export async function updateEndpoint(services: Services, x: Exchange): Promise<void> {
  const said = writeContext(x)
  const body = readBody(services, x)
  const context = tellingRepeats(said, x, body)
  requireKind(services, x, body)
  const object = objectOf(body, x.type)
  const { name, namespace } = x.resource
  requireSamePlace(object.metadata, x.resource)
  const strategy = services.deps.strategyFor(x.type)
  const { stored, created } = await services.registry.update(
    context,
    x.type,
    namespace,
    name,
    () => structuredClone(object),
    {
      subresource: x.resource.subresource,
      create: strategy?.createOnUpdate && x.resource.subresource === '' ? () => structuredClone(object) : undefined,
      mayCreate: () => requireCreate(services, x),
    },
  )
  await sendObject(services, x, stored, created ? 201 : 200)
}
