/** A space stream inside the server's own process. */
import type { StreamBatch, StreamOptions } from '../../client/client.ts'
import type { Store } from '../../storage/store.ts'
import { stream } from '../operations/stream.ts'
import { SharedEvent, type StreamedServices } from './sharedEvent.ts'

export interface EmbeddedStreamDeps {
  services: StreamedServices
  store: Store
}

/** `space` is a logical-cluster id or `*`. @throws StatusError `Expired` when `after` is older than the kept history */
export async function* embeddedStream(
  { services, store }: EmbeddedStreamDeps,
  options: StreamOptions,
): AsyncGenerator<StreamBatch> {
  const { forms } = services
  for await (const { changes, ...batch } of stream({ store, forms }, options, { signal: options.signal }))
    yield {
      ...batch,
      events: changes.map(({ type, stored }) => new SharedEvent(services, options.space, type, stored)),
    }
}
