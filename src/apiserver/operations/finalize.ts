/** PUT namespaces/<name>/finalize changes spec.finalizers, labels and annotations, and nothing else, as upstream. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { cloneJson } from '../../apimachinery/values.ts'
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
  // Unchanged fields stay as they were sent, so that a wrong type is refused and not read as another value.
  const sent = object.spec ?? {}
  const change = (current: KubeObject): KubeObject => {
    if (metadata.resourceVersion) current.metadata.resourceVersion = metadata.resourceVersion
    for (const field of ['labels', 'annotations'] as const) {
      if (metadata[field] === undefined) delete current.metadata[field]
      else current.metadata[field] = cloneJson(metadata[field])
    }
    current.spec = withFinalizers(current.spec, sent)
    return current
  }
  return await registry.update(context, type, namespace, name, change, { subresource: 'finalize' })
}

function withFinalizers(spec: unknown, sent: unknown): unknown {
  if (!isRecord(sent)) return sent
  const { finalizers: _, ...others } = isRecord(spec) ? spec : {}
  return sent.finalizers === undefined ? others : { ...others, finalizers: cloneJson(sent.finalizers) }
}
