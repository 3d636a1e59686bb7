/**
 * Objects live in namespaces that exist and are not on their way out; three namespaces cannot be deleted.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle
 */
import { NAMESPACE_TERMINATING, StatusError, statusError } from '../../apimachinery/errors.ts'
import { type GroupResource, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { FIRST_NAMESPACES } from '../../placement/spaces/firstContent.ts'
import { mentions } from '../../storage/sharedStored.ts'
import type { Store, Stored } from '../../storage/store.ts'
import type { Admission } from '../registry/admission.ts'
import type { ParsedCache } from '../registry/codec.ts'
import type { WriteContext } from '../registry/context.ts'
import { keyOf } from '../registry/keys.ts'

const PROTECTED = new Set(FIRST_NAMESPACES)

/** Says of a namespace whether something new may come there. */
type NamespaceState = (space: string, name: string) => Soon<'lasting' | 'ending' | 'missing'>

export function namespaceState(deps: { store: Pick<Store, 'get'>; parsed: ParsedCache }): NamespaceState {
  /** As of the last look: each object in a namespace needs its own. */
  const lasting = new WeakSet<Stored>()
  const judge = (stored: Stored | undefined): 'lasting' | 'ending' | 'missing' => {
    if (stored === undefined) return 'missing'
    if (lasting.has(stored)) return 'lasting'
    if (mentions(stored, '"deletionTimestamp"') && deps.parsed.get(stored).metadata.deletionTimestamp !== undefined)
      return 'ending'
    lasting.add(stored)
    return 'lasting'
  }
  return (space, name) => whenKnown(deps.store.get(keyOf(space, NAMESPACES, '', name)), judge)
}

export function namespaceLifecycle(stateOf: NamespaceState): Admission {
  return {
    stage: 'gate',
    judgesPlaces: true,
    handles: (type, operation) =>
      operation === 'CREATE' ? type.namespaced : operation === 'DELETE' && isSameResource(type, NAMESPACES),
    admit({ operation, context, type, object }) {
      if (operation === 'DELETE') {
        const name = object.metadata.name ?? ''
        if (PROTECTED.has(name)) throw statusError.forbidden(NAMESPACES, name, 'this namespace may not be deleted')
        return
      }
      // Reviews are answered, not stored: they need no namespace.
      if (type.group === 'authorization.k8s.io') return
      const name = object.metadata.namespace ?? ''
      return whenKnown(stateOf(context.space, name), state => {
        if (state === 'missing' && !besideIt(context, name)) throw statusError.notFound(NAMESPACES, name)
        if (state === 'ending') throw namespaceTerminating(type, object, name)
      })
    },
  }
}

/** The Namespace that a preview imagines beside what it writes. */
export function besideIt(
  { beside = [] }: Pick<WriteContext, 'beside'>,
  name: string,
): Readonly<KubeObject> | undefined {
  return beside.find(one => one.kind === 'Namespace' && one.apiVersion === 'v1' && one.metadata.name === name)
}

/** @param name of the Namespace */
export function namespaceTerminating(type: GroupResource, object: KubeObject, name: string): StatusError {
  const why = `unable to create new content in namespace ${name} because it is being terminated`
  const refused = statusError.forbidden(type, object.metadata.name ?? '', why)
  return new StatusError('Forbidden', refused.message, {
    ...refused.details,
    causes: [
      {
        reason: NAMESPACE_TERMINATING,
        message: `namespace ${name} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  })
}
