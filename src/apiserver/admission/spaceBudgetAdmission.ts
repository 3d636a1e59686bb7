/**
 * Budgets of spaces, in annotations of their Workspaces. A malformed number is refused, and only a user who may update Workspaces in the
 * space above sets them. A right to create Workspaces there would else include any budget.
 */
import { isSameResource } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { BUDGET_ANNOTATIONS, budgetErrors, misspeltBudgets, misspeltError } from '../../placement/spaces/spaceBudget.ts'
import { questionOf } from '../auth/questions.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import type { Admission } from '../registry/admission.ts'
import { refused, requireNone } from '../registry/admissionFrame.ts'

const NAMES = Object.values(BUDGET_ANNOTATIONS)

export function spaceBudgetAdmission(authorizer: Pick<RbacAuthorizer, 'authorize'>): Admission {
  return {
    stage: 'validate',
    handles: (type, operation) => operation !== 'DELETE' && isSameResource(type, WORKSPACES),
    async admit(request) {
      const { operation, context, object, old } = request
      const { name, annotations = {} } = object.metadata
      requireNone(request, misspeltBudgets(annotations).map(misspeltError))
      const changed = NAMES.filter(key => annotations[key] !== old?.metadata.annotations?.[key])
      if (changed.length === 0) return
      requireNone(request, budgetErrors(Object.fromEntries(changed.map(key => [key, annotations[key]]))))
      if (operation !== 'CREATE') return
      const question = questionOf(context, 'update', { ...WORKSPACES, name })
      if ((await authorizer.authorize({ ...question, ownOnly: true })).allowed) return
      const why = `metadata.annotations[${changed[0]}]: only who may update Workspaces in this space sets budgets; leave it out, and the budget is that of the type`
      throw refused(request, why)
    },
  }
}
