/** `--watch`: answers again whenever something changes that the answer may rest on, and prints what is another answer. */

import { isStatusError } from '../../../apimachinery/errors.ts'
import type { GroupVersionResource } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listWatch } from '../../../client/listWatch.ts'

export interface Watched {
  readonly resource: GroupVersionResource
  readonly namespace?: string
  readonly fieldSelector?: string
  /** Another space than the one that is asked. */
  readonly of?: SpaceClient
}

export interface FollowOptions<A> {
  readonly space: SpaceClient
  readonly watched: readonly Watched[]
  readonly answer: () => Promise<A>
  readonly print: (answer: A) => Promise<void> | void
  /** Ends it; default: the process does. */
  readonly signal?: AbortSignal
}

/** Until the signal aborts. Many changes while an answer is made are one. @throws what `answer` throws at first */
export async function followAnswers<A>({ space, watched, answer, print, signal }: FollowOptions<A>): Promise<void> {
  const stop = new AbortController()
  const until = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  let wake = Promise.withResolvers<void>()
  until.addEventListener('abort', () => wake.resolve(), { once: true })
  const following: Promise<void>[] = []
  try {
    let last: A | undefined
    for (const one of watched) {
      if (await isWatchable(space, one)) following.push(follow(space, one, () => wake.resolve(), until))
    }
    while (!until.aborted) {
      wake = Promise.withResolvers<void>()
      const told = await answer()
      if (!equalJson(last, told)) await print(told)
      last = told
      if (!until.aborted) await wake.promise
    }
  } finally {
    stop.abort()
    await Promise.all(following)
  }
}

/** What may not be read or is not served never comes; the answer says so. */
async function isWatchable(space: SpaceClient, { resource, of = space, ...options }: Watched): Promise<boolean> {
  try {
    await of.list(resource, { ...options, limit: 1 })
    return true
  } catch (error) {
    if (isStatusError(error, 'Forbidden', 'NotFound')) return false
    throw error
  }
}

async function follow(
  space: SpaceClient,
  { resource, of = space, ...selection }: Watched,
  changed: () => void,
  signal: AbortSignal,
) {
  for await (const batch of listWatch({ client: of, resource, ...selection }, signal)) if (batch.length > 0) changed()
}
