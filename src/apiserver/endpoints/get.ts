/** GET of one object. */
import type { Exchange, Services } from './exchange.ts'
import { sendObject } from './respond.ts'

export async function getEndpoint(services: Services, x: Exchange): Promise<void> {
  services.reader.requireRevision(x.info.query.get('resourceVersion') ?? '')
  const stored = await services.reader.get(x.space, x.type, x.resource.namespace, x.resource.name)
  await sendObject(services, x, stored)
}
