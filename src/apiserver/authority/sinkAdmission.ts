/**
 * NoticeSinks: a writer sends nothing out of the space that they may not read. They need `list` and `watch` on its Events, and `get` on each
 * Secret that the sink names. These rights count at the write, as an EdgePlacement's do.
 */
import { secretsOf, sinkProblems } from '../../placement/notices/sinkSpec.ts'
import { NOTICE_SINKS } from '../../placement/words/placement.ts'
import type { Store } from '../../storage/store.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import { questionOf } from '../auth/questions.ts'
import type { Attributes, Authorizer } from '../auth/types.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { changes, refused, requireNone, specOf, writesOf } from '../registry/admissionFrame.ts'
import { isServer } from '../registry/context.ts'

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
    handles: writesOf(NOTICE_SINKS),
    concerns: changes(specOf),
    async admit(request) {
      const { object, old, context } = request
      requireNone(request, sinkProblems(object.spec))
      if (!old) {
        const range = { space: context.space, group, resource }
        const { items } = await store.list(range, { limit: MAX_SINKS, uncounted: true })
        if (items.length >= MAX_SINKS)
          throw refused(request, `a space may have ${MAX_SINKS} ${resource}; delete one first`)
      }
      if (isServer(context.user)) return
      const lacking = await lackingRight(authorizer, request)
      if (!lacking) return
      const why = `${lacking.field} sends what ${JSON.stringify(context.user.name)} may not read: ${forbiddenMessage(lacking.right)}`
      throw refused(request, why)
    },
  }
}

async function lackingRight(
  authorizer: Authorizer,
  { object, context }: AdmissionRequest,
): Promise<{ readonly field: string; readonly right: Attributes } | undefined> {
  const right = (verb: string, target: { resource: string; namespace?: string; name?: string }): Attributes =>
    questionOf(context, verb, { group: '', version: 'v1', ...target })
  const needed = [
    ...['list', 'watch'].map(verb => ({ field: 'spec', right: right(verb, { resource: 'events' }) })),
    ...secretsOf(object.spec).map(({ field, secret: { namespace, name } }) => ({
      field,
      right: right('get', { resource: 'secrets', namespace, name }),
    })),
  ]
  for (const one of needed) if (!(await authorizer.authorize(one.right)).allowed) return one
  return undefined
}
