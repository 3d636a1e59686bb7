/** Which FlowSchema a request matched, and on which priority level it was. */
import type { Schema } from '../flowcontrol/flowControl.ts'

/** As they are sent: other letters are made small each time. */
const SCHEMA_HEADER = 'x-kubernetes-pf-flowschema-uid'
const LEVEL_HEADER = 'x-kubernetes-pf-prioritylevel-uid'

export function flowHeaders({ spec, level }: Schema): readonly (readonly [name: string, value: string])[] {
  if (spec.uid === '') return []
  return [
    [SCHEMA_HEADER, spec.uid],
    [LEVEL_HEADER, level.spec.uid],
  ]
}
