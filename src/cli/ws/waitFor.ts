/** Waits for one object by watching it. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { ObjectRef, SpaceClient } from '../../client/client.ts'
import { pause, systemClock } from '../../client/clock.ts'

const AGAIN_MS = 200

export interface Wanted {
  client: SpaceClient
  resource: GroupVersionResource
  ref: ObjectRef
  /** Asked for each state that is seen; `undefined` stands for "does not exist". What it throws ends the wait. */
  done: (object: KubeObject | undefined) => boolean
  /** Ends the wait. */
  signal: AbortSignal
}

export interface WaitResult {
  /** False when the signal came first. */
  reached: boolean
  /** The last state that was seen. */
  object: KubeObject | undefined
}

/** @throws StatusError when the object may not be listed */
export async function waitFor({ client, resource, ref, done, signal }: Wanted): Promise<WaitResult> {
  const { namespace, name } = ref
  const selection = { ...(namespace && { namespace }), fieldSelector: `metadata.name=${name}` }
  let object: KubeObject | undefined
  while (!signal.aborted) {
    const list = await client.list(resource, selection)
    object = list.items[0]
    if (done(object)) return { reached: true, object }
    try {
      for await (const batch of client.watch(resource, {
        ...selection,
        resourceVersion: list.resourceVersion,
        signal,
      })) {
        for (const event of batch) {
          if (event.type === 'BOOKMARK') continue
          object = event.type === 'DELETED' ? undefined : event.object
          if (done(object)) return { reached: true, object }
        }
      }
    } catch (error) {
      if (!isStatusError(error, 'Expired', 'Gone', 'ServiceUnavailable')) throw error
    }
    await pause(systemClock, AGAIN_MS, signal)
  }
  return { reached: false, object }
}
