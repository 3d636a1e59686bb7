/** The one door in for whole objects: a body, decoded once, as an object of the kind of the URL. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { objectOf } from '../operations/objectOf.ts'
import type { WriteContext } from '../registry/context.ts'
import { readBody } from './body.ts'
import { type Exchange, type Services, writeContext } from './exchange.ts'
import { requireKind } from './otherKinds.ts'
import { tellingRepeats } from './strictText.ts'

/** The context tells what the body says twice. @throws StatusError BadRequest, Invalid, UnsupportedMediaType */
export function readObject(services: Services, x: Exchange): { context: WriteContext; object: KubeObject } {
  const context = writeContext(x)
  const body = readBody(services, x)
  const telling = tellingRepeats(context, x, body)
  requireKind(services, x, body)
  return { context: telling, object: objectOf(body, x.type) }
}
