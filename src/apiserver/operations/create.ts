/** A new object. */
import { StatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { CreateOptions } from '../registry/creations.ts'
import type { Registry, Written } from '../registry/registry.ts'
import { requireSameNamespace } from './place.ts'
import type { Target } from './target.ts'

/** The object is taken over and changed. @throws StatusError, also by the promise */
export function create(
  registry: Pick<Registry, 'create'>,
  target: Omit<Target, 'name' | 'subresource'>,
  object: KubeObject,
  options?: CreateOptions,
): Promise<Written> {
  return registry.create(target.context, target.type, namespaceFor(target, object), object, options)
}

/** @throws StatusError BadRequest */
function namespaceFor(
  { type, namespace }: Omit<Target, 'name' | 'subresource'>,
  { metadata }: Readonly<KubeObject>,
): string {
  if (!type.namespaced) return ''
  if (namespace === '') {
    throw new StatusError(
      'BadRequest',
      `an empty namespace may not be set during creation: send ${type.resource} to …/namespaces/NAMESPACE/${type.resource}`,
    )
  }
  requireSameNamespace(metadata, namespace)
  return namespace
}
