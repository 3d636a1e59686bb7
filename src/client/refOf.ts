import type { ObjectRef } from './client.ts'

/** Where a client finds an object. `namespace`: `''` for one without. */
export function refOf({ namespace, name }: { readonly namespace: string; readonly name: string }): ObjectRef {
  return namespace === '' ? { name } : { namespace, name }
}
