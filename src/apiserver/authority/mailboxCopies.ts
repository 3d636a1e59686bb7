/**
 * Only the center writes copies of workload spaces' objects into a mailbox. Others report its status there. The server's administrators may
 * do what they must; the center puts back what differs.
 */
import type { StatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { isInMailbox, isProjected, PROJECTED_LABEL, PROJECTED_VALUE } from '../../placement/words/placement.ts'
import { GROUPS } from '../auth/users.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { refused } from '../registry/admissionFrame.ts'
import type { SpaceTree } from '../spaces/tree.ts'

export function mailboxCopies(tree: Pick<SpaceTree, 'pathOf'>): Admission {
  return {
    stage: 'validate',
    handles: () => true,
    reaches: ({ space, user, unstored }) =>
      !unstored && !user.groups.includes(GROUPS.masters) && isInMailbox(tree.pathOf(space) ?? ''),
    concerns: ({ object, old }) => isProjected(object) || (old !== undefined && isProjected(old)),
    admit(request) {
      const { operation, object, old } = request
      if (operation === 'CREATE') {
        if (isProjected(object)) throw marked(request)
        return
      }
      if (old === undefined) return
      if (operation === 'UPDATE' && !isProjected(old) && isProjected(object)) throw marked(request)
      if (isProjected(old) && (operation === 'DELETE' || !equalJson(exceptStatus(object), exceptStatus(old)))) {
        const why =
          'it is a copy on its way to a cluster, so only its status can be written; change the object in its workload space'
        throw refusal(request, why)
      }
    },
  }
}

function marked(request: AdmissionRequest): StatusError {
  const why = `metadata.labels: only the center labels objects of a mailbox ${PROJECTED_LABEL}: "${PROJECTED_VALUE}"; leave the label out`
  return refusal(request, why)
}

function refusal({ requestType, object }: AdmissionRequest, why: string): StatusError {
  return refused({ type: requestType, object }, why)
}

/** Without what the server itself keeps of a write. */
function exceptStatus({ status: _status, metadata, ...rest }: Readonly<KubeObject>): object {
  const { managedFields: _managed, resourceVersion: _version, generation: _generation, ...meta } = metadata
  return { ...rest, metadata: meta }
}
