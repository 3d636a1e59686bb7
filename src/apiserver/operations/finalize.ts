/** PUT namespaces/<name>/finalize changes spec.finalizers, labels and annotations, and nothing else, as upstream. */
import { list } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { Registry, Written } from '../registry/registry.ts'
import { requireSamePlace } from './place.ts'
import type { Target } from './target.ts'

/** @throws StatusError */
export async function finalize(
  registry: Pick<Registry, 'update'>,
  { context, type, namespace, name }: Omit<Target, 'subresource'>,
  object: KubeObject,
): Promise<Written> {
  const { metadata } = object
  requireSamePlace({ ...metadata, name: metadata.name || name }, { name, namespace: '' })
  const finalizers = list(object, 'spec', 'finalizers')
  const change = (current: KubeObject): KubeObject => {
    if (metadata.resourceVersion) current.metadata.resourceVersion = metadata.resourceVersion
    for (const field of ['labels', 'annotations'] as const) {
      if (metadata[field] === undefined) delete current.metadata[field]
      else current.metadata[field] = { ...metadata[field] }
    }
    const spec: Record<string, unknown> = isRecord(current.spec) ? current.spec : {}
    if (finalizers.length > 0) spec.finalizers = [...finalizers]
    else delete spec.finalizers
    current.spec = spec
    return current
  }
  return await registry.update(context, type, namespace, name, change, { subresource: 'finalize' })
}
