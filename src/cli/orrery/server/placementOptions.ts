/** Options of an API server in which placement works: the server knows nothing of it by itself. */
import { groupResourceName } from '../../../apimachinery/object.ts'
import type { Elsewhere } from '../../../apiserver/admission/elsewhere.ts'
import { systemUser } from '../../../apiserver/registry/context.ts'
import type { FirstObject } from '../../../apiserver/spaces/initialSpaces.ts'
import {
  bindingName,
  EVERYTHING,
  grantName,
  inventoryBinding,
  placementGrant,
} from '../../../placement/consent/consentObjects.ts'
import {
  CARRIERS,
  IN_MAILBOX,
  INVENTORY_BINDINGS,
  PLACEMENT_CONTENTS,
  PLACEMENT_GRANTS,
} from '../../../placement/words/placement.ts'

/**
 * Which part of what the server holds is judged at another place: mailboxes are pictures of what lives in a cluster. Contents of
 * revisions were judged as objects of their space, and a webhook would read Secrets in them.
 */
export const elsewhere: Elsewhere = {
  users: new Set(CARRIERS.map(systemUser)),
  paths: IN_MAILBOX,
  kinds: new Set([PLACEMENT_CONTENTS].map(groupResourceName)),
}

const INVENTORY = 'root:imw1'
const WORKLOAD = 'root:wmw1'

/** From the first start on the first workload space uses the first inventory, and may place there whatever it likes. */
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
