/** The address of a server for a host's front proxy, and what follows the host for it, as parts with their needs. */
import { systemClock } from '../client/clock.ts'
import type { Part } from '../client/lifecycle.ts'
import { FrontProxyFollower } from './aggregated/frontProxyFollower.ts'
import { FrontProxyListener, type FrontProxyListenerDeps } from './aggregated/frontProxyListener.ts'
import { HostUsers } from './aggregated/hostUsers.ts'
import type { AggregatedOptions, ApiServerOptions } from './apiServerOptions.ts'
import type { TlsKeys } from './connections/tls.ts'
import type { HttpFront } from './httpFront.ts'

export interface AggregatedParts {
  readonly part: Part
  /** Once it listens. */
  readonly port: number | undefined
  show(keys: TlsKeys): void
}

export function aggregatedParts(
  { bindAddress, log }: ApiServerOptions,
  { host, port, space, userPrefix }: AggregatedOptions,
  { front, tls }: { front: HttpFront; tls: TlsKeys },
): AggregatedParts {
  const { app, parsing, pace } = front
  const listener = new FrontProxyListener({
    front: app.server,
    parsing: parsing as FrontProxyListenerDeps['parsing'],
    pace,
    tls,
    users: new HostUsers(userPrefix),
    space,
    clock: Date.now,
    log,
  })
  app.addHook('onClose', () => listener.close())
  const follower = new FrontProxyFollower({
    host,
    use: proxy => listener.use(proxy),
    clock: systemClock,
    random: Math.random,
    log,
  })
  let listensAt: number | undefined
  return {
    get port() {
      return listensAt
    },
    show: keys => listener.show(keys),
    part: {
      name: 'front proxy',
      needs: ['requests'],
      async start() {
        listensAt = await listener.listen(bindAddress, port).catch(error => {
          throw new Error(
            `--aggregated-port ${port}: ${error.message}; stop what listens there, or give another port`,
            {
              cause: error,
            },
          )
        })
        follower.start()
      },
      async stop() {
        listener.stopListening()
        await follower.stop()
      },
    },
  }
}
