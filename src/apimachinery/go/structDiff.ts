/**
 * What an update would change in a pod, as upstream tells it: two pod specs as Go writes its own structs, compared line by
 * line. Order and names of the fields are those of upstream's internal types, where everything is there, be it `null`.
 */
import type { ProtobufTable } from '../../../openapi/protobufTable.ts'
import type { Fields } from '../fields.ts'
import { hasMoreValues } from '../objectSize.ts'
import { GoStructs } from './goStructs.ts'
import { unifiedDiff } from './unifiedDiff.ts'

/** Of specs with more, and of texts that differ in more characters, it is not told what differs. */
const SHOWN_VALUES = 4000
const SHOWN_CHARACTERS = 64 * 1024

/** `type` is the name of a message of the core group. The table of messages is loaded when it is needed. */
export function structDiffs(type: string, loadTable: () => ProtobufTable): (before: Fields, after: Fields) => string {
  let structs: GoStructs | undefined
  return (before, after) => {
    if (hasMoreValues(before, SHOWN_VALUES) || hasMoreValues(after, SHOWN_VALUES)) return TOO_LARGE
    structs ??= new GoStructs(loadTable())
    const shown = structs
    const text = (value: Fields) => JSON.stringify(shown.struct('v1', type, value), null, 1)
    const diff = unifiedDiff(text(before), text(after))
    return diff.length > SHOWN_CHARACTERS ? TOO_LARGE : diff
  }
}

const TOO_LARGE = '(too much to show what differs)\n'
