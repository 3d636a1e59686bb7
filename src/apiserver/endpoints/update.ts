/** PUT of one object or of its status. */

import { atOnce } from '../../apimachinery/steps.ts'
import { sendObject } from '../exchange/answers/respond.ts'
import { readObject, readObjectInSteps } from '../exchange/bodies/readObject.ts'
import { type Exchange, requireCreate, type Services, writeTarget } from '../exchange/exchange.ts'
import { update } from '../operations/update.ts'

export async function updateEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const read = readObject(services, exchange)
  const { context, object } = read instanceof Promise ? await read : read
  const { stored, created } = await update(services.registry, writeTarget(exchange, context), object, {
    again: () => atOnce(readObjectInSteps(services, exchange)).object,
    mayCreate: () => requireCreate(services, exchange),
  })
  await sendObject(services, exchange, stored, created ? 201 : 200)
}
