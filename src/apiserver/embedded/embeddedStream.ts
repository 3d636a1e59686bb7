/** A space stream inside the server's own process. */
import type { StreamEvent, StreamOptions } from '../../client/client.ts'
import type { Store } from '../../storage/store.ts'
import { type StreamedBatch, stream } from '../operations/stream.ts'
import { SharedEvent, type StreamedServices } from './sharedEvent.ts'

interface EmbeddedStreamDeps {
  services: StreamedServices
  store: Store
}

/** `space` is a logical-cluster id or `*`. @throws StatusError `Expired` when `after` is older than the kept history */
export function embeddedStream(
  { services, store }: EmbeddedStreamDeps,
  options: StreamOptions,
): AsyncGenerator<StreamedBatch<StreamEvent>, void, void> {
  const { forms } = services
  const { signal, space } = options
  return stream({ store, forms }, options, {
    signal,
    isAtHand: true,
    eventOf: (type, stored) => new SharedEvent(services, space, type, stored),
  })
}
