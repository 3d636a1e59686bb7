/** From the first start on the first workload space uses the first inventory, and may place there whatever it likes. */

import type { FirstObject } from '../../../apiserver/spaces/initialSpaces.ts'
import {
  bindingName,
  EVERYTHING,
  grantName,
  inventoryBinding,
  placementGrant,
} from '../../../placement/consent/consentObjects.ts'
import { INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../../../placement/words/placement.ts'

const INVENTORY = 'root:imw1'
const WORKLOAD = 'root:wmw1'

export const FIRST_OBJECTS: readonly FirstObject[] = [
  {
    path: INVENTORY,
    resource: PLACEMENT_GRANTS,
    object: placementGrant(grantName(WORKLOAD), { path: WORKLOAD }, EVERYTHING),
  },
  {
    path: WORKLOAD,
    resource: INVENTORY_BINDINGS,
    object: inventoryBinding(bindingName(INVENTORY), INVENTORY),
  },
]
