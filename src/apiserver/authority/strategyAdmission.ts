/**
 * An EdgePlacement's rolloutStrategy: a gate that no cluster can pass is refused with its field, and parts without effect get a warning.
 * The end of its stages brings the newest content to all clusters at once, and takes the verb of that.
 */
import { statusError } from '../../apimachinery/errors.ts'
import { at } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { isStaged, readStrategy, STRATEGY_FIELD, strategyWarnings } from '../../placement/rollout/strategy.ts'
import { PLACEMENT_ROLLOUTS } from '../../placement/words/placement.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import type { Authorizer } from '../auth/types.ts'
import type { Admission } from '../registry/admission.ts'
import { isServer } from './grantedLocationAdmission.ts'
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

/** A user who may not hurry a rollout does not pass its approvals and windows by an edit of the strategy either. */
export function stagesEnd({ authorizer }: { authorizer: Authorizer }): Admission {
  return {
    stage: 'validate',
    handles: (type, operation, subresource) => operation === 'UPDATE' && isPlacementWrite(type, operation, subresource),
    concerns: ({ object, old }) => isStaged(old && strategyIn(old)) && !isStaged(strategyIn(object)),
    reaches: ({ user }) => !isServer(user),
    async admit({ type, object, context: { user, space } }) {
      const resource = { ...PLACEMENT_ROLLOUTS, subresource: '', namespace: '', name: '' }
      const attributes = { user, space, verb: 'expedite', resource, path: '' }
      if ((await authorizer.authorize(attributes)).allowed) return
      const why = `${STRATEGY_FIELD}: without stages all clusters get the newest content at once: ${forbiddenMessage(attributes)}`
      throw statusError.forbidden(type, object.metadata.name ?? '', why)
    },
  }
}

function strategyIn({ spec }: KubeObject): unknown {
  return at(spec, 'rolloutStrategy')
}
