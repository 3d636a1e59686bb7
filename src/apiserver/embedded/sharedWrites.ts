/** Many objects of many spaces that say what others say, made, changed or deleted at a time: with one wait for the disk. */
import type { GroupVersionResource } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { SharedCreation, SharedDeletion, SharedMade, SharedUpdate, Unshared } from '../../client/client.ts'
import { createManyShared } from '../operations/create.ts'
import { systemContext, type WriteContext } from '../registry/context.ts'
import type { SharedlyMade } from '../registry/registry.ts'
import type { EmbeddedDeps } from './embeddedSpace.ts'

/** What was made, at its index; other is what has to be made alone. */
export async function createTogether(
  deps: EmbeddedDeps,
  creations: readonly SharedCreation[],
): Promise<readonly (SharedMade | Unshared)[]> {
  const { registry } = deps.services
  const toMake = (at: Where, { object: sent }: SharedCreation) => ({ ...at, sent })
  const made = await together(deps, creations, toMake, known => createManyShared(registry, known))
  return made.map(told)
}

/** What was changed, at its index; other is what has to be changed alone. */
export async function updateTogether(
  deps: EmbeddedDeps,
  updates: readonly SharedUpdate[],
): Promise<readonly (SharedMade | Unshared)[]> {
  const { registry } = deps.services
  const toChange = (at: Where, { namespace, name, uid, resourceVersion, said }: SharedUpdate) => {
    return { ...at, namespace, name, uid, resourceVersion, said }
  }
  const changed = await together(deps, updates, toChange, known => registry.updateManyShared(known))
  return changed.map(told)
}

/** Whether each is gone; what is not has to be deleted alone. */
export async function deleteTogether(
  deps: EmbeddedDeps,
  deletions: readonly SharedDeletion[],
): Promise<readonly boolean[]> {
  const { registry } = deps.services
  const toDelete = (at: Where, { namespace, name, uid, resourceVersion }: SharedDeletion) => {
    return { ...at, namespace, name, uid, resourceVersion }
  }
  const gone = await together(deps, deletions, toDelete, known => registry.deleteManyShared(known))
  return gone.map(each => each === true)
}

function told(one: SharedlyMade | Unshared): SharedMade | Unshared {
  return one === undefined || one === 'first'
    ? one
    : { uid: one.uid, resourceVersion: String(one.stored.revision), like: one.like }
}

interface Where {
  readonly context: WriteContext
  readonly type: ResourceType
}

/** What becomes of each, at its index; nothing where there is no such space or kind. */
async function together<W extends Named, K, R>(
  deps: EmbeddedDeps,
  writes: readonly W[],
  of: (at: Where, write: W) => K,
  work: (known: readonly K[]) => Promise<readonly R[]>,
): Promise<readonly (R | undefined)[]> {
  const results = writes.map((): R | undefined => undefined)
  // whoever records writes is told of each before it is done
  if (deps.audit !== undefined) return results
  const places = new Places(deps)
  const known: K[] = []
  const indexes: number[] = []
  for (let i = 0; i < writes.length; i++) {
    const at = places.at(writes[i]!)
    if (!at) continue
    known.push(of(at, writes[i]!))
    indexes.push(i)
  }
  const done = await work(known)
  for (let j = 0; j < done.length; j++) results[indexes[j]!] = done[j]
  return results
}

interface Named {
  readonly space: string
  readonly resource: GroupVersionResource
  readonly fieldManager?: string
}

interface Place {
  readonly space: string
  readonly context: WriteContext
}

/** Who writes where: what goes to one place comes in runs, mostly of one kind. */
class Places {
  readonly #deps: EmbeddedDeps
  #last:
    | { readonly name: string; readonly fieldManager: string | undefined; readonly place: Place | undefined }
    | undefined
  #kind: { readonly place: Place; readonly gvr: GroupVersionResource; readonly type: ResourceType } | undefined

  constructor(deps: EmbeddedDeps) {
    this.#deps = deps
  }

  at({ space: name, resource, fieldManager }: Named): Where | undefined {
    if (this.#last?.name !== name || this.#last.fieldManager !== fieldManager)
      this.#last = { name, fieldManager, place: this.#place(name, fieldManager) }
    const { place } = this.#last
    const type = place && this.#typeIn(place, resource)
    return type && { context: place.context, type }
  }

  #typeIn(place: Place, gvr: GroupVersionResource): ResourceType | undefined {
    const { group, version, resource } = gvr
    const last = this.#kind
    const isSame = last?.place === place && last.gvr.resource === resource && last.gvr.version === version
    if (isSame && last.gvr.group === group) return last.type
    const type = this.#deps.services.types.in(place.space).find(group, version, resource)
    this.#kind = type && { place, gvr, type }
    return type
  }

  #place(name: string, fieldManager: string | undefined): Place | undefined {
    const { tree, component } = this.#deps
    const resolution = tree.resolve(name)
    if (!resolution.found || tree.isDeleting(resolution.space.id)) return undefined
    const space = resolution.space.id
    const context = systemContext(space, component)
    return { space, context: fieldManager === undefined ? context : { ...context, fieldManager } }
  }
}
