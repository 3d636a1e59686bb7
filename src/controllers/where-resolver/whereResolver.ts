/**
 * The where-resolver: writes for each EdgePlacement the SinglePlacementSlice that says where its objects go, and tells
 * placements and Locations what came of their selectors.
 */
import { type GroupVersionResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { EDGE_PLACEMENTS, LOCATIONS, SLICES, SYNC_TARGETS } from '../../apimachinery/placement.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { Controller } from '../../client/controller.ts'
import type { Logger } from '../../client/logger.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ControllerHandle } from '../controllerHandle.ts'
import { PlacedSource, type SpacePlaces } from '../placedSource.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import { toldFaults } from '../toldFaults.ts'
import { compileSelector, faultAnnotations, placementFaults } from './selectors.ts'
import { type ObjectId, type SliceDestination, WhereIndex } from './whereIndex.ts'

export interface WhereResolverDeps {
  client: Client
  places: SpacePlaces
  logger: Logger
  clock?: Clock
  random?: () => number
  signal: AbortSignal
}

interface Key extends ObjectId {
  readonly type: 'placement' | 'location'
}

const OPTIONS = { fieldManager: 'where-resolver' }

/** Starts at once and runs until `signal` aborts or `stop`. */
export function startWhereResolver(deps: WhereResolverDeps): ControllerHandle {
  const { client, places, logger, clock, random, signal } = deps
  const common = { client, logger, ...(clock && { clock }), ...(random && { random }) }
  const index = new WhereIndex({
    placement: ({ space, name }) => controller.add({ type: 'placement', space, name }),
    location: ({ space, name }) => controller.add({ type: 'location', space, name }),
  })
  const handle = (resource: string, { space, name }: ObjectId, object: KubeObject | undefined) => {
    if (resource === EDGE_PLACEMENTS.resource) index.setPlacement({ space, name }, object)
    else if (resource === LOCATIONS.resource) index.setLocation({ space, name }, object)
    else if (resource === SYNC_TARGETS.resource) index.setTarget({ space, name }, object)
    else controller.add({ type: 'placement', space, name })
  }
  const controller = new Controller<Key>({
    name: 'where-resolver',
    ...common,
    id: key => `${key.type} ${key.space} ${key.name}`,
    party: ({ space }) => space,
    sources: [
      new PlacedSource({
        ...common,
        places,
        space: '*',
        resources: [EDGE_PLACEMENTS, SLICES, LOCATIONS, SYNC_TARGETS],
        handler: {
          change: event => handle(event.resource.resource, event, liveObject(event)),
          vanished: ref => handle(ref.resource.resource, ref, undefined),
        },
      }),
    ],
    reconcile: key =>
      unlessSpaceGone(
        key.space,
        key.type === 'placement' ? reconcilePlacement(client, index, key) : reconcileLocation(client, index, key),
      ),
  })
  const stop = new AbortController()
  const running = controller.run(AbortSignal.any([signal, stop.signal]))
  return {
    idle: () => controller.queue.idle(),
    async stop() {
      stop.abort()
      await running
    },
  }
}

/** What is being deleted is treated as gone. */
function liveObject(event: StreamEvent): KubeObject | undefined {
  return event.type === 'DELETED' || event.object.metadata.deletionTimestamp !== undefined ? undefined : event.object
}

async function reconcilePlacement(client: Client, index: WhereIndex, { space, name }: Key): Promise<void> {
  const resolved = index.resolve({ space, name })
  if (!resolved) return // the slice goes with its owner
  const api = client.in(space)
  const placement = await unlessGone(api.get(EDGE_PLACEMENTS, { name }))
  if (!placement || placement.metadata.deletionTimestamp !== undefined) return
  await writeSlice(client, space, placement, resolved.destinations)
  const faults = faultAnnotations(placement, toldFaults(placementFaults(placement.spec)))
  if (faults) await api.patch(EDGE_PLACEMENTS, { name }, 'merge', { metadata: { annotations: faults } }, OPTIONS)
  const status = {
    specGeneration: placement.metadata.generation ?? 0,
    matchingLocationCount: resolved.matchingLocationCount,
  }
  await writeStatus(client, EDGE_PLACEMENTS, space, placement, status)
}

async function writeSlice(
  client: Client,
  space: string,
  placement: KubeObject,
  destinations: SliceDestination[],
): Promise<void> {
  const { name = '', uid = '' } = placement.metadata
  const api = client.in(space)
  const owner = { apiVersion: placement.apiVersion, kind: 'EdgePlacement', name, uid }
  const slice = await unlessGone(api.get(SLICES, { name }))
  if (!slice) {
    const metadata = { name, ownerReferences: [owner] }
    const fresh = { apiVersion: placement.apiVersion, kind: 'SinglePlacementSlice', metadata, destinations }
    await api.create(SLICES, fresh, OPTIONS)
    return
  }
  // an owner of the same name but another uid is a placement that is no more
  const others = (slice.metadata.ownerReferences ?? []).filter(o => o.kind !== owner.kind || o.name !== name)
  const kept = slice.metadata.ownerReferences?.find(o => o.uid === uid) ?? owner
  const ownerReferences = [...others, kept]
  const updated = { ...slice, metadata: { ...slice.metadata, ownerReferences }, destinations }
  if (!equalJson(updated, slice)) await api.update(SLICES, updated, OPTIONS)
}

async function reconcileLocation(client: Client, index: WhereIndex, { space, name }: Key): Promise<void> {
  const counts = index.countOf({ space, name })
  if (!counts) return
  const location = await unlessGone(client.in(space).get(LOCATIONS, { name }))
  if (!location || location.metadata.deletionTimestamp !== undefined) return
  const selector = isRecord(location.spec) ? location.spec.instanceSelector : undefined
  const faults = faultAnnotations(location, toldFaults(compileSelector(selector, 'spec.instanceSelector').faults))
  if (faults) await client.in(space).patch(LOCATIONS, { name }, 'merge', { metadata: { annotations: faults } }, OPTIONS)
  await writeStatus(client, LOCATIONS, space, location, counts)
}

async function writeStatus(
  client: Client,
  resource: GroupVersionResource,
  space: string,
  object: KubeObject,
  status: Record<string, number>,
): Promise<void> {
  const current = isRecord(object.status) ? object.status : {}
  if (Object.entries(status).every(([field, value]) => current[field] === value)) return
  const ref = { name: object.metadata.name ?? '' }
  await client.in(space).patch(resource, ref, 'merge', { status }, { ...OPTIONS, subresource: 'status' })
}
