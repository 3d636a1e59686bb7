/**
 * Objects live in namespaces that exist and are not on their way out; three namespaces cannot be deleted.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import { mentions } from '../../storage/sharedStored.ts'
import type { Store } from '../../storage/store.ts'
import type { Admission } from '../registry/admission.ts'
import type { ParsedCache } from '../registry/codec.ts'
import { keyOf } from '../registry/keys.ts'

const PROTECTED = new Set(['default', 'kube-system', 'kube-public'])

export function namespaceLifecycle(deps: { store: Store; parsed: ParsedCache }): Admission {
  return {
    stage: 'gate',
    isSwift: true,
    handles: (type, operation) =>
      operation === 'CREATE'
        ? type.namespaced
        : operation === 'DELETE' && type.group === '' && type.resource === 'namespaces',
    async admit({ operation, context, type, object }) {
      if (operation === 'DELETE') {
        const name = object.metadata.name ?? ''
        if (PROTECTED.has(name)) throw statusError.forbidden(NAMESPACES, name, 'this namespace may not be deleted')
        return
      }
      // Reviews are answered, not stored: they need no namespace.
      if (type.group === 'authorization.k8s.io') return
      const name = object.metadata.namespace ?? ''
      const stored = await deps.store.get(keyOf(context.space, NAMESPACES, '', name))
      if (stored === undefined) throw statusError.notFound(NAMESPACES, name)
      if (!mentions(stored, '"deletionTimestamp"')) return
      if (deps.parsed.get(stored).metadata.deletionTimestamp === undefined) return
      const why = `unable to create new content in namespace ${name} because it is being terminated`
      const refused = statusError.forbidden(type, object.metadata.name ?? '', why)
      throw new StatusError('Forbidden', refused.message, {
        ...refused.details,
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${name} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      })
    },
  }
}
