/** A whole object, or its status, in place of what is there. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Registry, Written } from '../registry/registry.ts'
import { requireSamePlace } from './place.ts'
import type { MakingOptions, Target } from './target.ts'

interface ReplacingOptions extends MakingOptions {
  /** The object once more, from what it was made of: where somebody else wrote first. */
  again: () => KubeObject
  withStatus?: boolean | undefined
  isShared?: boolean | undefined
}

/** The object is taken over and changed. Some kinds are made where there are none. @throws StatusError */
export async function update(
  registry: Pick<Registry, 'update' | 'deps'>,
  target: Target,
  object: KubeObject,
  { again, mayCreate, withStatus, isShared }: ReplacingOptions,
): Promise<Written> {
  const { context, type, namespace, name, subresource } = target
  requireSamePlace(object.metadata, target)
  const makes = subresource === '' && registry.deps.strategyFor(type)?.createOnUpdate === true
  let unused: KubeObject | undefined = object
  const replacement = (): KubeObject => {
    const next = unused ?? again()
    unused = undefined
    return next
  }
  const create = makes ? replacement : undefined
  const options = { subresource, create, ...(mayCreate && { mayCreate }), withStatus, isShared }
  return await registry.update(context, type, namespace, name, { replacement }, options)
}
