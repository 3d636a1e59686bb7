/** Waits for one object by watching it. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { ObjectRef, SpaceClient } from '../../client/client.ts'
import { type Clock, pause, systemClock } from '../../client/clock.ts'

const AGAIN_MS = 200
const FIRST_WORD_MS = 2_000
const NEXT_WORD_MS = 10_000

interface Wanted {
  client: SpaceClient
  resource: GroupVersionResource
  ref: ObjectRef
  /** Called for each state; `undefined` stands for "does not exist". An error that it throws ends the wait. */
  done: (object: KubeObject | undefined) => boolean
  /** Ends the wait. */
  signal: AbortSignal
  /** Called after {@link FIRST_WORD_MS}, and every {@link NEXT_WORD_MS} from then on: with the last state, and the time so far. */
  progress?: (object: KubeObject | undefined, waitedSeconds: number) => void
  /** Default: the system's. */
  clock?: Clock
}

interface WaitResult {
  /** False when the signal came first. */
  reached: boolean
  /** The last state that was seen. */
  object: KubeObject | undefined
}

/** @throws StatusError when the object may not be listed */
export async function waitFor(wanted: Wanted): Promise<WaitResult> {
  const { signal, progress, clock = systemClock } = wanted
  let last: KubeObject | undefined
  const over = new AbortController()
  const reportProgress = async (report: NonNullable<Wanted['progress']>): Promise<void> => {
    const ends = AbortSignal.any([signal, over.signal])
    for (let waitedMs = FIRST_WORD_MS; ; waitedMs += NEXT_WORD_MS) {
      await pause(clock, waitedMs === FIRST_WORD_MS ? FIRST_WORD_MS : NEXT_WORD_MS, ends)
      if (ends.aborted) return
      report(last, waitedMs / 1000)
    }
  }
  const reporting = progress && reportProgress(progress)
  try {
    return await waitQuietly(wanted, object => {
      last = object
      return wanted.done(object)
    })
  } finally {
    over.abort()
    await reporting
  }
}

async function waitQuietly(
  { client, resource, ref, signal, clock = systemClock }: Wanted,
  done: Wanted['done'],
): Promise<WaitResult> {
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
    await pause(clock, AGAIN_MS, signal)
  }
  return { reached: false, object }
}
