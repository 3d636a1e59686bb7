/** GET of a collection. */
import { statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { selectionFor } from '../registry/selection.ts'
import { type Exchange, intOption, type Services } from './exchange.ts'
import { sendList } from './respond.ts'

export async function listEndpoint(services: Services, x: Exchange): Promise<void> {
  const { query } = x.info
  intOption(query, 'timeoutSeconds')
  if (query.get('sendInitialEvents') !== null) {
    const error = fieldError.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')
    throw statusError.invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [error])
  }
  const list = await services.reader.list(x.type, {
    space: x.space,
    namespace: x.resource.namespace === '' ? undefined : x.resource.namespace,
    selection: selectionFor(x.type, services.deps.strategyFor(x.type), {
      labelSelector: query.get('labelSelector') ?? undefined,
      fieldSelector: query.get('fieldSelector') ?? undefined,
    }),
    limit: intOption(query, 'limit'),
    continue: query.get('continue') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? undefined,
    resourceVersionMatch: query.get('resourceVersionMatch') ?? undefined,
  })
  await sendList(services, x, list)
}
