/**
 * NoticeSinks: a writer sends nothing out of the space that they may not read. They need `list` and `watch` on its Events, and `get` on each
 * Secret that the sink names. These rights count at the write, as an EdgePlacement's do.
 */
import { statusError } from '../../apimachinery/errors.ts'
import type { GroupResource } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { secretsOf, sinkProblems } from '../../placement/notices/sinkSpec.ts'
import { NOTICE_SINKS } from '../../placement/words/placement.ts'
import type { Store } from '../../storage/store.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import type { Attributes, Authorizer } from '../auth/types.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { isServer } from './grantedLocationAdmission.ts'

/** Sinks of a space. */
export const MAX_SINKS = 10
const { group, resource } = NOTICE_SINKS

interface Deps {
  authorizer: Authorizer
  store: Pick<Store, 'list'>
}

export function sinkAdmission({ authorizer, store }: Deps): Admission {
  return {
    stage: 'validate',
    handles: (type, operation, subresource) => isSink(type) && operation !== 'DELETE' && subresource === '',
    concerns: ({ object, old }) => !old || !equalJson(object.spec, old.spec),
    async admit(request) {
      const { type, object, old, context } = request
      const name = object.metadata.name ?? ''
      const problems = sinkProblems(object.spec)
      if (problems.length > 0) throw statusError.invalid(type, name, problems)
      if (!old) {
        const { items } = await store.list(
          { space: context.space, group, resource },
          { limit: MAX_SINKS, uncounted: true },
        )
        if (items.length >= MAX_SINKS) {
          throw statusError.forbidden(type, name, `a space may have ${MAX_SINKS} ${resource}; delete one first`)
        }
      }
      if (isServer(context.user)) return
      const lacking = await lackingRight(authorizer, request)
      if (!lacking) return
      const why = `${lacking.field} sends what ${JSON.stringify(context.user.name)} may not read: ${forbiddenMessage(lacking.right)}`
      throw statusError.forbidden(type, name, why)
    },
  }
}

function isSink(type: GroupResource): boolean {
  return type.group === group && type.resource === resource
}

async function lackingRight(
  authorizer: Authorizer,
  { object, context: { user, space } }: AdmissionRequest,
): Promise<{ readonly field: string; readonly right: Attributes } | undefined> {
  const core = { group: '', version: 'v1', subresource: '' }
  const right = (verb: string, target: { resource: string; namespace: string; name: string }): Attributes => ({
    user,
    space,
    verb,
    resource: { ...core, ...target },
    path: '',
  })
  const events = { resource: 'events', namespace: '', name: '' }
  const needed = [
    ...['list', 'watch'].map(verb => ({ field: 'spec', right: right(verb, events) })),
    ...secretsOf(object.spec).map(({ field, secret: { namespace, name } }) => ({
      field,
      right: right('get', { resource: 'secrets', namespace, name }),
    })),
  ]
  for (const one of needed) if (!(await authorizer.authorize(one.right)).allowed) return one
  return undefined
}
