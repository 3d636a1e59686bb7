/**
 * Fields of an object that its own server's defaults filled in, and that no writer has since changed or named. Known for objects that the
 * server itself hands to its controllers, and for no object that came over a wire.
 */
import type { FieldSet } from './apply/fieldSet.ts'

/** Follows from the object alone, and ends with it. */
const known = new WeakMap<object, () => FieldSet | undefined>()

/** `find` is called on the first read. */
export function setDefaulted(object: object, find: () => FieldSet | undefined): void {
  known.set(object, find)
}

/** `undefined`: unknown, so all of it counts as the author's. */
export function defaultedFields(object: object): FieldSet | undefined {
  return known.get(object)?.()
}
