/**
 * What placement means for data of an earlier release: mailboxes are recognized by their names, and whatever an
 * EdgePlacement's slice leads to gets the binding and the grant that it did not need there. Nothing else gets any.
 */
import { isRecord, type KubeObject } from '../apimachinery/object.ts'
import {
  EDGE_PLACEMENTS,
  INVENTORY_BINDINGS,
  isInMailbox,
  MAILBOX_NAME,
  MAILBOX_PARENT,
  PLACEMENT_GRANTS,
  SLICES,
} from '../apimachinery/placement.ts'
import type { EarlierState } from '../apiserver/spaces/earlierData.ts'
import type { EarlierData, FirstObject } from '../apiserver/spaces/initialSpaces.ts'
import {
  bindingName,
  EVERYTHING,
  grantName,
  inventoryBinding,
  placementGrant,
  shortName,
} from '../controllers/consent/consentObjects.ts'

const MAX_LABEL = 63

export const EARLIER_DATA: EarlierData = {
  typeOf: path => (isMailbox(path) ? 'mailbox' : undefined),
  objects: consents,
}

async function* consents(state: EarlierState): AsyncIterable<FirstObject> {
  for (const [space, inventories] of await usedInventories(state)) {
    const names = new Set<string>()
    for (const inventory of [...inventories].sort()) {
      const name = freeName(bindingName(inventory), names)
      yield {
        path: inventory,
        resource: PLACEMENT_GRANTS,
        object: placementGrant(grantName(space), { path: space }, EVERYTHING),
      }
      yield { path: space, resource: INVENTORY_BINDINGS, object: inventoryBinding(name, inventory) }
    }
  }
}

/** By path of the workload space: paths of the inventories that its slices lead to. */
async function usedInventories(state: EarlierState): Promise<Map<string, Set<string>>> {
  const used = new Map<string, Set<string>>()
  for await (const { space, object } of state.list(SLICES)) {
    const path = state.pathOf(space)
    if (path === undefined || isInMailbox(path) || path === MAILBOX_PARENT) continue
    const inventories = inventoriesOf(object).flatMap(id => state.pathOf(id) ?? [])
    if (inventories.length === 0 || !(await state.has(space, EDGE_PLACEMENTS, object.metadata.name ?? ''))) continue
    const known = used.get(path) ?? new Set()
    for (const inventory of inventories)
      if (!isInMailbox(inventory) && inventory !== MAILBOX_PARENT) known.add(inventory)
    if (known.size > 0) used.set(path, known)
  }
  return used
}

/** Ids of spaces, each once. */
function inventoriesOf({ destinations }: KubeObject): string[] {
  const ids = (Array.isArray(destinations) ? destinations : []).map(to => (isRecord(to) ? to.cluster : undefined))
  return [...new Set(ids)].filter(id => typeof id === 'string')
}

/** `root:a:b` and `root:a-b` would be called the same. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let n = 2; taken.has(free); n++) free = shortName(`${name}-${n}`, MAX_LABEL)
  taken.add(free)
  return free
}

function isMailbox(path: string): boolean {
  return path.startsWith(`${MAILBOX_PARENT}:`) && MAILBOX_NAME.test(path.slice(MAILBOX_PARENT.length + 1))
}
