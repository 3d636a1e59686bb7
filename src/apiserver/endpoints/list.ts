/** GET of a collection. */
import { statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { selectionFor } from '../registry/selection.ts'
import { type Exchange, intOption, type Services } from './exchange.ts'
import { sendList } from './respond.ts'

export async function listEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const { query } = exchange.info
  intOption(query, 'timeoutSeconds')
  if (query.get('sendInitialEvents') !== null) {
    const error = fieldError.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')
    throw statusError.invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [error])
  }
  const list = await services.reader.list(exchange.type, {
    space: exchange.space,
    namespace: exchange.resource.namespace === '' ? undefined : exchange.resource.namespace,
    selection: selectionFor(exchange.type, services.deps.strategyFor(exchange.type), {
      labelSelector: query.get('labelSelector') ?? undefined,
      fieldSelector: query.get('fieldSelector') ?? undefined,
    }),
    limit: intOption(query, 'limit'),
    continue: query.get('continue') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? undefined,
    resourceVersionMatch: query.get('resourceVersionMatch') ?? undefined,
  })
  await sendList(services, exchange, list)
}
