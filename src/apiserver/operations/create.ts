/** A new object. */
import { StatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Registry, SharedCreation, Written } from '../registry/registry.ts'
import { requireSameNamespace } from './place.ts'
import type { Target } from './target.ts'

/** The object is taken over and changed. @throws StatusError, also by the promise */
export function create(
  registry: Pick<Registry, 'create'>,
  target: Omit<Target, 'name' | 'subresource'>,
  object: KubeObject,
): Promise<Written> {
  return registry.create(target.context, target.type, namespaceFor(target, object), object)
}

/** One that goes into many spaces; nobody changes it, nor the object that is answered. @throws StatusError */
export function createShared(
  registry: Pick<Registry, 'createShared'>,
  target: Omit<Target, 'name' | 'subresource'>,
  object: Readonly<KubeObject>,
): ReturnType<Registry['createShared']> {
  return registry.createShared(target.context, target.type, namespaceFor(target, object), object)
}

/** Many of them at a time; absent is what is to be made alone. */
export function createManyShared(
  registry: Pick<Registry, 'createManyShared'>,
  creations: readonly Omit<SharedCreation, 'namespace'>[],
): ReturnType<Registry['createManyShared']> {
  return registry.createManyShared(
    creations.map(each => ({ ...each, namespace: each.type.namespaced ? (each.sent.metadata.namespace ?? '') : '' })),
  )
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
