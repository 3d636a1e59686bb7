/**
 * Objects that may travel, and objects on their way, as far as the registry must know: there it keeps account of unset fields. Everything
 * else costs nothing.
 */
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type SpaceType, serves } from '../../placement/spaces/spaceTypes.ts'
import { EDGE_PLACEMENTS, isInMailbox, isProjected } from '../../placement/words/placement.ts'
import type { Part, Travel } from '../registry/provenance.ts'

interface Places {
  typeOf(space: string): SpaceType
  pathOf(space: string): string | undefined
}

/** They never travel, or the server itself lives by them and wants them whole. */
const EXEMPT: ReadonlySet<string> = new Set([
  ...[CRDS, NAMESPACES].map(groupResourceName),
  'events',
  'events.events.k8s.io',
  'leases.coordination.k8s.io',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'nodes',
])

export function travelBetween(places: Places): Travel {
  return {
    partOf(space: string, type: ResourceType, object: KubeObject): Part | undefined {
      if (type.form === 'own' || EXEMPT.has(groupResourceName(type))) return undefined
      // Only a webhook knows what its fields are called in the store.
      if (type.custom?.convert !== undefined && type.version !== type.storageVersion) return undefined
      if (isProjected(object) && isInMailbox(places.pathOf(space) ?? '')) return 'copy'
      return serves(places.typeOf(space), EDGE_PLACEMENTS) ? 'source' : undefined
    },
  }
}
