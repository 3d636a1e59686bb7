/**
 * The translator's client: each write into a mailbox can say which EdgePlacements of which spaces are behind it, for the audit
 * log. Nothing is worked out unless somebody records the write.
 */
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import type {
  Because,
  Client,
  DeleteOptions,
  DiscoveredResource,
  ListOptions,
  ObjectList,
  ObjectRef,
  PatchType,
  SpaceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../../client/client.ts'
import { objectKey } from '../../../placement/words/names.ts'
import { MAILBOX_PARENT } from '../../../placement/words/placement.ts'
import type { SpacePlaces } from '../../placedSource.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Cause } from '../join/placementProduct.ts'

/** JSON: a list of `{"cluster","path","edgePlacement"}`; the placement only where one still wants the object. */
export const PLACED_BY = 'edge.kubestellar.io/placed-by'

/** More are counted, not named. */
const NAMED = 20

export interface ExplanationDeps {
  join: Pick<PlacementJoin, 'causesOf'>
  places: Pick<SpacePlaces, 'pathOf'>
  /** Id of the space that a copy was made from, as far as that is known. */
  cameFrom(mailbox: string, key: string): string | undefined
}

export function explainedClient(client: Client, deps: ExplanationDeps): Client {
  return {
    in: space => new ExplainedSpace(client.in(space), deps, space),
    stream: options => client.stream(options),
    // nothing of what somebody records is written so
    ...(client.createCopies && { createCopies: creations => client.createCopies!(creations) }),
    ...(client.updateCopies && { updateCopies: updates => client.updateCopies!(updates) }),
    ...(client.deleteCopies && { deleteCopies: deletions => client.deleteCopies!(deletions) }),
  }
}

class ExplainedSpace implements SpaceClient {
  readonly #api: SpaceClient
  readonly #deps: ExplanationDeps
  readonly #space: string

  constructor(api: SpaceClient, deps: ExplanationDeps, space: string) {
    this.#api = api
    this.#deps = deps
    this.#space = space
  }

  get(resource: GroupVersionResource, ref: ObjectRef): Promise<KubeObject> {
    return this.#api.get(resource, ref)
  }

  list(resource: GroupVersionResource, options?: ListOptions): Promise<ObjectList> {
    return this.#api.list(resource, options)
  }

  watch(resource: GroupVersionResource, options: WatchOptions): AsyncIterable<readonly WatchEvent[]> {
    return this.#api.watch(resource, options)
  }

  discover(): Promise<DiscoveredResource[]> {
    return this.#api.discover()
  }

  create(resource: GroupVersionResource, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.#api.create(resource, object, this.#explained(resource, object.metadata, options))
  }

  update(resource: GroupVersionResource, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.#api.update(resource, object, this.#explained(resource, object.metadata, options))
  }

  patch(
    resource: GroupVersionResource,
    ref: ObjectRef,
    type: PatchType,
    body: unknown,
    options?: WriteOptions,
  ): Promise<KubeObject> {
    return this.#api.patch(resource, ref, type, body, this.#explained(resource, ref, options))
  }

  delete(resource: GroupVersionResource, ref: ObjectRef, options?: DeleteOptions): Promise<void> {
    return this.#api.delete(resource, ref, this.#explained(resource, ref, options))
  }

  #explained<T extends object>(
    resource: GroupVersionResource,
    { namespace = '', name = '' }: { namespace?: string; name?: string },
    options: T | undefined,
  ): T & { because: Because } {
    const because: Because = () => explanation(this.#deps, this.#space, objectKey(resource, namespace, name))
    return { ...(options as T), because }
  }
}

function explanation(deps: ExplanationDeps, space: string, key: string): Record<string, string> {
  const { join, places, cameFrom } = deps
  const path = places.pathOf(space)
  const parent = `${MAILBOX_PARENT}:`
  if (!path?.startsWith(parent)) return {}
  const mailbox = path.slice(parent.length)
  const wanting = join.causesOf(mailbox, key)
  // a copy that nothing wants any more goes: its owner is named
  const owner = cameFrom(mailbox, key)
  const causes: readonly Cause[] = wanting.length > 0 || !owner ? wanting : [{ space: owner }]
  if (causes.length === 0) return {}
  const named = causes.slice(0, NAMED).map(({ space: cluster, placement }) => ({
    cluster,
    path: places.pathOf(cluster),
    edgePlacement: placement,
  }))
  const others = causes.length - named.length
  return { [PLACED_BY]: JSON.stringify(others > 0 ? [...named, { others }] : named) }
}
