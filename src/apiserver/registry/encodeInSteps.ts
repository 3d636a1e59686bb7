/** The canonical text of a large object, in steps: that of who claims which of its fields manager by manager, see decodeInSteps.ts. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import type { Encoded } from '../../storage/store.ts'
import { encodeObject } from './codec.ts'

const NONE = '"managedFields":[]'

/** The same text as `encodeObject` makes. */
export function* encodeInSteps(object: KubeObject): Steps<Encoded> {
  const { managedFields = [] } = object.metadata
  if (managedFields.length === 0) return encodeObject(object)
  const { head, tail } = encodeObject({ ...object, metadata: { ...object.metadata, managedFields: [] } })
  const begin = head.indexOf(NONE)
  // one of them would be a field of something else
  if (begin !== head.lastIndexOf(NONE)) return encodeObject(object)
  const entries: string[] = []
  for (const entry of managedFields) {
    yield
    entries.push(JSON.stringify(entry))
  }
  yield
  const at = begin + NONE.length - 1
  return { head: head.slice(0, at) + entries.join(',') + head.slice(at), tail }
}
