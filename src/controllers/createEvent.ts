/**
 * Events are a courtesy: statuses, conditions and annotations say the same. So no Event that a space refuses, for whatever reason, and
 * none that a webhook of the space delays keeps anything else waiting.
 */
import { isStatusError } from '../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../apimachinery/object.ts'
import type { SpaceClient } from '../client/client.ts'
import { type Clock, pause } from '../client/clock.ts'

export const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
/** A write that takes longer goes on, and nobody waits for it. */
export const EVENT_PATIENCE_MS = 1000

/** `known`: an Event of that name stands there. `refused` also covers an answer that is late. */
type EventOutcome = 'written' | 'known' | 'refused'

export async function createEvent(
  api: SpaceClient,
  event: KubeObject,
  { fieldManager, clock }: { fieldManager: string; clock: Clock },
): Promise<EventOutcome> {
  return await inTime(clock, async () => {
    try {
      await api.create(EVENTS, event, { fieldManager })
      return 'written'
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) return 'known'
      throw error
    }
  })
}

/** The result, or `refused` after a refusal or {@link EVENT_PATIENCE_MS}. @throws what is no answer of the server */
export async function inTime<T>(clock: Clock, write: () => Promise<T>): Promise<T | 'refused'> {
  const done = new AbortController()
  const written = write().catch((error: unknown) => {
    if (isStatusError(error)) return 'refused' as const
    throw error
  })
  const late = pause(clock, EVENT_PATIENCE_MS, done.signal).then(() => 'refused' as const)
  return await Promise.race([written, late]).finally(() => done.abort())
}
