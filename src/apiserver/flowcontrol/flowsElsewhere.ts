/** FlowSchemas and PriorityLevelConfigurations outside of the root space are stored, count for nothing, and give their writer a warning. */
import type { Nature } from '../../placement/spaces/nature.ts'
import type { Admission } from '../registry/admission.ts'
import { FLOW_GROUP } from './flowConfiguration.ts'

const NOT_OBEYED = 'only flow control of the root space counts: this object is stored, and has no effect'

export function flowsElsewhere(nature: Pick<Nature, 'isDescribed'>, root: string): Admission {
  return {
    stage: 'validate',
    // A described kind gets its warning elsewhere.
    handles: (type, operation) => type.group === FLOW_GROUP && operation !== 'DELETE',
    reaches: ({ space }, type) => space !== root && !nature.isDescribed(space, type),
    concerns: () => true,
    admit: ({ context }) => context.warn(NOT_OBEYED),
  }
}
