/** Bindings and grants against a small server in memory, whose spaces are children of the root named by their ids. */

import { EVERYTHING, inventoryBinding, placementGrant } from '../../../src/placement/consent/consentObjects.ts'
import { INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../../../src/placement/words/placement.ts'
import type { FakeServer } from '../placement/fakeServer.ts'

/** `wds` uses `inventory`, by an InventoryBinding of its name, and is granted everything there, by a PlacementGrant of its own. */
export async function consent(server: FakeServer, inventory: string, wds: string): Promise<void> {
  await bind(server, wds, inventory)
  await grant(server, inventory, wds)
}

export async function bind(server: FakeServer, wds: string, inventory: string): Promise<void> {
  await server.in(wds).create(INVENTORY_BINDINGS, inventoryBinding(inventory, `root:${inventory}`))
}

/** The path stands alone: no admission fills in the id. */
export async function grant(
  server: FakeServer,
  inventory: string,
  wds: string,
  spec: Record<string, unknown> = EVERYTHING,
): Promise<void> {
  await server.in(inventory).create(PLACEMENT_GRANTS, placementGrant(wds, { path: `root:${wds}` }, spec))
}
