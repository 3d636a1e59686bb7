/** The Pod and the Event behind a cluster in which an object is degraded, where a placement has them reported. */
import { str } from '../../../../apimachinery/fields.ts'
import { groupResourceName } from '../../../../apimachinery/object.ts'
import { eventTime, isEvents } from '../../../../placement/associated/associated.ts'
import { CommandError } from '../../../shell/commandError.ts'
import type { Scope } from '../answerSession.ts'
import type { WhyAnswer } from '../why/whyAnswer.ts'
import { type AssociatedCluster, associatedObjects } from './associatedObjects.ts'

/** Clusters whose health message ends with the cause; the answer as it was where nothing is reported. */
export async function namingCauses(answer: WhyAnswer, scope: Scope, args: readonly string[]): Promise<WhyAnswer> {
  if (!answer.clusters.some(({ health }) => health === 'Degraded')) return answer
  const isMeant = (kind: { group: string; resource: string }): boolean =>
    groupResourceName(kind) === 'pods' || isEvents(kind)
  try {
    const { clusters } = await associatedObjects(scope, args, { isMeant })
    return {
      ...answer,
      clusters: answer.clusters.map(one => {
        const reported = clusters.find(({ location }) => location === one.location)
        const cause = one.health === 'Degraded' && reported ? causeIn(reported) : undefined
        return cause === undefined ? one : { ...one, healthMessage: `${one.healthMessage ?? ''}; ${cause}` }
      }),
    }
  } catch (error) {
    // no placement has any reported, or no cluster does
    if (error instanceof CommandError) return answer
    throw error
  }
}

/** `undefined`: no Pod there is degraded. */
export function causeIn({ objects }: AssociatedCluster): string | undefined {
  const pod = objects.find(({ object, account }) => object.kind === 'Pod' && account.health === 'Degraded')
  if (!pod) return undefined
  const events = objects
    .filter(
      ({ object, account }) => object.kind === 'Event' && account.owners.some(({ uid }) => uid === pod.account.uid),
    )
    .map(({ object }) => object)
    .toSorted((a, b) => (eventTime(a) < eventTime(b) ? 1 : -1))
  const event = events.find(({ type }) => type === 'Warning') ?? events[0]
  const happened = event ? `; Event ${str(event, 'reason')}: ${str(event, 'message').split('\n', 1)[0]}` : ''
  return `pod/${pod.object.metadata.name}: ${pod.account.message ?? 'degraded'}${happened}`
}
