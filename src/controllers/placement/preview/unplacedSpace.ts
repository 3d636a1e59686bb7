/**
 * Content of a space without placements, read for one question. A space is followed from its first EdgePlacement on, and its author wants
 * the effects before.
 */
import { StatusError } from '../../../apimachinery/errors.ts'
import { jsonSizeInSteps } from '../../../apimachinery/jsonSize.ts'
import { Pace } from '../../../apimachinery/pace.ts'
import { inSlices } from '../../../apimachinery/steps.ts'
import type { Client } from '../../../client/client.ts'
import {
  MAX_PREVIEW_READ,
  MAX_PREVIEW_READ_BYTES,
  type PreviewRequest,
} from '../../../placement/desks/placementPreview.ts'
import { isSystemObject } from '../../../placement/select/eligibility.ts'
import { reachOf } from '../../../placement/select/reach.ts'
import { objectKey } from '../../../placement/words/names.ts'
import { Workload } from '../join/workload.ts'
import { factOf, noteAccount } from '../join/workloads.ts'

/** Without placements. `undefined`: it holds too much. @throws StatusError ServiceUnavailable when it cannot be read to its end */
export async function unplacedSpace(
  client: Pick<Client, 'stream'>,
  { space, gone, work }: Pick<PreviewRequest, 'space' | 'gone' | 'work'>,
): Promise<Workload | undefined> {
  const workload = new Workload(
    () => {},
    () => false,
  )
  let [left, bytesLeft] = [MAX_PREVIEW_READ, MAX_PREVIEW_READ_BYTES]
  const pace = new Pace()
  for await (const batch of client.stream({ space, signal: gone ?? new AbortController().signal })) {
    for (const event of batch.events) {
      if (left-- <= 0 || bytesLeft < 0) return undefined
      const { resource, namespace, name, object } = event
      const isGoing = object.metadata.deletionTimestamp !== undefined
      noteAccount(workload, event)
      if (reachOf(resource) !== 'none' && !isGoing && !isSystemObject(resource, object)) {
        workload.kinds.learn(resource, object)
        const fact = factOf(event, objectKey(resource, namespace, name))
        bytesLeft -= await inSlices(jsonSizeInSteps(fact, pace), work)
        workload.setObject(fact)
      }
      if (work?.due) await work.rest()
    }
    if (batch.synced) return workload
  }
  throw new StatusError('ServiceUnavailable', 'what this space holds could not be read to its end; try again')
}
