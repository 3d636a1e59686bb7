/** Status of an InventoryBinding: whether the inventory grants, and the space to which it is pinned since its first grant. */
import type { Condition } from '../../apimachinery/conditions.ts'
import type { Client } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { INVENTORY_BINDINGS } from '../../placement/words/placement.ts'
import type { Binding, ConsentIndex } from '../consent/consentIndex.ts'
import type { SpacePlaces } from '../placedSource.ts'
import type { ObjectId } from '../placement/inventory/inventory.ts'
import { writeStatus } from '../writeStatus.ts'

const GRANTED = 'Granted'

interface BindingDeps {
  client: Client
  consent: ConsentIndex
  places: SpacePlaces
  /** Milliseconds since the epoch. */
  now: () => number
  fieldManager: string
}

type Finding = Pick<Condition, 'status' | 'reason' | 'message'>

export async function reconcileBinding(deps: BindingDeps, { space, name }: ObjectId): Promise<void> {
  const binding = deps.consent.bindingOf(space, name)
  const finding = binding && findingOf(deps, binding)
  if (!finding) return
  const api = deps.client.in(space)
  const object = await unlessGone(api.get(INVENTORY_BINDINGS, { name }))
  if (!object || object.metadata.deletionTimestamp !== undefined) return
  const pin = finding.status === 'True' && binding.pinned === undefined ? binding.inventory : undefined
  const { generation: observedGeneration = 0 } = object.metadata
  const condition = { type: GRANTED, ...finding, observedGeneration }
  const news = { conditions: [condition], fields: { ...(pin !== undefined && { cluster: pin }) } }
  // a binding that was made again meanwhile is another one: neither condition nor pin is about it
  await writeStatus(api, [INVENTORY_BINDINGS, object], news, { fieldManager: deps.fieldManager, nowMs: deps.now() })
}

/**
 * The same words whether there is no such space or it grants nothing: who may not enter it learns nothing of it. `undefined`
 * while it is not known.
 */
function findingOf(
  { consent, places }: BindingDeps,
  { space, path, inventory, replaced }: Binding,
): Finding | undefined {
  if (replaced) {
    const message = `${path} is another space now than the one that granted; if the new one is meant, delete this InventoryBinding and make it again`
    return { status: 'False', reason: 'InventoryReplaced', message }
  }
  if (inventory !== undefined && consent.grantsFor(space, inventory).length > 0) {
    const message = `${path} lets this space place; "kubectl get grantedlocations" tells where`
    return { status: 'True', reason: 'Granted', message }
  }
  if (inventory !== undefined && consent.isUncertain(space, inventory)) return undefined
  const line = `kubectl kubestellar grant --imw ${path} ${places.pathOf(space) ?? space}`
  const message = `no PlacementGrant in ${path} is for this space; ask who administers it for: ${line}`
  return { status: 'False', reason: 'NotGranted', message }
}
