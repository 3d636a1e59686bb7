/**
 * StatusCollectors: each expression is compiled and priced when it is written, and a fault is refused with its field. An EdgePlacement
 * that names too many of them is refused, too.
 */
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { objects, record, strings } from '../../apimachinery/fields.ts'
import { MAX_COLLECTORS } from '../../placement/select/placementSpec.ts'
import { readCollector } from '../../placement/summary/collector.ts'
import { EDGE_PLACEMENTS, STATUS_COLLECTORS } from '../../placement/words/placement.ts'
import { contentRule, specOf } from '../registry/admissionFrame.ts'

export const collectorAdmission = contentRule(STATUS_COLLECTORS, specOf, ({ object }) => readCollector(object).problems)

export const namedCollectors = contentRule(EDGE_PLACEMENTS, specOf, ({ object: { spec } }) => {
  const tests = [...objects(spec, 'downsync'), ...objects(spec, 'upsync'), record(spec, 'associated')]
  const names = new Set(tests.flatMap(test => strings(test.statusCollectors)))
  if (names.size <= MAX_COLLECTORS) return []
  const remedy = `statusCollectors of all its tests and sets name ${names.size}, and may name ${MAX_COLLECTORS}; make several placements`
  return [fieldError.forbidden('spec', remedy)]
})
