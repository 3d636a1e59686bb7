/**
 * Budgets of spaces, in annotations of their Workspaces. A malformed number is refused, and only a user who may update Workspaces in the
 * space above sets them. A right to create Workspaces there would else include any budget.
 */
import { statusError } from '../../apimachinery/errors.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { BUDGET_ANNOTATIONS, budgetErrors, misspeltBudgets, misspeltError } from '../../placement/spaces/spaceBudget.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import type { Admission } from '../registry/admission.ts'

const NAMES = Object.values(BUDGET_ANNOTATIONS)

export function spaceBudgetAdmission(authorizer: Pick<RbacAuthorizer, 'authorize'>): Admission {
  return {
    stage: 'validate',
    handles: (type, operation) =>
      type.group === WORKSPACES.group && type.resource === WORKSPACES.resource && operation !== 'DELETE',
    async admit({ operation, context, type, object, old }) {
      const name = object.metadata.name ?? ''
      const { annotations = {} } = object.metadata
      const misspelt = misspeltBudgets(annotations).map(misspeltError)
      if (misspelt.length > 0) throw statusError.invalid(type, name, misspelt)
      const changed = NAMES.filter(key => annotations[key] !== old?.metadata.annotations?.[key])
      if (changed.length === 0) return
      const errors = budgetErrors(Object.fromEntries(changed.map(key => [key, annotations[key]])))
      if (errors.length > 0) throw statusError.invalid(type, name, errors)
      if (operation !== 'CREATE') return
      const { allowed } = await authorizer.authorize({
        user: context.user,
        space: context.space,
        verb: 'update',
        resource: { ...WORKSPACES, subresource: '', namespace: '', name },
        path: '',
        ownOnly: true,
      })
      if (allowed) return
      const why = `metadata.annotations[${changed[0]}]: only who may update Workspaces in this space sets budgets; leave it out, and the budget is that of the type`
      throw statusError.forbidden(type, name, why)
    },
  }
}
