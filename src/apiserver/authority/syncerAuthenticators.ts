/**
 * Holders of the two credentials that lead to a syncer's token. They are in no group, so that no role reaches them.
 *
 * A renewal credential only requests tokens of a syncer's ServiceAccount. A bootstrap credential only claims the renewal credential of a
 * syncer. Its inventory and its end are signed: whoever may write its Secret can end it, and change nothing of it.
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
import {
  CREDENTIAL_ANNOTATION,
  CREDENTIAL_TYPE,
  EXPIRES_ANNOTATION,
  isRenewalCredential,
} from '../../placement/spaces/syncerCredential.ts'
import type { ObjectReader } from '../auth/serviceAccountAuthenticator.ts'
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import type { Authentication, Authenticator } from '../auth/types.ts'
import { bootstrapUserName, EXTRAS, renewalUserName } from '../auth/users.ts'
import { refused, verifiedClaims } from '../auth/verifiedClaims.ts'

interface Deps {
  issuer: Pick<TokenIssuer, 'publicKeys'>
  getObject: ObjectReader
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** A genuine credential. Its holder gets the reason why it is no longer good. */
interface Genuine {
  readonly claims: Readonly<Record<string, unknown>>
  /** Kubernetes' claims. */
  readonly claim: unknown
  readonly space: string
  readonly namespace: string
  /** Its Secret. */
  readonly name: string
  readonly uid: string
}

export function syncerAuthenticators({ issuer, getObject, clock }: Deps): Authenticator[] {
  const credential = (
    what: string,
    isOne: (token: string) => boolean,
    identify: (genuine: Genuine) => Promise<Authentication>,
  ): Authenticator => ({
    async authenticate({ token, audiences }) {
      if (token === undefined || !isOne(token)) return undefined
      // Nobody else is to take it for somebody's identity.
      if (audiences !== undefined) throw refused(`a ${what} credential is for its issuer alone`)
      const claims = await verifiedClaims(token, issuer)
      const claim = claims['kubernetes.io']
      const [space, namespace] = [str(claim, 'clusterName'), str(claim, 'namespace')]
      const [name, uid] = [str(claim, 'secret', 'name'), str(claim, 'secret', 'uid')]
      return await identify({ claims, claim, space, namespace, name, uid })
    },
  })
  return [
    credential('renewal', isRenewalCredential, async ({ claim, space, namespace, name, uid }) => {
      const account = { name: str(claim, 'serviceaccount', 'name'), uid: str(claim, 'serviceaccount', 'uid') }
      const [owner, secret] = await Promise.all([
        getObject(space, '', 'serviceaccounts', namespace, account.name),
        getObject(space, '', 'secrets', namespace, name),
      ])
      if (owner?.metadata.uid !== account.uid || secret?.metadata.uid !== uid || secret.type !== CREDENTIAL_TYPE)
        throw ended('the renewal credential was revoked, or replaced by a newer one', 'syncer rotate')
      const expires = secret.metadata.annotations?.[EXPIRES_ANNOTATION] ?? ''
      // what cannot be read is not good
      if (!(clock() < Date.parse(expires)))
        throw ended(`the renewal credential went unused until it expired, at ${expires}`, 'syncer rotate')
      const extra = { [EXTRAS.clusterName]: [space], [CREDENTIAL_ANNOTATION]: [name] }
      const user = { name: renewalUserName({ namespace, name: account.name }), uid: account.uid, groups: [], extra }
      return { user, space }
    }),
    credential('bootstrap', isBootstrapCredential, async ({ claims, space, namespace, name, uid }) => {
      const untilMs = num(claims, 'exp') * 1000
      if (clock() >= untilMs)
        throw ended(
          `the bootstrap credential "${name}" expired at ${new Date(untilMs).toISOString()}`,
          'bootstrap create',
        )
      const secret = await getObject(space, '', 'secrets', namespace, name)
      if (secret?.metadata.uid !== uid || secret.type !== BOOTSTRAP_TYPE)
        throw ended(`the bootstrap credential "${name}" was revoked`, 'bootstrap create')
      const extra = {
        [BOOTSTRAP_ANNOTATION]: [name],
        [INVENTORY_ANNOTATION]: [str(claims, 'inventory')],
        [APPROVES_ANNOTATION]: [str(claims, 'approves')],
      }
      return { user: { name: bootstrapUserName(name), groups: [], extra }, space, untilMs }
    }),
  ]
}

function ended(why: string, command: string): StatusError {
  return new StatusError('Unauthorized', `${why}; make another one with "kubectl kubestellar ${command}"`)
}
