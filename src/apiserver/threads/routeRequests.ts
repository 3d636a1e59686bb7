/** Which requests of an API thread cross to the main thread. */

import type { Store } from '../../storage/store.ts'
import type { Forwarding } from '../http/road.ts'
import type { Forwarder } from './forwarder.ts'
import type { OwnReads } from './ownReads.ts'

interface RoutingDeps {
  /** The replica. */
  store: Pick<Store, 'revision'>
  reads: Pick<OwnReads, 'has'>
  forwarder: Pick<Forwarder, 'forward' | 'upgrade'>
  /** Nothing is answered here. */
  forwardsAll: boolean
}

export function routeRequests({ store, reads, forwarder, forwardsAll }: RoutingDeps): Forwarding {
  return {
    forward(request, answer, answered) {
      // Read for what it brings along: access, types and settings are in step before the request is looked at.
      void store.revision
      if (!forwardsAll && reads.has(request.method, request.url)) return false
      forwarder.forward(request, answer, answered)
      return true
    },
    upgrade: (request, socket, head) => forwarder.upgrade(request, socket, head),
  }
}
