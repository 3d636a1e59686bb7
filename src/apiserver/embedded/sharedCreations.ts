/** Many objects of many spaces that say what others say, made at a time: with one wait for the disk. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { SharedCreation } from '../../client/client.ts'
import { createManyShared } from '../operations/create.ts'
import { systemContext } from '../registry/context.ts'
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
  const found = creations.map(each => creationOf(deps, each))
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

function creationOf(
  { services, tree, component }: EmbeddedDeps,
  { space: place, resource: gvr, object, fieldManager }: SharedCreation,
): Omit<Creation, 'namespace'> | undefined {
  const resolution = tree.resolve(place)
  if (!resolution.found || tree.isDeleting(resolution.space.id)) return undefined
  const space = resolution.space.id
  const type = services.types.in(space).find(gvr.group, gvr.version, gvr.resource)
  const context = systemContext(space, component)
  return type && { context: fieldManager === undefined ? context : { ...context, fieldManager }, type, sent: object }
}
