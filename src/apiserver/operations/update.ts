/** A whole object, or its status, in place of what is there. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Registry, Written } from '../registry/registry.ts'
import { requireSamePlace } from './place.ts'
import type { MakingOptions, Target } from './target.ts'

/** Some kinds are made where there are none. @throws StatusError */
export async function update(
  registry: Pick<Registry, 'update' | 'deps'>,
  target: Target,
  object: KubeObject,
  { mayCreate }: MakingOptions = {},
): Promise<Written> {
  const { context, type, namespace, name, subresource } = target
  requireSamePlace(object.metadata, target)
  const makes = subresource === '' && registry.deps.strategyFor(type)?.createOnUpdate === true
  return await registry.update(context, type, namespace, name, () => cloneJson(object), {
    subresource,
    create: makes ? () => cloneJson(object) : undefined,
    ...(mayCreate && { mayCreate }),
  })
}
