/** Whether the body of a write is about the object that its URL names. */
import { statusError } from '../../apimachinery/errors.ts'
import type { ObjectMeta } from '../../apimachinery/object.ts'

/** `place` is the URL's; its namespace is empty for what has none. @throws StatusError BadRequest */
export function requireSamePlace(metadata: ObjectMeta, place: { name: string; namespace: string }): void {
  requireSameNamespace(metadata, place.namespace)
  const { name } = metadata
  if (!name) {
    throw statusError.badRequest(
      `the name of the object (${place.name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (name !== place.name) {
    throw statusError.badRequest(`the name of the object (${name}) does not match the name on the URL (${place.name})`)
  }
}

/** @throws StatusError BadRequest */
export function requireSameNamespace({ namespace }: ObjectMeta, ofUrl: string): void {
  if (ofUrl === '' || !namespace || namespace === ofUrl) return
  throw statusError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
}
