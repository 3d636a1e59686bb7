/** The garbage collector over all spaces: one stream feeds the graph, the graph wakes objects, each is judged on its own. */

import type { Controller } from '../../client/controller.ts'
import type { StreamedRef } from '../../client/streamSource.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'
import { DependencyGraph, refId } from './dependencyGraph.ts'
import { GarbageReconciler } from './garbageReconciler.ts'
import { OwnerReader } from './ownerReader.ts'

/** Objects judged at the same time. */
const CONCURRENCY = 16

export function garbageCollector(runtime: ControllerRuntime): Controller<StreamedRef> {
  const { client, turns, clock } = runtime
  const wakeAll = (refs: Iterable<StreamedRef>, owner: string) => controller.addAll(refs, owner)
  const graph = new DependencyGraph({
    wake: ref => controller.add(ref),
    wakeAll,
    kindsChanged: space => reconciler.kindsChanged(space),
  })
  const owners = new OwnerReader(client, clock)
  const reconciler = new GarbageReconciler({ client, graph, owners, wakeAll, turns })
  const controller = spacesController<StreamedRef>({
    ...runtime,
    name: 'garbage-collector-controller',
    handler: graph,
    reconcile: ref => reconciler.reconcile(ref),
    concurrency: CONCURRENCY,
    id: refId,
  })
  return controller
}
