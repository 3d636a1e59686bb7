/** Whether the body of a write is about the object that its URL names. */
import { statusError } from '../../apimachinery/errors.ts'
import type { ObjectMeta } from '../../apimachinery/object.ts'

/** `place` is the URL's; its namespace is empty for what has none. @throws StatusError BadRequest */
export function requireSamePlace(metadata: ObjectMeta, place: { name: string; namespace: string }): void {
  const { name, namespace } = metadata
  if (!name) {
    throw statusError.badRequest(
      `the name of the object (${place.name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (name !== place.name) {
    throw statusError.badRequest(`the name of the object (${name}) does not match the name on the URL (${place.name})`)
  }
  if (place.namespace !== '' && namespace && namespace !== place.namespace) {
    throw statusError.badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the request (${place.namespace})`,
    )
  }
}
