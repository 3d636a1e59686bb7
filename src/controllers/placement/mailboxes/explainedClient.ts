/**
 * The translator's client: each write into a mailbox can say which EdgePlacements of which spaces are behind it, for the audit
 * log. Nothing is worked out unless somebody records the write.
 */
import type { GroupVersionResource } from '../../../apimachinery/object.ts'
import type { Client, ObjectRef, SpaceClient } from '../../../client/client.ts'
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
    in: space => explainedSpace(client.in(space), deps, space),
    stream: options => client.stream(options),
    // nothing of what somebody records is written so
    ...(client.createCopies && { createCopies: creations => client.createCopies!(creations) }),
    ...(client.updateCopies && { updateCopies: updates => client.updateCopies!(updates) }),
    ...(client.deleteCopies && { deleteCopies: deletions => client.deleteCopies!(deletions) }),
  }
}

function explainedSpace(api: SpaceClient, deps: ExplanationDeps, space: string): SpaceClient {
  const why = (resource: GroupVersionResource, { namespace = '', name = '' }: Partial<ObjectRef>) => ({
    because: () => explanation(deps, space, objectKey(resource, namespace, name)),
  })
  return {
    get: (...args) => api.get(...args),
    list: (...args) => api.list(...args),
    watch: (...args) => api.watch(...args),
    discover: () => api.discover(),
    create: (resource, object, options) =>
      api.create(resource, object, { ...options, ...why(resource, object.metadata) }),
    update: (resource, object, options) =>
      api.update(resource, object, { ...options, ...why(resource, object.metadata) }),
    patch: (resource, ref, type, body, options) =>
      api.patch(resource, ref, type, body, { ...options, ...why(resource, ref) }),
    delete: (resource, ref, options) => api.delete(resource, ref, { ...options, ...why(resource, ref) }),
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
