/** GET of one object. */
import { statusError } from '../../apimachinery/errors.ts'
import { readerOf } from '../registry/answeredKinds.ts'
import type { Exchange, Services } from './exchange.ts'
import { sendObject } from './respond.ts'
import { sightOf } from './workspaceSight.ts'

export async function getEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const reader = readerOf(services, exchange.type)
  reader.requireRevision(exchange.info.query.get('resourceVersion') ?? '')
  const { derived } = services
  const found = await reader.get(exchange.space, exchange.type, exchange.resource.namespace, exchange.resource.name)
  const stored = derived?.concerns(exchange.type) ? await derived.whole(found) : found
  const sight = await sightOf(services.authorizer, exchange)
  const seen = sight ? await sight.seen(stored) : stored
  if (seen === undefined) throw statusError.notFound(exchange.type, exchange.resource.name)
  await sendObject(services, exchange, seen)
}
