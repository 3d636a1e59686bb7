/**
 * How finalizers are called. `forms.ts` gives the kinds that it applies to. @see
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import type { ObjectMeta } from '../../apimachinery/object.ts'

const STANDARD = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** Warnings for custom resources, which take any name; names that the object already had give none again. */
export function finalizerWarnings(metadata: ObjectMeta, old: ObjectMeta = {}): string[] {
  if (metadata.finalizers === undefined) return []
  const added = metadata.finalizers.filter(
    name => !name.includes('/') && !STANDARD.has(name) && !old.finalizers?.includes(name),
  )
  return added.toSorted().map(name => {
    const what = name.includes('.') ? 'finalizer name including a path (/)' : 'finalizer name'
    const why = `prefer a domain-qualified ${what} to avoid accidental conflicts with other finalizer writers`
    return `metadata.finalizers: ${JSON.stringify(name)}: ${why}`
  })
}

/** Errors for names without a domain and a slash; what the object already had may stay. */
export function unqualifiedFinalizers(metadata: ObjectMeta, old: ObjectMeta = {}): FieldError[] {
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
