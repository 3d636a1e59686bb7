/**
 * An EdgePlacement's rolloutStrategy: a gate that no cluster can pass is refused with its field, and parts without effect get a warning.
 * The end of its stages brings the newest content to all clusters at once, and takes the verb of that.
 */
import { at } from '../../apimachinery/fields.ts'
import { isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { isStaged, readStrategy, STRATEGY_FIELD, strategyWarnings } from '../../placement/rollout/strategy.ts'
import { EDGE_PLACEMENTS, PLACEMENT_ROLLOUTS } from '../../placement/words/placement.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import { questionOf } from '../auth/questions.ts'
import type { Authorizer } from '../auth/types.ts'
import type { Admission } from '../registry/admission.ts'
import { contentRule, refused } from '../registry/admissionFrame.ts'
import { isServer } from '../registry/context.ts'

const strategyIn = ({ spec }: Readonly<KubeObject>): unknown => at(spec, 'rolloutStrategy')

export const strategyAdmission = contentRule(EDGE_PLACEMENTS, strategyIn, ({ object, context }) => {
  const strategy = strategyIn(object)
  const { problems } = readStrategy(strategy)
  if (!problems) for (const warning of strategyWarnings(strategy)) context.warn(warning)
  return problems
})

/** A user who may not hurry a rollout does not pass its approvals and windows by an edit of the strategy either. */
export function stagesEnd({ authorizer }: { authorizer: Authorizer }): Admission {
  return {
    stage: 'validate',
    handles: (type, operation, subresource) =>
      operation === 'UPDATE' && subresource === '' && isSameResource(type, EDGE_PLACEMENTS),
    concerns: ({ object, old }) => isStaged(old && strategyIn(old)) && !isStaged(strategyIn(object)),
    reaches: ({ user }) => !isServer(user),
    async admit(request) {
      const question = questionOf(request.context, 'expedite', PLACEMENT_ROLLOUTS)
      if ((await authorizer.authorize(question)).allowed) return
      const why = 'without stages all clusters get the newest content at once'
      throw refused(request, `${STRATEGY_FIELD}: ${why}: ${forbiddenMessage(question)}`)
    },
  }
}
