/** An EdgePlacement's rolloutStrategy: a gate that no cluster can pass is refused with its field, and parts without effect get a warning. */
import { statusError } from '../../apimachinery/errors.ts'
import { at } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { readStrategy, strategyWarnings } from '../../placement/rollout/strategy.ts'
import type { Admission } from '../registry/admission.ts'
import { isPlacementWrite } from './placementWrites.ts'

export const strategyAdmission: Admission = {
  stage: 'validate',
  handles: isPlacementWrite,
  concerns: ({ object, old }) => !equalJson(strategyIn(object), old && strategyIn(old)),
  admit({ type, object, context }) {
    const strategy = strategyIn(object)
    const { problems } = readStrategy(strategy)
    if (problems) throw statusError.invalid(type, object.metadata.name ?? '', problems)
    for (const warning of strategyWarnings(strategy)) context.warn(warning)
  },
}

function strategyIn({ spec }: KubeObject): unknown {
  return at(spec, 'rolloutStrategy')
}
