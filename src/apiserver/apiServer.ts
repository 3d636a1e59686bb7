/** The API server: opens the store, and runs all parts over it. Two of them run in one process without meeting. */
import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { CommitTimes } from '../apimachinery/commitTimes.ts'
import { Distribution } from '../apimachinery/distribution.ts'
import { idleClock, systemClock } from '../client/clock.ts'
import { Lifecycle, type Part } from '../client/lifecycle.ts'
import { SetAside } from '../client/setAside/setAside.ts'
import { collectSoon } from '../program/garbage.ts'
import { PAUSE_LIMIT_MS, WorkTurns } from '../program/workTurns.ts'
import { openEngine } from '../storage/openEngine.ts'
import { SharedLog } from '../storage/replica/sharedLog.ts'
import type { Store } from '../storage/store.ts'
import { AggregatedPort } from './aggregatedParts.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import { CARRIED_MARK, isCarriedUp } from './authority/carriedMark.ts'
import { advertisedAddress, isWildcard } from './kubernetesService/advertisedAddress.ts'
import { ensurePki, type Pki, tlsOf } from './pki/ensurePki.ts'
import { readNamedCertificate } from './pki/namedCertificate.ts'
import { type ApiServerFace, serverParts } from './serverParts.ts'
import { heapLimitBytes } from './shortage/memoryRoom.ts'
import { serverRooms } from './shortage/serverRooms.ts'
import { defaultServerLimit, ServerLimits } from './spaces/serverLimits.ts'
import { SpaceBudgets } from './spaces/spaceBudgets.ts'

export interface ApiServer extends ApiServerFace {
  /** Ends watches, waits for running requests and queued writes, closes the store. */
  close(): Promise<void>
}

/** Durations of commits, in seconds: a disk that syncs well takes one or a few ms. */
const COMMIT_BOUNDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { log, dataDir } = options
  const named = options.namedCertificate && (await readNamedCertificate(options.namedCertificate))
  const address = advertisedAddress({ ...options, interfaces: networkInterfaces() })
  const hostnames = [options.bindAddress, ...options.externalHostnames, ...(options.furtherNames ?? [])].filter(
    host => !isWildcard(host),
  )
  const certificateClock = options.certificateClock ?? idleClock
  const ensure = (): Promise<Pki> =>
    ensurePki(join(dataDir, 'pki'), { hostnames, ips: [address], clock: certificateClock.now })
  const established = existsSync(join(dataDir, 'pki', 'ca.key'))
  const { rooms, stop } = options.rooms ? { rooms: options.rooms, stop: () => {} } : await serverRooms(options)
  const limits = new ServerLimits({ ...defaultServerLimit(heapLimitBytes()), ...options.serverLimit }, log)
  const budgets = new SpaceBudgets({ rooms, limits, isCarried: isCarriedUp, carriedMark: CARRIED_MARK })
  const work = new WorkTurns({ clock: () => performance.now(), pauseLimitMs: PAUSE_LIMIT_MS })
  const commits = options.apiThreads ? new SharedLog({ logger: log, packed: collectSoon }) : undefined
  const commitSeconds = new Distribution(COMMIT_BOUNDS)
  const commitTimes = new CommitTimes()
  const opening = openEngine('disk', {
    committed: ({ seconds, revision, atMs }) => {
      commitSeconds.add(seconds)
      commitTimes.add(revision, atMs)
    },
    ...(commits && { log: commits }),
    budget: budgets,
    later: turn => work.soon(turn),
    dataDir,
    acceptLoss: options.acceptLoss,
    logger: log,
    ...(options.historyAgeMs && { historyAgeMs: options.historyAgeMs }),
  })
  const hostPort = options.aggregated && new AggregatedPort(options, options.aggregated)
  // The first time the store comes first: so keys without a store always mean that it was lost.
  const having = established ? ensure() : opening.then(ensure)
  const recovering = established ? having.then(pki => hostPort?.recover(tlsOf(pki), work)) : undefined
  let pki: Pki
  let store: Store
  try {
    ;[pki, store] = await Promise.all([having, opening, recovering])
  } catch (error) {
    await recovering?.catch(() => undefined)
    await hostPort?.close()
    stop()
    throw error
  }
  let server: { parts: readonly Part[]; face: ApiServerFace }
  let setAside: SetAside | undefined
  try {
    // behind the store: who has that has the folder alone
    setAside = new SetAside({ dataDir, logger: log, clock: options.trialClock ?? systemClock })
    server = await serverParts(options, {
      pki,
      ensure,
      clock: certificateClock,
      store,
      work,
      budgets,
      setAside,
      address,
      named,
      commits,
      commitSeconds,
      commitTimes,
      hostPort,
    })
  } catch (error) {
    await hostPort?.close()
    setAside?.close()
    await store.close()
    stop()
    throw error
  }
  const lifecycle = new Lifecycle(server.parts)
  await lifecycle.start()
  return Object.assign(server.face, { close: () => lifecycle.stop().finally(stop) })
}
