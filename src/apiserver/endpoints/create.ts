/** POST to a collection. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { objectOf, readBody } from './body.ts'
import { type Exchange, type Services, writeContext } from './exchange.ts'
import { requireKind } from './otherKinds.ts'
import { sendObject } from './respond.ts'
import { tellingRepeats } from './strictText.ts'

export async function createEndpoint(services: Services, x: Exchange): Promise<void> {
  const said = writeContext(x)
  const body = readBody(services, x)
  const context = tellingRepeats(said, x, body)
  requireKind(services, x, body)
  const object = objectOf(body, x.type)
  const namespace = namespaceOf(x, object)
  const { stored } = await services.registry.create(context, x.type, namespace, object)
  await sendObject(services, x, stored, 201)
}

/** The namespace of the URL; what the body says must agree. */
export function namespaceOf(x: Exchange, object: KubeObject): string {
  const { namespace } = x.resource
  const said = object.metadata.namespace
  if (!x.type.namespaced) return ''
  if (namespace === '') {
    throw new StatusError(
      'BadRequest',
      `an empty namespace may not be set during creation: send ${x.type.resource} to …/namespaces/NAMESPACE/${x.type.resource}`,
    )
  }
  if (said && said !== namespace) {
    throw statusError.badRequest(
      `the namespace of the provided object does not match the namespace sent on the request`,
    )
  }
  return namespace
}
