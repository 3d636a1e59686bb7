/** What a token of this server says, once its signature has been checked. */
import { StatusError } from '../../apimachinery/errors.ts'
import { isRecord } from '../../apimachinery/object.ts'
import type { TokenIssuer } from './serviceAccountTokens.ts'

/** @throws StatusError Unauthorized, whose cause says why */
export async function verifiedClaims(
  token: string,
  issuer: Pick<TokenIssuer, 'publicKeys'>,
): Promise<Record<string, unknown>> {
  const { compactVerify } = await import('jose')
  try {
    const verified = await compactVerify(
      token,
      header => {
        const key = issuer.publicKeys.get(header.kid ?? '')
        if (key === undefined) throw new Error('the token is signed with an unknown key')
        return key
      },
      { algorithms: ['ES256'] },
    )
    const claims: unknown = JSON.parse(Buffer.from(verified.payload).toString())
    if (isRecord(claims)) return claims
  } catch (error) {
    throw refused(error instanceof Error ? error.message : 'the token is malformed')
  }
  throw refused('the token is malformed')
}

/** The client only hears `Unauthorized`; TokenReview and logs may tell the cause, which never holds the token. */
export function refused(why: string): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized', undefined, { cause: new Error(why) })
}
