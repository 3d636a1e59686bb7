/** The clusters that somebody means who names a Location of an inventory: the SyncTargets that it stands for. */
import { at } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { compileSelector } from '../../../placement/select/selectors.ts'
import { LOCATIONS, SYNC_TARGETS } from '../../../placement/words/placement.ts'
import { CommandError } from '../../shell/commandError.ts'
import { checkObjectName } from '../arguments.ts'
import { noLocation } from '../inventory/inventory.ts'

export interface NamedClusters {
  /** As it was written. */
  readonly name: string
  /** Never empty. */
  readonly targets: readonly KubeObject[]
  /** All that lead to one of them. */
  readonly locations: readonly KubeObject[]
}

const PAGE = { limit: 500 }

/** @throws CommandError where the name is that of no Location and no SyncTarget, or of a Location that stands for no cluster */
export async function clustersNamed(inventory: SpaceClient, name: string): Promise<NamedClusters> {
  checkObjectName(name)
  const [locations, targets] = await Promise.all([
    listAll(inventory, LOCATIONS, PAGE),
    listAll(inventory, SYNC_TARGETS, PAGE),
  ])
  const location = locations.items.find(({ metadata }) => metadata.name === name)
  const isMeant = location ? standsFor(location) : ({ metadata }: KubeObject) => metadata.name === name
  const meant = targets.items.filter(isMeant)
  if (meant.length === 0) {
    if (!location) throw await noLocation(inventory, name)
    throw new CommandError(`Location "${name}" stands for no cluster: spec.instanceSelector selects no SyncTarget`)
  }
  return { name, targets: meant, locations: locations.items.filter(one => meant.some(standsFor(one))) }
}

/** One SyncTarget, whatever Location leads there. */
export async function clusterOf(inventory: SpaceClient, target: KubeObject): Promise<NamedClusters> {
  const { items } = await listAll(inventory, LOCATIONS, PAGE)
  return {
    name: target.metadata.name ?? '',
    targets: [target],
    locations: items.filter(location => standsFor(location)(target)),
  }
}

function standsFor(location: KubeObject): (target: KubeObject) => boolean {
  const [selector] = compileSelector(at(location, 'spec', 'instanceSelector'), 'spec.instanceSelector').selectors
  return ({ metadata }) => selector?.matches(metadata.labels) === true
}
