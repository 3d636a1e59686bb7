/** Many objects of many spaces that say what others say, made at a time: with one wait for the disk. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { SharedCreation } from '../../client/client.ts'
import { createManyShared } from '../operations/create.ts'
import { systemContext, type WriteContext } from '../registry/context.ts'
import type { SharedCreation as Creation } from '../registry/registry.ts'
import type { EmbeddedDeps } from './embeddedSpace.ts'

/** What was made, at its index; absent is what has to be made alone. */
export async function createTogether(
  deps: EmbeddedDeps,
  creations: readonly SharedCreation[],
): Promise<readonly (KubeObject | undefined)[]> {
  // whoever records writes is told of each before it is done
  if (deps.audit !== undefined) return creations.map(() => undefined)
  const { registry, deps: registryDeps } = deps.services
  const places = new Places(deps)
  const found = creations.map(each => places.creation(each))
  const known = found.filter(each => each !== undefined)
  const made = (await createManyShared(registry, known)).values()
  return found.map(each => {
    const one = each && made.next().value
    if (!one) return undefined
    // so that who follows the space need not parse it
    registryDeps.parsed.keep(one.stored, one.object)
    return one.object
  })
}

interface Place {
  readonly space: string
  readonly context: WriteContext
}

/** Who writes where: what goes to one place comes in runs. */
class Places {
  readonly #deps: EmbeddedDeps
  #last:
    | { readonly name: string; readonly fieldManager: string | undefined; readonly place: Place | undefined }
    | undefined

  constructor(deps: EmbeddedDeps) {
    this.#deps = deps
  }

  creation({
    space: name,
    resource: gvr,
    object,
    fieldManager,
  }: SharedCreation): Omit<Creation, 'namespace'> | undefined {
    if (this.#last?.name !== name || this.#last.fieldManager !== fieldManager)
      this.#last = { name, fieldManager, place: this.#place(name, fieldManager) }
    const { place } = this.#last
    const type = place && this.#deps.services.types.in(place.space).find(gvr.group, gvr.version, gvr.resource)
    return type && { context: place.context, type, sent: object }
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
