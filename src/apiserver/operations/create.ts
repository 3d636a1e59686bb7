/** A new object. */
import { StatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Registry, Written } from '../registry/registry.ts'
import { requireSameNamespace } from './place.ts'
import type { Target } from './target.ts'

/** The object is taken over and changed. @throws StatusError */
export async function create(
  registry: Pick<Registry, 'create'>,
  { context, type, namespace }: Omit<Target, 'name' | 'subresource'>,
  object: KubeObject,
): Promise<Written> {
  if (!type.namespaced) return await registry.create(context, type, '', object)
  if (namespace === '') {
    throw new StatusError(
      'BadRequest',
      `an empty namespace may not be set during creation: send ${type.resource} to …/namespaces/NAMESPACE/${type.resource}`,
    )
  }
  requireSameNamespace(object.metadata, namespace)
  return await registry.create(context, type, namespace, object)
}
