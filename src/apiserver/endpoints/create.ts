/** POST to a collection. */

import { sendObject } from '../exchange/answers/respond.ts'
import { readObject } from '../exchange/bodies/readObject.ts'
import type { Exchange, Services } from '../exchange/exchange.ts'
import { create } from '../operations/create.ts'

export async function createEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const read = readObject(services, exchange)
  const { context, object } = read instanceof Promise ? await read : read
  const { namespace } = exchange.resource
  const { stored } = await create(services.registry, { context, type: exchange.type, namespace }, object)
  const sent = sendObject(services, exchange, stored, 201)
  if (sent) await sent
}
