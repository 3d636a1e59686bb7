/** The door for copies, by the names of spaces and kinds. */
import type { GroupVersionResource } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { CopyCreation, CopyDeletion, CopyMade, CopyUpdate } from '../../client/client.ts'
import { systemContext, type WriteContext } from '../registry/context.ts'
import type { Copied } from '../registry/copies/copyWrites.ts'
import type { EmbeddedDeps } from './embeddedSpace.ts'

/** The copies that were created, at their indexes; others have to be created alone. */
export async function createCopies(
  deps: EmbeddedDeps,
  creations: readonly CopyCreation[],
): Promise<readonly (CopyMade | undefined)[]> {
  const toCreate = (at: Where, { object }: CopyCreation) => {
    return { ...at, namespace: at.type.namespaced ? (object.metadata.namespace ?? '') : '', object }
  }
  const made = await together(deps, creations, toCreate, known => deps.services.registry.copies.create(known))
  return made.map(answered)
}

/** The same of updates. */
export async function updateCopies(
  deps: EmbeddedDeps,
  updates: readonly CopyUpdate[],
): Promise<readonly (CopyMade | undefined)[]> {
  const toUpdate = (at: Where, update: CopyUpdate) => ({ ...update, ...at })
  const changed = await together(deps, updates, toUpdate, known => deps.services.registry.copies.update(known))
  return changed.map(answered)
}

/** Whether each is gone; others have to be deleted alone. */
export async function deleteCopies(
  deps: EmbeddedDeps,
  deletions: readonly CopyDeletion[],
): Promise<readonly boolean[]> {
  const toDelete = (at: Where, deletion: CopyDeletion) => ({ ...deletion, ...at })
  const gone = await together(deps, deletions, toDelete, known => deps.services.registry.copies.delete(known))
  return gone.map(each => each === true)
}

function answered(copied: Copied | undefined): CopyMade | undefined {
  return copied && { uid: copied.uid, resourceVersion: String(copied.stored.revision), like: copied.like }
}

interface Where {
  readonly context: WriteContext
  readonly type: ResourceType
}

/** Outcome of each, at its index; empty where there is no such space or kind. */
async function together<W extends Named, K, R>(
  deps: EmbeddedDeps,
  writes: readonly W[],
  of: (at: Where, write: W) => K,
  work: (known: readonly K[]) => Promise<readonly R[]>,
): Promise<readonly (R | undefined)[]> {
  const results = writes.map((): R | undefined => undefined)
  // the recorder of writes needs each before it is done
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

/** Places of writes: writes to one place come in runs, mostly of one kind. */
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
