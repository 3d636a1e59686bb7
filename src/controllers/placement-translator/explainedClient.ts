/**
 * The translator's client: each write into a mailbox can say which EdgePlacements of which spaces are behind it, for the audit
 * log. Nothing is worked out unless somebody records the write.
 */
import type { GroupVersionResource } from '../../apimachinery/object.ts'
import { MAILBOX_PARENT } from '../../apimachinery/placement.ts'
import type { Because, Client, ObjectRef, SpaceClient } from '../../client/client.ts'
import type { SpacePlaces } from '../placedSource.ts'
import { objectKey } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Cause } from './placementProduct.ts'

/** JSON: a list of `{"cluster","path","edgePlacement"}`; the placement only where one still wants the object. */
export const PLACED_BY = 'edge.kubestellar.io/placed-by'

/** More are counted, not named. */
const NAMED = 20

export interface ExplanationDeps {
  join: Pick<PlacementJoin, 'causesOf'>
  places: Pick<SpacePlaces, 'pathOf'>
  /** Ids of the spaces that a copy was made from, as far as that is known. */
  cameFrom(mailbox: string, key: string): readonly string[]
}

export function explainedClient(client: Client, deps: ExplanationDeps): Client {
  const explained = (space: string): SpaceClient => {
    const api = client.in(space)
    const because = (resource: GroupVersionResource, { namespace = '', name }: ObjectRef): { because: Because } => ({
      because: () => explanation(deps, space, objectKey(resource, namespace, name)),
    })
    return {
      get: (...given) => api.get(...given),
      list: (...given) => api.list(...given),
      watch: (...given) => api.watch(...given),
      discover: () => api.discover(),
      create: (resource, object, options) =>
        api.create(resource, object, { ...options, ...because(resource, refOf(object.metadata)) }),
      update: (resource, object, options) =>
        api.update(resource, object, { ...options, ...because(resource, refOf(object.metadata)) }),
      patch: (resource, ref, type, body, options) =>
        api.patch(resource, ref, type, body, { ...options, ...because(resource, ref) }),
      delete: (resource, ref, options) => api.delete(resource, ref, { ...options, ...because(resource, ref) }),
    }
  }
  return { in: explained, stream: options => client.stream(options) }
}

function refOf({ namespace, name = '' }: { namespace?: string; name?: string }): ObjectRef {
  return { ...(namespace && { namespace }), name }
}

function explanation(deps: ExplanationDeps, space: string, key: string): Record<string, string> {
  const { join, places, cameFrom } = deps
  const path = places.pathOf(space)
  const parent = `${MAILBOX_PARENT}:`
  if (!path?.startsWith(parent)) return {}
  const mailbox = path.slice(parent.length)
  const wanting = join.causesOf(mailbox, key)
  // what nothing wants any more goes: those who brought it are told
  const causes: readonly Cause[] = wanting.length > 0 ? wanting : cameFrom(mailbox, key).map(from => ({ space: from }))
  if (causes.length === 0) return {}
  const named = causes.slice(0, NAMED).map(({ space: cluster, placement }) => ({
    cluster,
    path: places.pathOf(cluster),
    edgePlacement: placement,
  }))
  const others = causes.length - named.length
  return { [PLACED_BY]: JSON.stringify(others > 0 ? [...named, { others }] : named) }
}
