/** GET of one object. What nobody has to wait for is answered in the step that asked. */
import { statusError } from '../../apimachinery/errors.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { Stored } from '../../storage/store.ts'
import { readerOf } from '../registry/answeredKinds.ts'
import type { Exchange, Services } from './exchange.ts'
import { sendObject } from './respond.ts'
import { sightOf, type WorkspaceSight } from './workspaceSight.ts'

export function getEndpoint(services: Services, exchange: Exchange): Soon<void> {
  const { space, type, resource } = exchange
  const { derived, authorizer } = services
  const reader = readerOf(services, type)
  reader.requireRevision(exchange.info.query.get('resourceVersion') ?? '')
  const found = reader.get(space, type, resource.namespace, resource.name)
  const whole = derived?.concerns(type) ? whenKnown(found, stored => derived.whole(stored)) : found
  return whenKnown(whole, stored =>
    whenKnown(sightOf(authorizer, exchange), sight =>
      sight === undefined ? sendObject(services, exchange, stored) : sendSeen(services, exchange, stored, sight),
    ),
  )
}

async function sendSeen(services: Services, exchange: Exchange, stored: Stored, sight: WorkspaceSight): Promise<void> {
  const seen = await sight.seen(stored)
  if (seen === undefined) throw statusError.notFound(exchange.type, exchange.resource.name)
  await sendObject(services, exchange, seen)
}
