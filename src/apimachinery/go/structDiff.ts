/**
 * What an update would change in a pod, as upstream tells it: two pod specs as Go writes its own structs, compared line by
 * line. Order and names of the fields are those of upstream's internal types, where everything is there, be it `null`.
 */
import type { ProtobufTable } from '../../../openapi/protobufTable.ts'
import type { Fields } from '../fields.ts'
import { GoStructs } from './goStructs.ts'
import { unifiedDiff } from './unifiedDiff.ts'

/** `type` is the name of a message of the core group. The table of messages is loaded when it is needed. */
export function structDiffs(type: string, loadTable: () => ProtobufTable): (before: Fields, after: Fields) => string {
  let structs: GoStructs | undefined
  return (before, after) => {
    structs ??= new GoStructs(loadTable())
    const shown = structs
    const text = (value: Fields) => JSON.stringify(shown.struct('v1', type, value), null, 1)
    return unifiedDiff(text(before), text(after))
  }
}
