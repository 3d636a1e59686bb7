/**
 * Holders of a renewal credential: their only right is to request tokens of a syncer's ServiceAccount. In no group, so that no role reaches
 * them.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { str } from '../../apimachinery/fields.ts'
import {
  CREDENTIAL_ANNOTATION,
  CREDENTIAL_TYPE,
  EXPIRES_ANNOTATION,
  isRenewalCredential,
} from '../../placement/spaces/syncerCredential.ts'
import type { ObjectReader } from '../auth/serviceAccountAuthenticator.ts'
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import type { Authentication, Authenticator, Credentials } from '../auth/types.ts'
import { EXTRAS, renewalUserName } from '../auth/users.ts'
import { refused, verifiedClaims } from '../auth/verifiedClaims.ts'

export interface RenewalAuthenticatorOptions {
  issuer: Pick<TokenIssuer, 'publicKeys'>
  getObject: ObjectReader
  /** Milliseconds since the epoch. */
  clock: () => number
}

export class RenewalAuthenticator implements Authenticator {
  readonly #options: RenewalAuthenticatorOptions

  constructor(options: RenewalAuthenticatorOptions) {
    this.#options = options
  }

  /** @throws StatusError Unauthorized; the holder of a genuine credential gets the reason */
  async authenticate({ token, audiences }: Credentials): Promise<Authentication | undefined> {
    if (token === undefined || !isRenewalCredential(token)) return undefined
    // Nobody else is to take it for somebody's identity.
    if (audiences !== undefined) throw refused('a renewal credential is for its issuer alone')
    const { issuer, getObject, clock } = this.#options
    const claim = (await verifiedClaims(token, issuer))['kubernetes.io']
    const [space, namespace] = [str(claim, 'clusterName'), str(claim, 'namespace')]
    const account = { name: str(claim, 'serviceaccount', 'name'), uid: str(claim, 'serviceaccount', 'uid') }
    const credential = { name: str(claim, 'secret', 'name'), uid: str(claim, 'secret', 'uid') }
    const [owner, secret] = await Promise.all([
      getObject(space, '', 'serviceaccounts', namespace, account.name),
      getObject(space, '', 'secrets', namespace, credential.name),
    ])
    if (
      owner?.metadata.uid !== account.uid ||
      secret?.metadata.uid !== credential.uid ||
      secret.type !== CREDENTIAL_TYPE
    )
      throw ended('the renewal credential was revoked, or replaced by a newer one')
    const expires = secret.metadata.annotations?.[EXPIRES_ANNOTATION] ?? ''
    // what cannot be read is not good
    if (!(clock() < Date.parse(expires)))
      throw ended(`the renewal credential went unused until it expired, at ${expires}`)
    return {
      user: {
        name: renewalUserName({ namespace, name: account.name }),
        uid: account.uid,
        groups: [],
        extra: { [EXTRAS.clusterName]: [space], [CREDENTIAL_ANNOTATION]: [credential.name] },
      },
      space,
    }
  }
}

function ended(why: string): StatusError {
  return new StatusError('Unauthorized', `${why}; make another one with "kubectl kubestellar syncer rotate"`)
}
