/**
 * How many settings a space may have that every write there is held against: webhooks, policies, quotas, defaults. Each costs a little
 * of each write, and of each change of another one, whether it concerns the write or not.
 */
import { statusError } from '../../apimachinery/errors.ts'
import { type GroupResource, isSameResource } from '../../apimachinery/object.ts'
import type { Admission } from '../registry/admission.ts'
import { nameOf } from './attributes.ts'
import type { ConfigurationLog } from './configurationLog.ts'

/** Bound on one kind, in a namespace; for a cluster-scoped kind, in the space. */
export const MAX_IN_NAMESPACE = 1000
export const MAX_IN_SPACE = 5000
export const MAX_BYTES = 16 * 1024 * 1024

export function settingsLimit(settings: Pick<ConfigurationLog, 'size'>, kinds: readonly GroupResource[]): Admission {
  const isSetting = (type: GroupResource): boolean => kinds.some(kind => isSameResource(kind, type))
  return {
    stage: 'validate',
    handles: (type, operation, subresource) => operation !== 'DELETE' && subresource === '' && isSetting(type),
    admit(request) {
      const { context, type, object, old } = request
      const { objects, bytes } = settings.size(context.space, type, object.metadata.namespace ?? '')
      const [most, place] = type.namespaced ? [MAX_IN_NAMESPACE, 'namespace'] : [MAX_IN_SPACE, 'space']
      const refuse = (what: string): Error =>
        statusError.forbidden(type, nameOf(request), `a ${place} may have ${what} ${type.resource}; delete some first`)
      if (old === undefined && objects >= most) throw refuse(String(most))
      const more = lengthOf(object) - (old === undefined ? 0 : lengthOf(old))
      if (more > 0 && bytes + more > MAX_BYTES) throw refuse(`${MAX_BYTES} bytes of`)
    },
  }
}

function lengthOf(object: object): number {
  return JSON.stringify(object).length
}
