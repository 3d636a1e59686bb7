/** POST to a collection. */
import { create } from '../operations/create.ts'
import type { Exchange, Services } from './exchange.ts'
import { readObject } from './readObject.ts'
import { sendObject } from './respond.ts'

export async function createEndpoint(services: Services, x: Exchange): Promise<void> {
  const { context, object } = readObject(services, x)
  const { namespace } = x.resource
  const { stored } = await create(services.registry, { context, type: x.type, namespace }, object)
  await sendObject(services, x, stored, 201)
}
