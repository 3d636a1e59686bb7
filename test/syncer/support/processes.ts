/** The programs of a whole installation as processes of their own: what a user starts, and how a test waits for them. */
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import type { ObjectRef, SpaceClient } from '../../../src/client/client.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { Informer } from '../../../src/client/informer.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

export { Command, type Ends, Program, Running } from '../../support/command.ts'
export { freePort } from '../../support/freePort.ts'

/** Waits, by a watch, until an object is as wanted; `undefined` is its absence. */
export async function until(
  client: SpaceClient,
  resource: GroupVersionResource,
  ref: ObjectRef,
  wanted: (object: KubeObject | undefined) => boolean,
): Promise<KubeObject | undefined> {
  const stop = new AbortController()
  const informer = new Informer({ client, resource, clock: systemClock, random: () => 0.5 })
  const { promise, resolve, reject } = Promise.withResolvers<KubeObject | undefined>()
  const look = (): void => {
    const object = informer.get(ref)
    if (informer.hasSynced && wanted(object)) resolve(object)
  }
  const what = `${resource.resource} ${ref.name}`
  const timer = setTimeout(() => reject(new Error(`${what} is ${JSON.stringify(informer.get(ref))}`)), PATIENCE_MS)
  informer.subscribe(look)
  void informer.synced.then(look)
  const running = informer.run(stop.signal)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    stop.abort()
    await running
  }
}
