/** Which finalizers Kubernetes' own kinds take. @see https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/ */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import type { ObjectMeta } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'

const STANDARD = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])
/** Kinds of these groups are checked as custom resources are. */
const LENIENT = /(^|\.)(apiextensions\.k8s\.io|kcp\.io|kubestellar\.io)$/

/** Errors for names without a domain and a slash; what the object already had may stay. */
export function unqualifiedFinalizers(type: ResourceType, metadata: ObjectMeta, old: ObjectMeta = {}): FieldError[] {
  if (type.origin !== 'builtin' || LENIENT.test(type.group)) return []
  return (metadata.finalizers ?? []).flatMap((name, index) =>
    name.includes('/') || STANDARD.has(name) || old.finalizers?.includes(name)
      ? []
      : [
          fieldError.invalid(
            `metadata.finalizers[${index}]`,
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  )
}
