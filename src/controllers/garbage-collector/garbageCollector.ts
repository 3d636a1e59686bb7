/** The garbage collector over all spaces: one stream feeds the graph, the graph wakes objects, each is judged on its own. */

import type { Random } from '../../client/backoff.ts'
import type { Client } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { Controller } from '../../client/controller.ts'
import type { Logger } from '../../client/logger.ts'
import type { KeyGuard } from '../../client/setAside/keyGuard.ts'
import { type StreamedRef, StreamSource } from '../../client/streamSource.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import { DependencyGraph, refId } from './dependencyGraph.ts'
import { GarbageReconciler } from './garbageReconciler.ts'
import { OwnerReader } from './ownerReader.ts'

interface GarbageCollectorOptions {
  client: Client
  logger: Logger
  /** Of its work queue. */
  guard?: KeyGuard | undefined
  /** Slices of the loop's time in which it takes events and works. */
  turns: WorkTurns
  /** Objects judged at the same time. Default 16. */
  concurrency?: number
  clock: Clock
  random: Random
}

export function garbageCollector(options: GarbageCollectorOptions): Controller<StreamedRef> {
  const { client, logger, clock, random } = options
  const wakeAll = (refs: Iterable<StreamedRef>, owner: string) => controller.addAll(refs, owner)
  const graph = new DependencyGraph({
    wake: ref => controller.add(ref),
    wakeAll,
    kindsChanged: space => reconciler.kindsChanged(space),
  })
  const owners = new OwnerReader(client, clock)
  const reconciler = new GarbageReconciler({ client, graph, owners, wakeAll, turns: options.turns })
  const controller = new Controller<StreamedRef>({
    name: 'garbage-collector-controller',
    guard: options.guard,
    turns: options.turns,
    party: ({ space }) => space,
    sources: [
      new StreamSource({
        client,
        space: '*',
        handler: graph,
        guard: options.guard,
        turns: options.turns,
        logger,
        clock,
        random,
      }),
    ],
    reconcile: ref => unlessSpaceGone(ref.space, reconciler.reconcile(ref)),
    concurrency: options.concurrency ?? 16,
    logger,
    id: refId,
    clock,
    random,
  })
  return controller
}
