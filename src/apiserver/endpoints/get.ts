/** GET of one object. A read without a wait is answered in its own step. */
import { statusError } from '../../apimachinery/errors.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { Stored } from '../../storage/store.ts'
import { sendObject } from '../exchange/answers/respond.ts'
import type { Exchange, Services } from '../exchange/exchange.ts'
import { readerOf } from '../registry/answeredKinds.ts'
import { sightOf, type WorkspaceSight } from './workspaceSight.ts'

/** Facts of its request that a read needs, apart from the transport. */
type ReadTarget = Pick<Exchange, 'info' | 'resource' | 'space' | 'type' | 'user'>

export function getEndpoint(services: Services, exchange: Exchange): Soon<void> {
  return whenKnown(objectFor(services, exchange), stored => sendObject(services, exchange, stored))
}

/** The object as whoever asks sees it. @throws StatusError, also by the promise */
function objectFor(services: Services, target: ReadTarget): Soon<Stored> {
  const { space, type, resource } = target
  const { derived, authorizer } = services
  const reader = readerOf(services, type)
  reader.requireRevision(target.info.query.get('resourceVersion') ?? '')
  const found = reader.get(space, type, resource.namespace, resource.name)
  const whole = derived?.concerns(type) ? whenKnown(found, stored => derived.whole(stored)) : found
  return whenKnown(whole, stored =>
    whenKnown(sightOf(authorizer, target), sight => (sight === undefined ? stored : seenBy(sight, target, stored))),
  )
}

async function seenBy(sight: WorkspaceSight, { type, resource }: ReadTarget, stored: Stored): Promise<Stored> {
  const seen = await sight.seen(stored)
  if (seen === undefined) throw statusError.notFound(type, resource.name)
  return seen
}
