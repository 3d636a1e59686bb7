/** The parts that bring an object into the cluster or take it out, put together for a syncer and for a rehearsal. */
import { keyText, type SyncKey } from '../mailbox/mirror.ts'
import { ownerOf } from '../objects/marks.ts'
import { Carrier } from './carrier.ts'
import { ClusterOwners } from './clusterOwners.ts'
import { Comparison } from './comparison.ts'
import type { DownsyncContext } from './context.ts'
import { ObjectWriter } from './objectWriter.ts'
import { Removals } from './removals.ts'

interface ClusterPartsDeps extends DownsyncContext {
  /** Whether the object is being worked on. */
  isBusy(key: SyncKey): boolean
  /** The object left the cluster: all that was known of it ends. */
  forgotten(key: SyncKey): void
}

export interface ClusterParts {
  readonly comparison: Comparison
  readonly carrier: Carrier
  readonly owners: ClusterOwners
  readonly removals: Removals
}

export function clusterParts(deps: ClusterPartsDeps): ClusterParts {
  const { echoes } = deps
  const writer = new ObjectWriter({
    ...deps,
    ensureNamespace: (name, owner) => carrier.ensureNamespace(name, owner),
  })
  const owners: ClusterOwners = new ClusterOwners({
    ...deps,
    writer: live => writer.as(ownerOf(live)),
    staysPreserved: key => removals.staysPreserved(key),
  })
  const removals: Removals = new Removals({
    ...deps,
    writer,
    owners,
    forget: key => {
      echoes.forget(keyText(key))
      carrier.forget(key)
      deps.forgotten(key)
    },
  })
  const comparison = new Comparison({ ...deps, owners })
  const carrier: Carrier = new Carrier({ ...deps, comparison, writer, owners, removals })
  return { comparison, carrier, owners, removals }
}
