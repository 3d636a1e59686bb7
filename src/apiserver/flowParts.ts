/** Flow control of a server, over its open store and its registry: requests in flight, and the objects that configure it. */

import { systemClock } from '../client/clock.ts'
import type { Store } from '../storage/store.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import { servingThreads } from './apiThreadOptions.ts'
import type { UserInfo } from './auth/types.ts'
import { isSyncerOf } from './authority/syncerIdentity.ts'
import { obeyFlows } from './flowcontrol/effectiveFlows.ts'
import { FlowControl } from './flowcontrol/flowControl.ts'
import { FlowMaintainer } from './flowcontrol/flowMaintainer.ts'
import { HeldRequests, shareOf } from './flowcontrol/heldRequests.ts'
import { DEFAULT_IN_FLIGHT, InFlight } from './flowcontrol/inFlight.ts'
import { countOnly } from './flowcontrol/maxInFlight.ts'
import { RequestWork } from './flowcontrol/requestWork.ts'
import { UNREAD } from './flowcontrol/runningRequests.ts'
import { ONE_SEAT } from './flowcontrol/seats.ts'
import type { FollowerDeps } from './following/followLog.ts'
import { deleteObject } from './operations/remove.ts'
import type { Registry, RegistryDeps } from './registry/registry.ts'
import { ROOT, type SpaceTree } from './spaces/tree.ts'
import type { TypeRegistry } from './types/typeRegistry.ts'

export interface FlowParts {
  readonly inFlight: InFlight
  readonly flows: FlowMaintainer
}

interface FlowPartsDeps {
  store: Store
  types: TypeRegistry
  tree: SpaceTree
  registryDeps: RegistryDeps
  registry: Registry
  follower: FollowerDeps
  /** Threads share what unread watches may have in hand. */
  isReplica: boolean
}

export function flowParts(
  options: ApiServerOptions,
  { store, types, tree, registryDeps, registry, follower, isReplica }: FlowPartsDeps,
): FlowParts {
  const { inFlight: limits = DEFAULT_IN_FLIGHT, fairness: isFair = true } = options
  const isSyncer = (user: UserInfo): boolean => options.spaces && isSyncerOf(user, tree)
  const clock = (): number => performance.now()
  const flowControl = new FlowControl({
    clock: { now: clock, after: systemClock.after },
    seats: limits.reading + limits.mutating,
    root: ROOT,
    isSyncer,
    lineageOf: space => tree.lineageOf(space),
  })
  if (isFair) obeyFlows({ store, root: ROOT, flowControl })
  else countOnly(flowControl, limits)
  const work = new RequestWork({ store, types, clock })
  return {
    inFlight: new InFlight({
      limits,
      flowControl,
      isSyncer,
      unread: new HeldRequests(isReplica ? shareOf(UNREAD, servingThreads(options)) : UNREAD),
      estimate: isFair ? (...request) => work.of(...request) : () => ONE_SEAT,
      clock,
    }),
    flows: new FlowMaintainer({
      store,
      registry,
      types,
      root: ROOT,
      remove: (context, type, name, uid) =>
        deleteObject(registryDeps, context, type, { namespace: '', name }, { preconditions: { uid } }),
      ...follower,
    }),
  }
}
