/** GET of one object. */
import type { Exchange, Services } from './exchange.ts'
import { sendObject } from './respond.ts'

export async function getEndpoint(services: Services, exchange: Exchange): Promise<void> {
  services.reader.requireRevision(exchange.info.query.get('resourceVersion') ?? '')
  const stored = await services.reader.get(
    exchange.space,
    exchange.type,
    exchange.resource.namespace,
    exchange.resource.name,
  )
  await sendObject(services, exchange, stored)
}
