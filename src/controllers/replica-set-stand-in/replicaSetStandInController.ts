/**
 * Keeps one ReplicaSet beside each Deployment of a workload space that tells what clusters report. Nothing runs there, so it has
 * none of its own, and Helm 3 waits for the ReplicaSet of the present template to be ready. Where there is another template the
 * stand-in of the earlier one goes; with the Deployment it goes as what everything owns does.
 *
 * A change of a stand-in wakes no work, unless it could travel. A client that rewrites it again and again, as a controller of ReplicaSets
 * would, gets its answer with the Deployment's next change.
 */

import { digestInSteps } from '../../apimachinery/jsonDigests.ts'
import { MapOfSets } from '../../apimachinery/nestedMaps.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient, StreamEvent } from '../../client/client.ts'
import type { Controller } from '../../client/controller.ts'
import type { StreamHandler } from '../../client/streamSource.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { isNatured, type Places } from '../../placement/spaces/nature.ts'
import { EXECUTING_COUNT_ANNOTATION, STAND_IN_ANNOTATION } from '../../placement/words/placement.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { SpacePlaces } from '../placedSource.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'
import { deploymentOf, hasStandIn, isStandIn, standInFor, standInStatus } from './standIn.ts'

/** Names a Deployment. */
interface DeploymentKey {
  /** Logical-cluster id. */
  readonly space: string
  readonly namespace: string
  readonly name: string
}

interface ReplicaSetStandInOptions extends ControllerRuntime {
  places: SpacePlaces & Places
}

const DEPLOYMENTS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'deployments' }
const REPLICA_SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'replicasets' }
/** Mark of a Deployment with feedback before a status comes back: all others cost no more than a look for it. */
const MAY_TELL = `"${EXECUTING_COUNT_ANNOTATION}"`
/** Letters and digits of a hash, as many as Kubernetes' may have. */
const HASH_LENGTH = 10

/** Which stand-ins there are, by Deployment. */
class StandIns implements StreamHandler {
  readonly #names = new MapOfSets<string>()
  readonly #places: Places
  readonly #wake: (key: DeploymentKey) => void

  constructor(places: Places, wake: (key: DeploymentKey) => void) {
    this.#places = places
    this.#wake = wake
  }

  of(key: DeploymentKey): readonly string[] {
    return [...this.#names.of(idOf(key))]
  }

  begin(): void {
    this.#names.clear()
  }

  change(event: StreamEvent): void {
    const { type, space, resource } = event
    if (type !== 'DELETED' && !this.#places.typeOf(space).describes) return
    if (resource.resource === REPLICA_SETS.resource) this.#replicaSet(event)
    else this.#deployment(event)
  }

  #deployment(event: StreamEvent): void {
    const { type, space, namespace, name } = event
    const key = { space, namespace, name }
    if (this.#names.has(idOf(key)) || (type !== 'DELETED' && event.mentions(MAY_TELL))) this.#wake(key)
  }

  #replicaSet(event: StreamEvent): void {
    const { type, space, namespace, name } = event
    const key = { space, namespace, name: deploymentOf(name) }
    const id = idOf(key)
    const stands = type !== 'DELETED' && event.mentions(STAND_IN_ANNOTATION) && isStandIn(event.object)
    const isNews = stands !== this.#names.of(id).has(name)
    if (stands) this.#names.add(id, name)
    else this.#names.delete(id, name)
    if (isNews || (stands && !isNatured(event.object))) this.#wake(key)
  }
}

export function replicaSetStandInController(options: ReplicaSetStandInOptions): Controller<DeploymentKey> {
  const { client, places, turns } = options
  const known = new StandIns(places, key => controller.add(key))
  const controller = spacesController<DeploymentKey>({
    ...options,
    name: 'replicaset-stand-in-controller',
    resources: [DEPLOYMENTS, REPLICA_SETS],
    handler: known,
    reconcile: key => reconcile({ api: client.in(key.space), known, turns }, key),
    id: idOf,
  })
  return controller
}

interface ReconcileDeps {
  api: SpaceClient
  known: Pick<StandIns, 'of'>
  turns: WorkTurns
}

async function reconcile({ api, known, turns }: ReconcileDeps, key: DeploymentKey): Promise<void> {
  const { space, namespace, name } = key
  const deployment = await unlessGone(api.get(DEPLOYMENTS, { namespace, name }))
  const hash = deployment && hasStandIn(deployment) && (await hashOf(deployment, turns, space))
  const wanted = hash ? standInFor(deployment, hash) : undefined
  // first, so that a space with no room left has it for the new one
  for (const other of known.of(key)) {
    if (other === wanted?.metadata.name) continue
    const earlier = await unlessGone(api.get(REPLICA_SETS, { namespace, name: other }))
    if (earlier && isStandIn(earlier)) await remove(api, earlier)
  }
  if (deployment && wanted) await keep(api, deployment, wanted)
}

async function keep(api: SpaceClient, deployment: KubeObject, wanted: KubeObject): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  let standing = await unlessGone(api.get(REPLICA_SETS, { namespace, name }))
  if (standing && !isStandIn(standing)) return // somebody's own
  if (standing?.metadata.deletionTimestamp !== undefined) return // its end wakes us
  if (standing && !isOwnedBy(standing, deployment)) {
    await remove(api, standing)
    standing = undefined
  }
  standing ??= await api.create(REPLICA_SETS, wanted)
  const desired = adjusted(standing, wanted)
  if (!equalJson(desired, standing)) standing = await api.update(REPLICA_SETS, desired)
  const status = standInStatus(deployment, standing.metadata.generation)
  if (equalJson(standing.status, status)) return
  await api.update(REPLICA_SETS, { ...standing, status }, { subresource: 'status' })
}

/** The present stand-in, with the fields that may differ under the same template. */
function adjusted(standing: KubeObject, { metadata, spec }: KubeObject): KubeObject {
  const labels = { ...standing.metadata.labels, ...metadata.labels }
  const { replicas } = spec as { replicas: unknown }
  return {
    ...standing,
    metadata: { ...standing.metadata, labels },
    spec: { ...(standing.spec as object), replicas },
  }
}

/** Or of an earlier Deployment of the name, or left behind by one. */
function isOwnedBy({ metadata }: KubeObject, { metadata: { uid } }: KubeObject): boolean {
  return metadata.ownerReferences?.some(owner => owner.controller === true && owner.uid === uid) === true
}

async function remove(api: SpaceClient, { metadata }: KubeObject): Promise<void> {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata
  await unlessGone(api.delete(REPLICA_SETS, { namespace, name }, { preconditions: { uid, resourceVersion } }))
}

/** A template may be large. */
async function hashOf({ spec }: KubeObject, turns: WorkTurns, owner: string): Promise<string> {
  const { template } = spec as { template: unknown }
  const { digest } = await inSlices(digestInSteps(template), turns.begin({ owner }))
  return Buffer.from(digest, 'base64').toString('hex').slice(0, HASH_LENGTH)
}

function idOf({ space, namespace, name }: DeploymentKey): string {
  return `${space}/${namespace}/${name}`
}
