/** Where the requests of an API thread go: to the server that is assembled there, or across. */
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Store } from '../../storage/store.ts'
import type { ShortWays } from '../server/shortWays.ts'
import type { Forwarder } from './forwarder.ts'
import type { OwnReads } from './ownReads.ts'

export interface RoutingDeps {
  /** The replica. */
  store: Pick<Store, 'revision'>
  reads: Pick<OwnReads, 'has'>
  forwarder: Pick<Forwarder, 'forward' | 'upgrade'>
  /** Nothing is answered here. */
  forwardsAll: boolean
  /** Where a request may be answered before it comes to be one. */
  shortWays?: Pick<ShortWays, 'unless'> | undefined
}

/** Stands before whoever listens for requests by now. */
export function routeRequests(
  server: EventEmitter,
  { store, reads, forwarder, forwardsAll, shortWays }: RoutingDeps,
): void {
  const own = server.listeners('request') as ((message: IncomingMessage, answer: ServerResponse) => void)[]
  server.removeAllListeners('request')
  server.removeAllListeners('upgrade')
  const crosses = (method: string | undefined, url: string | undefined): boolean => {
    // Asked for what it brings along: what is remembered of access, types and settings is in step before anybody looks at it.
    void store.revision
    return forwardsAll || !reads.has(method, url)
  }
  shortWays?.unless(crosses)
  server.on('request', (message: IncomingMessage, answer: ServerResponse) => {
    if (crosses(message.method, message.url)) {
      forwarder.forward(message, answer)
      return
    }
    for (const handle of own) handle.call(server, message, answer)
  })
  server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) =>
    forwarder.upgrade(message, socket, head),
  )
}
