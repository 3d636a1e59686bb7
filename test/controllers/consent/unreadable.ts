import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Client, StreamEvent } from '../../../src/client/client.ts'
import type { FakeServer } from '../placement/fakeServer.ts'

/** The server, but objects of that resource that exist when a stream begins cannot be decoded. */
export function unreadable(server: FakeServer, resource: string): Client {
  const spoilt = (event: StreamEvent): StreamEvent => ({
    ...event,
    mentions: text => event.mentions(text),
    get object(): KubeObject {
      throw new Error('spoilt')
    },
  })
  return {
    in: space => server.in(space),
    async *stream(options) {
      for await (const batch of server.stream(options)) {
        const events = batch.events.map(event =>
          event.type === 'ADDED' && event.resource.resource === resource ? spoilt(event) : event,
        )
        yield { ...batch, events }
      }
    },
  }
}
