/** The one door in for whole objects: a body, decoded once, as an object of the kind of the URL. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { objectOf } from '../operations/objectOf.ts'
import type { WriteContext } from '../registry/context.ts'
import { readBody } from './body.ts'
import { type Exchange, type Services, writeContext } from './exchange.ts'
import { requireKind } from './otherKinds.ts'
import { tellingRepeats } from './strictText.ts'

/** The context tells what the body says twice. @throws StatusError BadRequest, Invalid, UnsupportedMediaType */
export function readObject(services: Services, exchange: Exchange): { context: WriteContext; object: KubeObject } {
  const context = writeContext(exchange)
  const body = readBody(services, exchange)
  const telling = tellingRepeats(context, exchange, body)
  requireKind(services, exchange, body)
  return { context: telling, object: objectOf(body, exchange.type) }
}
