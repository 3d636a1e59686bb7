/**
 * What an update would change in a pod, as upstream tells it: two pod specs as Go writes its own structs, compared line by
 * line. Order and names of the fields are those of upstream's internal types, where everything is there, be it `null`.
 */

import type { Fields } from '../apimachinery/fields.ts'
import { GoStructs } from '../apimachinery/go/goStructs.ts'
import { unifiedDiff } from '../apimachinery/go/unifiedDiff.ts'
import { readProtobufFields } from '../program/dataFiles.ts'

export function podSpecDiff(before: Fields, after: Fields): string {
  return structDiffs('PodSpec')(before, after)
}

/** For many comparisons. `type` is the name of a message of the core group. */
export function structDiffs(type: string): (before: Fields, after: Fields) => string {
  let structs: GoStructs | undefined
  return (before, after) => {
    structs ??= new GoStructs(readProtobufFields())
    const shown = structs
    const text = (value: Fields) => JSON.stringify(shown.struct('v1', type, value), null, 1)
    return unifiedDiff(text(before), text(after))
  }
}
