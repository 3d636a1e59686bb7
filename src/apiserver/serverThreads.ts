/** The API threads of a server as its main thread has them: their start, and the server of connections that cross from them. */
import type { AddressInfo } from 'node:net'
import { systemClock } from '../client/clock.ts'
import { startThread } from '../program/startThread.ts'
import type { SharedLog } from '../storage/replica/sharedLog.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import type { ApiThreadData } from './apiThread.ts'
import { threadOptions } from './apiThreadOptions.ts'
import type { Assembly } from './assembly.ts'
import type { HttpFront } from './httpFront.ts'
import type { Pki } from './pki/ensurePki.ts'
import type { ServingKeys } from './servingKeys.ts'
import { ApiThreads } from './threads/apiThreads.ts'
import { CrossedServer } from './threads/crossedServer.ts'
import { threadMetrics } from './threads/threadFigures.ts'

interface ServerThreadsDeps {
  /** Followed by each. */
  commits: SharedLog
  pki: Pki
  keys: ServingKeys
  url: () => string
  assembly: Assembly
  front: HttpFront
}

export function serverThreads(
  options: ApiServerOptions,
  { commits, pki, keys, url, assembly, front }: ServerThreadsDeps,
): ApiThreads {
  const { app, parsing, metrics, strangers, documents } = front
  const crossed = new CrossedServer(app.server, parsing)
  app.addHook('onClose', () => crossed.close())
  const forThreads = threadOptions(options, strangers.limits)
  const threadData = (): ApiThreadData => {
    const { address, port } = app.server.address() as AddressInfo
    return {
      options: forThreads,
      // its keys are distinguished; by the authority of the start all report the age of the built-in objects
      pki,
      epoch: assembly.epochs.current,
      url: url(),
      at: { host: address, port },
      forwardsAll: options.audit !== undefined,
    }
  }
  const threads = new ApiThreads({
    count: options.apiThreads!,
    resized: running => strangers.leaveTo(running * forThreads.strangers.connections),
    follow: onCut => commits.follow(onCut),
    start: (data, ports) => startThread('api', { workerData: { ...threadData(), ...data }, transferList: ports }),
    keys: keys.shown,
    accept: connection => crossed.accept(connection),
    documents,
    watches: assembly.inFlight.watches,
    pulseMs: options.apiThreadPulseMs,
    clock: systemClock,
    log: options.log,
  })
  metrics.add(threadMetrics(threads))
  metrics.sumWith(() => threads.figures())
  return threads
}
