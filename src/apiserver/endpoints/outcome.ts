/** PUT …/syncerconfigs/the-one/outcome in a mailbox: its syncer says what became of what was placed in its cluster, or answers a question. */
import { statusError } from '../../apimachinery/errors.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { readLiveAnswer } from '../../placement/desks/liveObjects.ts'
import {
  OUTCOME_CONNECTION_MS,
  OUTCOME_FORM,
  QUIET_SECONDS,
  readOutcomeReport,
} from '../../placement/outcome/outcome.ts'
import type { LiveQuestions } from '../authority/liveQuestions.ts'
import type { OutcomeInbox } from '../authority/outcomeInbox.ts'
import { sendValue } from '../exchange/answers/respond.ts'
import { readBody } from '../exchange/bodies/body.ts'
import type { Endpoint, EndpointEntries } from '../exchange/exchange.ts'

export function outcomeEndpoint(
  inbox: Pick<OutcomeInbox, 'isOpen' | 'take' | 'gatherMs'>,
  questions: Pick<LiveQuestions, 'take'>,
): EndpointEntries {
  const endpoint: Endpoint = async (services, exchange) => {
    const { space, resource, type } = exchange
    if (!inbox.isOpen(space, resource.name))
      throw statusError.notFound({ ...type, resource: `${type.resource}/${resource.subresource}` }, resource.name)
    const body = readBody(services, exchange, OUTCOME_FORM)
    const spec = isRecord(body) ? body.spec : undefined
    if (isRecord(spec) && spec.answer !== undefined) {
      // what it holds is no word of what became of the rest
      questions.take(space, readLiveAnswer(spec.answer))
      return await sendValue(services, exchange, 200, { ...OUTCOME_FORM, metadata: { name: resource.name } })
    }
    const taken = inbox.take(space, readOutcomeReport(spec))
    const status = { ...taken, quietSeconds: QUIET_SECONDS, gatherMilliseconds: inbox.gatherMs }
    // it speaks so seldom that it would need a new connection each time
    exchange.answer.keep(OUTCOME_CONNECTION_MS)
    await sendValue(services, exchange, 200, { ...OUTCOME_FORM, metadata: { name: resource.name }, status })
  }
  return { 'edge.kubestellar.io/syncerconfigs/outcome': { verbs: ['update'], endpoint } }
}
