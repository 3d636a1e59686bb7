/** Nobody grants more than they hold, and the roles that all spaces share cannot be written. */
import { statusError } from '../../apimachinery/errors.ts'
import { checkRbacWrite } from '../auth/escalation.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import { RBAC_GROUP } from '../auth/rbacRules.ts'
import type { Admission } from '../registry/admission.ts'
import type { SharedObjects } from '../registry/sharedObjects.ts'

export function rbacAdmission(authorizer: RbacAuthorizer, shared: SharedObjects): Admission {
  return {
    handles: (type, operation) => type.group === RBAC_GROUP && operation !== 'DELETE',
    async admit({ operation, context, type, object, old }) {
      if (operation === 'CREATE' && (await shared.get(context.space, type, object.metadata.name ?? ''))) {
        throw statusError.alreadyExists(type, object.metadata.name ?? '')
      }
      await checkRbacWrite(
        { user: context.user, space: context.space, resource: type.resource, object, ...(old && { old }) },
        authorizer,
      )
    },
  }
}
