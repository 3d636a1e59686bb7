/**
 * What nobody said: the fields of an object that its own server's defaults filled in, and that no writer has since changed or
 * named. Known of objects that the server itself hands to its controllers, and of nothing that came over a wire.
 */
import type { FieldSet } from './apply/fieldSet.ts'

/** Follows from the object alone, and ends with it. */
const known = new WeakMap<object, () => FieldSet | undefined>()

/** `find` is asked when somebody wants to know. */
export function setDefaulted(object: object, find: () => FieldSet | undefined): void {
  known.set(object, find)
}

/** `undefined`: nobody knows, so all of it counts as said. */
export function defaultedFields(object: object): FieldSet | undefined {
  return known.get(object)?.()
}
