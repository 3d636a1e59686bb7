/** Nobody grants more than they hold. */
import { checkRbacWrite } from '../auth/escalation.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import { RBAC_GROUP } from '../auth/rbacRules.ts'
import type { Admission } from '../registry/admission.ts'

export function rbacAdmission(authorizer: RbacAuthorizer): Admission {
  return {
    handles: (type, operation) => type.group === RBAC_GROUP && operation !== 'DELETE',
    async admit({ context, type, object, old }) {
      await checkRbacWrite(
        { user: context.user, space: context.space, resource: type.resource, object, ...(old && { old }) },
        authorizer,
      )
    },
  }
}
