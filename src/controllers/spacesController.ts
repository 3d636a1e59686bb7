/** A controller over all spaces that one stream feeds. The work of a space counts as one party, and ends when the space is gone. */
import type { Client } from '../client/client.ts'
import { Controller, type ControllerOptions } from '../client/controller.ts'
import type { WorkRuntime } from '../client/runtime.ts'
import { StreamSource, type StreamSourceOptions } from '../client/streamSource.ts'
import { PlacedSource, type SpacePlaces } from './placedSource.ts'
import { unlessSpaceGone } from './spaceGone.ts'

/** Parts that every controller is given. */
export interface ControllerRuntime extends WorkRuntime {
  client: Client
}

interface SpacesControllerOptions<K>
  extends Omit<ControllerOptions<K>, 'sources' | 'party'>,
    Pick<StreamSourceOptions, 'client' | 'resources' | 'handler'> {
  id: (key: K) => string
  /** Given, mailboxes are left out. */
  places?: SpacePlaces
}

export function spacesController<K extends { readonly space: string }>(
  options: SpacesControllerOptions<K>,
): Controller<K> {
  const { places } = options
  const stream = { ...options, space: '*' }
  return new Controller<K>({
    ...options,
    party: ({ space }) => space,
    sources: [places ? new PlacedSource({ ...stream, places }) : new StreamSource(stream)],
    reconcile: async (key, signal) => (await unlessSpaceGone(key.space, options.reconcile(key, signal))) ?? {},
  })
}
