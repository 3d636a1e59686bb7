/**
 * The where-resolver: writes for each EdgePlacement the SinglePlacementSlices that say where its objects go, and tells placements and
 * Locations what came of their selectors. A space may place where its InventoryBindings lead and the PlacementGrants there allow. The
 * resolver reports it on the bindings, and to the space by a GrantedLocation for each Location.
 *
 * Nothing is written before all of these kinds are known whole, and what is not known takes nothing away.
 */
import { at } from '../../apimachinery/fields.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import type { Client } from '../../client/client.ts'
import { Controller } from '../../client/controller.ts'
import type { StreamedRef } from '../../client/streamSource.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { compileSelector, faultAnnotations, placementFaults } from '../../placement/select/selectors.ts'
import { EDGE_PLACEMENTS, GRANTED_LOCATIONS, LOCATIONS, SLICES } from '../../placement/words/placement.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { type ControllerHandle, startController } from '../controllerHandle.ts'
import { listedFaults } from '../listedFaults.ts'
import type { SpacePlaces } from '../placedSource.ts'
import type { ObjectId } from '../placement/inventory/inventory.ts'
import type { Topology } from '../placement/inventory/topology.ts'
import type { Streamed } from '../placement/inventory/topologyFacts.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import type { ControllerRuntime } from '../spacesController.ts'
import type { WhereDesk } from '../whereDesk.ts'
import { writeStatus } from '../writeStatus.ts'
import { reconcileBinding } from './bindingStatus.ts'
import { reconcileGranted } from './grantedLocations.ts'
import { scheduledConditions } from './scheduledCondition.ts'
import { skippedConditions } from './skippedCondition.ts'
import { SliceNames } from './sliceNames.ts'
import { writeSlices } from './sliceWriter.ts'
import { type Touched, WhereIndex } from './whereIndex.ts'

interface WhereResolverDeps extends ControllerRuntime {
  places: SpacePlaces
  /** Feeds it. */
  topology: Topology
  /** How long a destination stays that is to go. Default: 100. */
  keepMs?: number | undefined
  /** Where it makes itself known as who says where placements would lead. Absent: nobody asks. */
  desk?: WhereDesk | undefined
}

interface Key extends ObjectId {
  readonly type: 'placement' | 'location' | 'granted' | 'binding'
}

/**
 * How long a destination stays that is to go: what else takes it over, another placement or space, is given it before. So a
 * cluster that changes sides never loses an object that both sides have.
 */
const KEEP_MS = 100
const OPTIONS = { fieldManager: 'where-resolver' }

/** Starts at once and runs until `stop`. */
export function startWhereResolver(deps: WhereResolverDeps): ControllerHandle {
  const { client, places, turns, clock, desk, topology } = deps
  const add = (type: Key['type'], { space, name }: ObjectId): void => controller.add({ type, space, name })
  const { facts } = topology
  const index = new WhereIndex(places, facts, {
    placement: id => add('placement', id),
    location: id => add('location', id),
    binding: id => add('binding', id),
    all: (touched, owner) => controller.addAll(keysOf(touched), owner),
  })
  const slices = new SliceNames()
  const losing = new Map<string, number>()
  const { keepMs = KEEP_MS } = deps
  const objectChanged = ({ resource: { resource }, space, name }: StreamedRef, now: Streamed): void => {
    const object = now.object?.metadata.deletionTimestamp === undefined ? now.object : undefined
    if (resource === EDGE_PLACEMENTS.resource) index.setPlacement({ space, name }, object)
    else if (resource === GRANTED_LOCATIONS.resource) add('granted', { space, name })
    else if (resource === SLICES.resource)
      for (const placement of slices.seen({ space, name }, object)) add('placement', { space, name: placement })
  }
  const written = { client, fieldManager: OPTIONS.fieldManager }
  const now = () => clock.now()
  const binding = { ...written, consent: index.consent, places, now }
  const placements = { client, index, slices, losing, keepMs, now, turns }
  const reconcile = async (key: Key): Promise<ReconcileResult> => {
    if (key.type === 'placement') return await reconcilePlacement(placements, key)
    if (key.type === 'location') await reconcileLocation(client, index, key, now())
    else if (key.type === 'granted') await reconcileGranted({ ...written, index }, key)
    else await reconcileBinding(binding, key)
    return {}
  }
  facts.read(index)
  facts.read({
    objectChanged,
    // before that it would miss Locations that the stream has yet to deliver
    synced: () => desk?.answerWith((space, placement) => index.wouldLead(space, placement, now())),
  })
  const controller = new Controller<Key>({
    name: 'where-resolver',
    ...deps,
    id: key => `${key.type} ${key.space} ${key.name}`,
    party: ({ space }) => space,
    sources: [topology.source],
    reconcile: async key => (await unlessSpaceGone(key.space, reconcile(key))) ?? {},
  })
  const handle = startController(controller)
  return {
    ...handle,
    stop: () => {
      desk?.answerWith(undefined)
      return handle.stop()
    },
  }
}

function* keysOf(touched: Iterable<Touched>): Generator<Key> {
  for (const { type, id } of touched) yield { type, space: id.space, name: id.name }
}

interface PlacementInputs {
  client: Client
  index: WhereIndex
  slices: SliceNames
  /** Since when placements are to lose destinations, by space and name. */
  losing: Map<string, number>
  keepMs: number
  now: () => number
  turns: WorkTurns
}

/** An eviction that is further off is looked for again: timers have their limits. */
const MOST_WAIT_MS = 86_400_000

async function reconcilePlacement(
  { client, index, slices, losing, keepMs, now, turns }: PlacementInputs,
  { space, name }: Key,
): Promise<ReconcileResult> {
  const work = turns.begin({ owner: space })
  // each of these may be a large part of a slice: a placement of ten thousand selectors is compared, parsed and judged
  const rest = async (): Promise<void> => {
    if (work.due) await work.rest()
  }
  const choices = await inSlices(index.choices({ space, name }), work)
  const nowMs = now()
  const resolved = index.resolve({ space, name }, nowMs, choices)
  if (!resolved) {
    losing.delete(`${space} ${name}`)
    return {} // the slice goes with its owner
  }
  const api = client.in(space)
  await rest()
  const placement = await unlessGone(api.get(EDGE_PLACEMENTS, { name }))
  if (!placement || placement.metadata.deletionTimestamp !== undefined) return {}
  await rest()
  const id = `${space} ${name}`
  const mayLose = nowMs - (losing.get(id) ?? nowMs) >= keepMs || resolved.evicted.length > 0
  const { avoided, keeps } = await writeSlices({ client, slices, ...OPTIONS }, space, placement, resolved, mayLose)
  if (!keeps) losing.delete(id)
  else if (!losing.has(id)) losing.set(id, nowMs)
  await rest()
  const faults = faultAnnotations(placement, listedFaults(placementFaults(placement.spec)))
  await rest()
  const body = { metadata: { annotations: faults } }
  const current = faults ? await api.patch(EDGE_PLACEMENTS, { name }, 'merge', body, OPTIONS) : placement
  const { matchingLocationCount, evicted } = resolved
  const conditions = [...scheduledConditions(current, { evicted, avoided }), ...skippedConditions(current)]
  const fields = { specGeneration: placement.metadata.generation ?? 0, matchingLocationCount }
  await writeStatus(api, [EDGE_PLACEMENTS, current], { conditions, fields }, { ...OPTIONS, nowMs })
  if (keeps) return { requeueAfterMs: keepMs }
  const { evictsAtMs } = resolved
  return Number.isFinite(evictsAtMs) ? { requeueAfterMs: Math.min(evictsAtMs - nowMs, MOST_WAIT_MS) } : {}
}

async function reconcileLocation(
  client: Client,
  index: WhereIndex,
  { space, name }: Key,
  nowMs: number,
): Promise<void> {
  const counts = index.countOf({ space, name })
  if (!counts) return
  const api = client.in(space)
  const location = await unlessGone(api.get(LOCATIONS, { name }))
  if (!location || location.metadata.deletionTimestamp !== undefined) return
  const selector = at(location.spec, 'instanceSelector')
  const faults = faultAnnotations(location, listedFaults(compileSelector(selector, 'spec.instanceSelector').faults))
  if (faults) await api.patch(LOCATIONS, { name }, 'merge', { metadata: { annotations: faults } }, OPTIONS)
  await writeStatus(api, [LOCATIONS, location], { fields: { ...counts } }, { ...OPTIONS, nowMs })
}
