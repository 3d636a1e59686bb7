/** GET of a collection. */
import { statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { sendList } from '../exchange/answers/listAnswers.ts'
import { wholeItems } from '../exchange/answers/wholeItems.ts'
import { type Exchange, intOption, type Services, workOf } from '../exchange/exchange.ts'
import { readerOf } from '../registry/answeredKinds.ts'
import { holdViews } from '../registry/views.ts'
import { collectionOf } from './collection.ts'
import { warnOfPodsElsewhere } from './podsElsewhere.ts'
import { sightOf } from './workspaceSight.ts'

export async function listEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const { query } = exchange.info
  intOption(query, 'timeoutSeconds')
  if (query.get('sendInitialEvents') !== null) {
    const error = fieldError.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')
    throw statusError.invalidOptions('ListOptions', error)
  }
  const collection = collectionOf(services, exchange)
  const { selection } = collection
  const letGo = holdViews(exchange.type)
  try {
    const sight = await sightOf(services.authorizer, exchange)
    const work = workOf(services, exchange)
    const list = await readerOf(services, exchange.type).list(exchange.type, {
      ...collection,
      selection: sight ? sight.narrowed(selection) : selection,
      limit: intOption(query, 'limit'),
      continue: query.get('continue') ?? undefined,
      resourceVersion: query.get('resourceVersion') ?? undefined,
      resourceVersionMatch: query.get('resourceVersionMatch') ?? undefined,
      work,
    })
    const whole = await wholeItems(services, exchange.type, list, work)
    if (whole.items.length === 0) await warnOfPodsElsewhere(services, exchange, selection)
    await sendList(services, exchange, sight ? await sight.shownAll(whole, work) : whole)
  } finally {
    letGo()
  }
}
