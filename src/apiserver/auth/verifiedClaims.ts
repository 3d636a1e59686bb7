/** Claims of a token of this server, once its signature has been checked. */
import { hash } from 'node:crypto'
import type { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { StatusError } from '../../apimachinery/errors.ts'
import { isRecord } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { unverifiedClaims, unverifiedHeader } from './jwtClaims.ts'
import type { TokenIssuer } from './serviceAccountTokens.ts'

/**
 * Tokens whose signature was good, by their hashes, with the key that it was good for. That is true for ever while the key is
 * one; whether the token is still good is another question.
 */
export type SignedTokens = BoundedCache<string, object>

/** Known at once of a token that is among the `signed`. @throws StatusError Unauthorized, whose cause says why */
export function verifiedClaims(
  token: string,
  issuer: Pick<TokenIssuer, 'publicKeys'>,
  signed?: SignedTokens,
): Soon<Record<string, unknown>> {
  const digest = signed && hash('sha256', token, 'base64')
  const kid = unverifiedHeader(token)?.kid
  const key = typeof kid === 'string' ? issuer.publicKeys.get(kid) : undefined
  if (digest !== undefined && key !== undefined && signed?.get(digest) === key) {
    const known = unverifiedClaims(token)
    if (known !== undefined) return known
  }
  return verified(token, issuer, () => {
    if (digest !== undefined && key !== undefined) signed?.set(digest, key)
  })
}

/** `isGood` is called for a good signature, once claims were found. */
async function verified(
  token: string,
  issuer: Pick<TokenIssuer, 'publicKeys'>,
  isGood: () => void,
): Promise<Record<string, unknown>> {
  const { compactVerify } = await import('jose/jws/compact/verify')
  try {
    const { payload } = await compactVerify(
      token,
      header => {
        const key = issuer.publicKeys.get(header.kid ?? '')
        if (key === undefined) throw new Error('the token is signed with an unknown key')
        return key
      },
      { algorithms: ['ES256'] },
    )
    const claims: unknown = JSON.parse(Buffer.from(payload).toString())
    if (isRecord(claims)) {
      isGood()
      return claims
    }
  } catch (error) {
    throw refused(error instanceof Error ? error.message : 'the token is malformed')
  }
  throw refused('the token is malformed')
}

/** The client only gets `Unauthorized`; TokenReview and logs may hold the cause, which never holds the token. */
export function refused(why: string): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', undefined, { cause: new Error(why) })
}
