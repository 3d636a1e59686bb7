/**
 * Where denatured kinds are descriptions, the author of an object that does not act gets a warning. The label that makes one act is judged
 * like a creation. (rbacEscalation.ts judges the grants of an acting role or binding.)
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { isNatured, NATURED_LABEL, type Nature } from '../../placement/spaces/nature.ts'
import { forbidden } from '../auth/forbidden.ts'
import { questionOf } from '../auth/questions.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import { roleRefOf } from '../auth/rbacIndex.ts'
import { RBAC_GROUP } from '../auth/rbacRules.ts'
import type { Authorizer } from '../auth/types.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'

export interface DescribedObjectsDeps {
  nature: Nature
  authorizer: RbacAuthorizer
}

export function describedObjects({ nature, authorizer }: DescribedObjectsDeps): Admission {
  return {
    stage: 'validate',
    handles: (_type, operation) => operation !== 'DELETE',
    reaches: ({ space, unstored }, type) => !unstored && nature.isDescribed(space, type),
    concerns: ({ object, old }) => old === undefined || isNatured(object) !== isNatured(old),
    async admit(request) {
      const { context, type, object, old } = request
      const acts = nature.acts(context.space, type, object)
      const acted = old !== undefined && nature.acts(context.space, type, old)
      if (acts && !acted && old !== undefined) await requireCreate(request, authorizer)
      if (acts && isBinding(type)) await warnOfRole(request, authorizer)
      if (!acts && (acted || old === undefined)) context.warn(warningOf(type, acted))
    },
  }
}

/** @throws StatusError Forbidden */
async function requireCreate(
  { context, requestType, object }: AdmissionRequest,
  authorizer: Authorizer,
): Promise<void> {
  const { group, version, resource } = requestType
  const { namespace } = object.metadata
  const question = questionOf(context, 'create', { group, version, resource, namespace })
  const { allowed, reason } = await authorizer.authorize(question)
  if (allowed) return
  const why = `to label one ${NATURED_LABEL}: "true" makes it act, as if it were created`
  throw forbidden(question, reason === '' ? why : `${why}; ${reason}`)
}

const isBinding = ({ group, resource }: ResourceType): boolean =>
  group === RBAC_GROUP && (resource === 'clusterrolebindings' || resource === 'rolebindings')

/** Roles are descriptions, too. */
async function warnOfRole({ context, object }: AdmissionRequest, authorizer: RbacAuthorizer): Promise<void> {
  const ref = roleRefOf(object)
  try {
    await authorizer.roleRules(ref, context.space, object.metadata.namespace ?? '')
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    context.warn(
      `roleRef: no ${ref.kind} ${JSON.stringify(ref.name)} acts in this space, so this binding grants nothing: label one ${NATURED_LABEL}: "true"`,
    )
  }
}

function warningOf({ kind }: ResourceType, acted: boolean): string {
  const what = acted ? `this ${kind} no longer acts` : `this ${kind} does not act`
  return `${what} in this space: it describes what clusters get; the label ${NATURED_LABEL}: "true" makes it act here, and keeps it here`
}
