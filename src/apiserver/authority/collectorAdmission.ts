/** StatusCollectors: each expression is compiled and priced when it is written, and a fault is refused with its field. */
import { statusError } from '../../apimachinery/errors.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { readCollector } from '../../placement/summary/collector.ts'
import { EDGE_GROUP, STATUS_COLLECTORS } from '../../placement/words/placement.ts'
import type { Admission } from '../registry/admission.ts'

export const collectorAdmission: Admission = {
  stage: 'validate',
  handles: ({ group, resource }, operation, subresource) =>
    group === EDGE_GROUP && resource === STATUS_COLLECTORS.resource && operation !== 'DELETE' && subresource === '',
  concerns: ({ object, old }) => !old || !equalJson(object.spec, old.spec),
  admit({ type, object }) {
    const { problems } = readCollector(object)
    if (problems) throw statusError.invalid(type, object.metadata.name ?? '', problems)
  },
}
