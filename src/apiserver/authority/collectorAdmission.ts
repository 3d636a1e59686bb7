/**
 * StatusCollectors: each expression is compiled and priced when it is written, and a fault is refused with its field. An EdgePlacement
 * that names too many of them is refused, too.
 */
import { statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { objects, record, strings } from '../../apimachinery/fields.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { MAX_COLLECTORS } from '../../placement/select/placementSpec.ts'
import { readCollector } from '../../placement/summary/collector.ts'
import { EDGE_GROUP, STATUS_COLLECTORS } from '../../placement/words/placement.ts'
import type { Admission } from '../registry/admission.ts'
import { isPlacementWrite } from './placementWrites.ts'

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

export const namedCollectors: Admission = {
  stage: 'validate',
  handles: isPlacementWrite,
  concerns: ({ object, old }) => !old || !equalJson(object.spec, old.spec),
  admit({ type, object }) {
    const { spec } = object
    const tests = [...objects(spec, 'downsync'), ...objects(spec, 'upsync'), record(spec, 'associated')]
    const names = new Set(tests.flatMap(test => strings(test.statusCollectors)))
    if (names.size <= MAX_COLLECTORS) return
    const remedy = `statusCollectors of all its tests and sets name ${names.size}, and may name ${MAX_COLLECTORS}; make several placements`
    throw statusError.invalid(type, object.metadata.name ?? '', [fieldError.forbidden('spec', remedy)])
  },
}
