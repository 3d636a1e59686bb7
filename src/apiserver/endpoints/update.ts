/** PUT of one object or of its status. */
import { update } from '../operations/update.ts'
import { type Exchange, requireCreate, type Services, writeTarget } from './exchange.ts'
import { readObject } from './readObject.ts'
import { sendObject } from './respond.ts'

export async function updateEndpoint(services: Services, x: Exchange): Promise<void> {
  const { context, object } = readObject(services, x)
  const { stored, created } = await update(services.registry, writeTarget(x, context), object, {
    again: () => readObject(services, x).object,
    mayCreate: () => requireCreate(services, x),
  })
  await sendObject(services, x, stored, created ? 201 : 200)
}
