/**
 * Rights in a mailbox, evaluated before any role.
 *
 * A syncer reads its mailbox, and writes the status of placed objects and of its configs, and the objects that an upsync set names. No
 * other ServiceAccount acts there, and nobody but administrators in a space below a mailbox. Elsewhere a syncer's credential has no rights,
 * not even those of every authenticated user. Admission (syncerWrites.ts) judges changes of an object; here are the rules without the
 * object.
 */

import { isAssociable } from '../../placement/associated/associated.ts'
import { OUTCOME_SUBRESOURCE } from '../../placement/outcome/outcome.ts'
import { isPowerful } from '../../placement/select/upsyncSets.ts'
import { BOOTSTRAP_ACCOUNT } from '../../placement/spaces/syncerBootstrap.ts'
import { isInMailbox, isMailbox, MAILBOX_PARENT } from '../../placement/words/placement.ts'
import type { Attributes, BuiltinRules, Decision } from '../auth/types.ts'
import { foreignHome, isBootstrap, isRenewal, parseServiceAccountUserName, renews } from '../auth/users.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { isOnlooker } from './syncerIdentity.ts'
import { hasOwnStatus, isDemanded, isReport, SYNCER_USER } from './syncerReach.ts'
import type { UpsyncDemands } from './upsyncDemands.ts'

const ALLOWED: Decision = { allowed: true, reason: '' }
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
/** Discovery paths of clients. */
const DISCOVERY = /^\/(api|apis|openapi|version|livez|readyz|healthz)(\/|$)/
const SELF_REVIEWS: ReadonlySet<string> = new Set([
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
  'selfsubjectreviews',
])

export interface MailboxRulesDeps {
  tree: Pick<SpaceTree, 'pathOf'>
  demands: Pick<UpsyncDemands, 'of'>
}

export class MailboxRules implements BuiltinRules {
  readonly #deps: MailboxRulesDeps

  constructor(deps: MailboxRulesDeps) {
    this.#deps = deps
  }

  decide(attributes: Attributes): Decision | undefined | Promise<Decision | undefined> {
    const { user, space } = attributes
    const { tree } = this.#deps
    if (isBootstrap(user)) return bootstrap(attributes, tree.pathOf(space) ?? '')
    const home = foreignHome(user)
    if (home !== undefined && isInMailbox(tree.pathOf(home) ?? ''))
      return no("the credential of a mailbox's syncer is good in that mailbox only")
    const path = tree.pathOf(space) ?? ''
    if (!isInMailbox(path)) return undefined
    if (!isMailbox(path)) return no('spaces below a mailbox are closed')
    if (isRenewal(user)) return this.#renewal(attributes)
    if (parseServiceAccountUserName(user.name) === undefined) return undefined
    if (user.name !== SYNCER_USER) return no('no ServiceAccount acts in a mailbox but that of its syncer')
    return this.#syncer(attributes)
  }

  #renewal({ user, verb, resource, path }: Attributes): Decision {
    const account = renews(user)
    const asks =
      verb === 'create' &&
      resource?.group === '' &&
      resource.resource === 'serviceaccounts' &&
      resource.subresource === 'token' &&
      resource.namespace === account?.namespace &&
      resource.name === account.name
    if (asks || (verb === 'access' && path === '/')) return ALLOWED
    return no(
      'a renewal credential is good for nothing but asking for a token: ' +
        `serviceaccounts/token of ${account?.namespace}/${account?.name}`,
    )
  }

  #syncer({ user, verb, resource, path, space }: Attributes): Decision | Promise<Decision> {
    if (resource === undefined) {
      const open = verb === 'access' ? path === '/' : (verb === 'get' || verb === 'head') && DISCOVERY.test(path)
      return open ? ALLOWED : no('a syncer needs discovery only')
    }
    const { group, subresource, namespace, name } = resource
    if (READS.has(verb)) return subresource === '' || subresource === 'status' ? ALLOWED : no(MAY)
    if (isOnlooker(user)) return no('a token of a dry run reads only')
    const isChange = verb === 'update' || verb === 'patch'
    if (subresource === 'status') return isChange && (isReport(resource) || !hasOwnStatus(resource)) ? ALLOWED : no(MAY)
    if (subresource === OUTCOME_SUBRESOURCE) return verb === 'update' && isReport(resource) ? ALLOWED : no(MAY)
    if (subresource !== '') return no(MAY)
    if (verb === 'create' && SELF_REVIEWS.has(resource.resource) && group.startsWith('auth')) return ALLOWED
    if (isPowerful(resource)) return no('a syncer writes nothing that grants rights or steers a server')
    // A kind without `/status` has its status in the object itself.
    if (isChange) return ALLOWED
    // It deletes its upsynced objects, also without a set: admission recognizes them by their mark.
    if (verb === 'delete') return ALLOWED
    if (verb !== 'create') return no(MAY)
    // Whether it belongs to a copy that asks for it only the object tells: admission looks.
    if (isAssociable(resource)) return ALLOWED
    return this.#deps.demands
      .of(space)
      .then(sets => (isDemanded(sets, { resource, namespace, name }) ? ALLOWED : no(MAY)))
  }
}

/** In the core space it claims; elsewhere it does nothing. */
function bootstrap({ verb, resource, path }: Attributes, space: string): Decision {
  const asks =
    verb === 'create' &&
    resource?.group === '' &&
    resource.resource === 'serviceaccounts' &&
    resource.subresource === 'token' &&
    resource.namespace === BOOTSTRAP_ACCOUNT.namespace &&
    resource.name === BOOTSTRAP_ACCOUNT.name
  if (space === MAILBOX_PARENT && (asks || (verb === 'access' && path === '/'))) return ALLOWED
  return no("a bootstrap credential is good for nothing but claiming a syncer's credential")
}

const MAY =
  'a syncer writes the status of placed objects, and objects that an upsync set or a copy in its mailbox asks for'

function no(reason: string): Decision {
  return { allowed: false, reason }
}
