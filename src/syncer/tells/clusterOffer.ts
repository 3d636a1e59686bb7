/** What of all that a cluster serves is told to the center: what its syncer could carry. Pure. */

import type { DiscoveredResource } from '../../client/client.ts'
import { type Offer, offerOf } from '../../placement/outcome/offer.ts'
import type { Allowance } from '../mailbox/allowance.ts'

export function clusterOffer(served: Iterable<DiscoveredResource>, allowance: Pick<Allowance, 'mayCarry'>): Offer {
  const carried = [...served].filter(
    resource =>
      resource.verbs.includes('list') &&
      resource.verbs.includes('watch') &&
      allowance.mayCarry(resource, resource.namespaced),
  )
  return offerOf(carried.map(({ group, resource, version, versions = [version] }) => ({ group, resource, versions })))
}
