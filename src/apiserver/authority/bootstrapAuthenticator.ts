/**
 * The holder of a bootstrap credential: somebody who may claim the credential of a syncer, and nothing else. In no group, so that no
 * role reaches them. Its inventory and its end are signed: whoever may write its Secret can end it, and change nothing of it.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { num, str } from '../../apimachinery/fields.ts'
import {
  APPROVES_ANNOTATION,
  BOOTSTRAP_ANNOTATION,
  BOOTSTRAP_TYPE,
  INVENTORY_ANNOTATION,
  isBootstrapCredential,
} from '../../placement/spaces/syncerBootstrap.ts'
import type { Authentication, Authenticator, Credentials } from '../auth/types.ts'
import { bootstrapUserName } from '../auth/users.ts'
import { refused, verifiedClaims } from '../auth/verifiedClaims.ts'
import type { RenewalAuthenticatorOptions } from './renewalAuthenticator.ts'

export class BootstrapAuthenticator implements Authenticator {
  readonly #options: RenewalAuthenticatorOptions

  constructor(options: RenewalAuthenticatorOptions) {
    this.#options = options
  }

  /** @throws StatusError Unauthorized; whoever has a genuine credential learns how it ended */
  async authenticate({ token, audiences }: Credentials): Promise<Authentication | undefined> {
    if (token === undefined || !isBootstrapCredential(token)) return undefined
    if (audiences !== undefined) throw refused('a bootstrap credential is for its issuer alone')
    const { issuer, getObject, clock } = this.#options
    const claims = await verifiedClaims(token, issuer)
    const claim = claims['kubernetes.io']
    const [space, namespace] = [str(claim, 'clusterName'), str(claim, 'namespace')]
    const [name, uid] = [str(claim, 'secret', 'name'), str(claim, 'secret', 'uid')]
    const untilMs = num(claims, 'exp') * 1000
    if (clock() >= untilMs)
      throw ended(`the bootstrap credential "${name}" expired at ${new Date(untilMs).toISOString()}`)
    const secret = await getObject(space, '', 'secrets', namespace, name)
    if (secret?.metadata.uid !== uid || secret.type !== BOOTSTRAP_TYPE)
      throw ended(`the bootstrap credential "${name}" was revoked`)
    const extra = {
      [BOOTSTRAP_ANNOTATION]: [name],
      [INVENTORY_ANNOTATION]: [str(claims, 'inventory')],
      [APPROVES_ANNOTATION]: [str(claims, 'approves')],
    }
    return { user: { name: bootstrapUserName(name), groups: [], extra }, space, untilMs }
  }
}

function ended(why: string): StatusError {
  return new StatusError('Unauthorized', `${why}; make another one with "kubectl kubestellar bootstrap create"`)
}
