/** Null members: to a typed server a null is the same as nothing, so manifests with `creationTimestamp: null` behave. */

/** Removes null members of objects, at any depth, in place. Nulls in lists stay: they are for validation to refuse. */
export function dropNulls(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item)
    return
  }
  const object = value as Record<string, unknown>
  for (const name in object) {
    if (object[name] === null) delete object[name]
    else dropNulls(object[name])
  }
}
