/** The one door in for whole objects: a body, decoded once, as an object of the kind of the URL. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Soon } from '../../../apimachinery/soon.ts'
import { inSlices, type Steps } from '../../../apimachinery/steps.ts'
import { objectOf } from '../../operations/objectOf.ts'
import type { WriteContext } from '../../registry/context.ts'
import { type Exchange, type Services, writeContext } from '../exchange.ts'
import { readBody } from './body.ts'
import { requireKind } from './otherKinds.ts'
import { warningOfRepeats } from './strictText.ts'

interface ReadObject {
  /** Tells what the body says twice. */
  context: WriteContext
  object: KubeObject
}

/** In slices when it is large. @throws StatusError BadRequest, Invalid, UnsupportedMediaType */
export function readObject(services: Services, exchange: Exchange): Soon<ReadObject> {
  return inSlices(readObjectInSteps(services, exchange), exchange.work)
}

/** @throws StatusError as {@link readObject} */
export function* readObjectInSteps(services: Services, exchange: Exchange): Steps<ReadObject> {
  const context = writeContext(exchange)
  const body = readBody(services, exchange)
  yield
  const warning = warningOfRepeats(context, exchange, body)
  requireKind(services, exchange, body)
  yield
  return { context: warning, object: objectOf(body, exchange.type) }
}
