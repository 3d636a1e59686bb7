/** What grants say of objects and mailboxes, all placements of a space together. */
import type { Allowance, Told } from '../../../placement/consent/allowance.ts'
import { refusedByAll } from '../../../placement/consent/refusedByAll.ts'
import { parseObjectKey } from '../../../placement/words/names.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { SpaceClusterDeps } from './spaceCluster.ts'

export function grantFindings(
  join: Pick<PlacementJoin, 'placementNames' | 'placementsOf' | 'waysOf' | 'workload'>,
  consents: { allowance(space: string, way: Destination): Allowance },
): Pick<SpaceClusterDeps, 'allowsAll' | 'refusal'> {
  const waysTo = (space: string, mailbox: string, wants: (placement: string) => boolean): Allowance[] =>
    join
      .placementsOf(mailbox)
      .filter(placement => placement.space === space && wants(placement.name))
      .flatMap(({ name }) => join.waysOf(space, name)?.get(mailbox) ?? [])
      .map(way => consents.allowance(space, way))
  return {
    allowsAll: (space, mailbox) => waysTo(space, mailbox, () => true).every(({ allowsAll }) => allowsAll),
    refusal: (space, mailbox, key): Told | undefined => {
      const workload = join.workload(space)
      const allowances = waysTo(space, mailbox, name => workload.selects(name, key))
      return refusedByAll(allowances, parseObjectKey(key))
    },
  }
}
