/**
 * How much of what is a list or a map in metadata an object may have. Every step of a write and many controllers go through
 * these, so their sizes are bounded apart from that of the object. Kubernetes has the limit of annotations and those of
 * names in `managedFields`; the others are ours, far above what anything needs.
 *
 * An object that was stored with more may keep as much, so that it can be changed and deleted.
 */
import { type FieldError, fieldError } from './fieldErrors.ts'
import type { ManagedFieldsEntry, ObjectMeta } from './object.ts'

/** Keys and values of all annotations together, in bytes; those of all labels too. */
export const ANNOTATIONS_LIMIT_BYTES = 256 * 1024
/** The same for Orrery's own, beside them: an object that fills its limit is placed as any other, and gets its outcome. */
export const MARKS_LIMIT_BYTES = 256 * 1024
const MARK = /^(?:edge\.)?kubestellar\.io\//
export const LABELS_LIMIT_BYTES = 256 * 1024
export const FINALIZERS_LIMIT = 1_000
export const OWNERS_LIMIT = 1_000
/** Entries of `managedFields`. */
export const MANAGERS_LIMIT = 1_000
const MANAGER_LIMIT_BYTES = 128
const SUBRESOURCE_LIMIT_BYTES = 256

/** `old` is absent for a new object. Annotations are judged elsewhere: they have no exemption. */
export function metadataLimitErrors(meta: ObjectMeta, old: ObjectMeta | undefined): FieldError[] {
  const errors: FieldError[] = []
  if (mayExceed(meta.labels, LABELS_LIMIT_BYTES)) {
    const labels = bytesOf(meta.labels)
    if (labels > LABELS_LIMIT_BYTES && labels > bytesOf(old?.labels))
      errors.push(fieldError.tooLong('metadata.labels', LABELS_LIMIT_BYTES))
  }
  const count = (field: 'finalizers' | 'ownerReferences' | 'managedFields', limit: number): void => {
    const actual = meta[field]?.length ?? 0
    if (actual > limit && actual > (old?.[field]?.length ?? 0))
      errors.push(fieldError.tooMany(`metadata.${field}`, actual, limit))
  }
  count('ownerReferences', OWNERS_LIMIT)
  count('finalizers', FINALIZERS_LIMIT)
  count('managedFields', MANAGERS_LIMIT)
  if (meta.managedFields !== old?.managedFields) checkEntries(meta.managedFields ?? [], errors)
  return errors
}

/** Errors of an object's metadata. */
export function annotationLimitErrors(annotations: Readonly<Record<string, string>>): FieldError[] {
  if (!mayExceed(annotations, ANNOTATIONS_LIMIT_BYTES)) return []
  const field = 'metadata.annotations'
  const all = bytesOf(annotations)
  const marks = bytesOf(Object.fromEntries(Object.entries(annotations).filter(([key]) => MARK.test(key))))
  if (all - marks > ANNOTATIONS_LIMIT_BYTES) return [fieldError.tooLong(field, ANNOTATIONS_LIMIT_BYTES)]
  return marks > MARKS_LIMIT_BYTES ? [fieldError.tooLong(field, MARKS_LIMIT_BYTES)] : []
}

function checkEntries(entries: readonly ManagedFieldsEntry[], errors: FieldError[]): void {
  const checked = Math.min(entries.length, MANAGERS_LIMIT)
  for (let i = 0; i < checked; i++) {
    const { manager, subresource } = entries[i]!
    if (!isLonger(manager, MANAGER_LIMIT_BYTES) && !isLonger(subresource, SUBRESOURCE_LIMIT_BYTES)) continue
    const field = `metadata.managedFields[${i}]`
    if (isLonger(manager, MANAGER_LIMIT_BYTES)) errors.push(fieldError.tooLong(`${field}.manager`, MANAGER_LIMIT_BYTES))
    if (isLonger(subresource, SUBRESOURCE_LIMIT_BYTES))
      errors.push(fieldError.tooLong(`${field}.subresource`, SUBRESOURCE_LIMIT_BYTES))
  }
}

function isLonger(text: string | undefined, limitBytes: number): boolean {
  return text !== undefined && MOST_BYTES * text.length > limitBytes && Buffer.byteLength(text) > limitBytes
}

/** Bytes of a character (UTF-16 code unit) as UTF-8. */
const MOST_BYTES = 3

/** Derived from the characters of all keys and values, which are known. */
export function mayExceed(texts: Readonly<Record<string, string>> | undefined, limitBytes: number): boolean {
  let left = limitBytes
  for (const key in texts) {
    left -= MOST_BYTES * (key.length + texts[key]!.length)
    if (left < 0) return true
  }
  return false
}

/** Bytes of all keys and values. */
export function bytesOf(texts: Readonly<Record<string, string>> | undefined): number {
  let bytes = 0
  for (const key in texts) bytes += Buffer.byteLength(key) + Buffer.byteLength(texts[key]!)
  return bytes
}
