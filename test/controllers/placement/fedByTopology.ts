import type { ControllerHandle } from '../../../src/controllers/controllerHandle.ts'
import { Topology, type TopologyDeps } from '../../../src/controllers/placement/inventory/topology.ts'

/** Starts a controller with a topology of its own. */
export function fedByTopology<D extends TopologyDeps>(
  start: (deps: D & { topology: Topology }) => ControllerHandle,
  deps: D,
): ControllerHandle {
  const topology = new Topology(deps)
  const handle = start({ ...deps, topology })
  topology.start()
  return {
    ...handle,
    async stop() {
      await Promise.all([topology.stop(), handle.stop()])
    },
  }
}
