/** `--watch`: answers again whenever something changes that the answer may rest on, and prints what is another answer. */

import { isStatusError } from '../../../apimachinery/errors.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import type { GroupVersionResource } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { Random } from '../../../client/backoff.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { type Clock, pause } from '../../../client/clock.ts'
import { listWatch } from '../../../client/listWatch.ts'
import { silentLogger } from '../../../client/logger.ts'

export interface Watched {
  readonly resource: GroupVersionResource
  readonly namespace?: string
  readonly fieldSelector?: string
  /** Space of the kind, where it is not the answer's own. */
  readonly of?: SpaceClient
}

interface FollowOptions<A> {
  readonly space: SpaceClient
  readonly watched: readonly Watched[]
  readonly answer: () => Promise<A>
  readonly print: (answer: A) => Promise<void> | void
  /** Tells that there is no answer for now, and then that there is one again. */
  readonly warn: (text: string) => void
  /** Ends it; default: the process does. */
  readonly signal?: AbortSignal
  readonly clock: Clock
  readonly random: Random
}

/** Between two attempts to have an answer. */
const RETRY_MS = 1000
/** Reasons of a server that will answer again, and of one that is out of reach. */
const PASSING = ['InternalError', 'ServiceUnavailable', 'Timeout', 'TooManyRequests'] as const

/**
 * Until the signal aborts. Many changes while an answer is made are one. A server that is out of reach later is reported and awaited: the
 * printed answer is old then.
 * @throws what `answer` throws at first, and what will not pass
 */
export async function followAnswers<A>(options: FollowOptions<A>): Promise<void> {
  const { space, watched, answer, print, warn, signal, clock } = options
  const stop = new AbortController()
  const until = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  let wake = Promise.withResolvers<void>()
  until.addEventListener('abort', () => wake.resolve(), { once: true })
  const following: Promise<void>[] = []
  /** `undefined`: it was ended. */
  const answerLater = async (): Promise<A | undefined> => {
    for (let isLost = false; ; isLost = true) {
      try {
        const answered = await answer()
        if (isLost) warn('The server answers again.')
        return answered
      } catch (error) {
        if (until.aborted) return undefined
        if (!isStatusError(error, ...PASSING)) throw error
        if (!isLost) warn(`Warning: what is printed may be old: ${messageOf(error)}; the command asks again`)
        await pause(clock, RETRY_MS, until)
      }
    }
  }
  try {
    for (const one of watched) {
      if (await isWatchable(space, one)) following.push(follow(options, one, () => wake.resolve(), until))
    }
    let last = await answer()
    await print(last)
    while (!until.aborted) {
      await wake.promise
      if (until.aborted) return
      wake = Promise.withResolvers<void>()
      const now = await answerLater()
      if (now === undefined || equalJson(last, now)) continue
      await print(now)
      last = now
    }
  } finally {
    stop.abort()
    await Promise.all(following)
  }
}

/** Changes of a kind that is forbidden or not served never come; the answer reports that. */
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
  { space, clock, random }: Pick<FollowOptions<unknown>, 'space' | 'clock' | 'random'>,
  { resource, of = space, ...selection }: Watched,
  changed: () => void,
  signal: AbortSignal,
) {
  // a watch that fails is no change, but what was answered may be old
  const logger = { ...silentLogger, warn: changed }
  for await (const batch of listWatch({ client: of, resource, ...selection, logger, clock, random }, signal))
    if (batch.length > 0) changed()
}
