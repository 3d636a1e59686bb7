/** Nobody grants more than they hold. An object that does not act grants nothing; one that begins to act is judged as if it were new. */
import type { Nature } from '../../placement/spaces/nature.ts'
import { checkRbacWrite, holdsAll } from '../auth/escalation.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import { RBAC_GROUP } from '../auth/rbacRules.ts'
import type { Admission } from '../registry/admission.ts'

export function rbacAdmission(authorizer: RbacAuthorizer, nature: Pick<Nature, 'acts'>): Admission {
  return {
    handles: (type, operation) => type.group === RBAC_GROUP && operation !== 'DELETE',
    reaches: ({ user, space }) => !holdsAll(user, space),
    async admit({ context, type, object, old }) {
      const { user, space } = context
      if (!nature.acts(space, type, object)) return
      const granting = old !== undefined && nature.acts(space, type, old)
      await checkRbacWrite({ user, space, resource: type.resource, object, ...(granting && { old }) }, authorizer)
    },
  }
}
