/** Documents of one space: what it holds and may hold, and OpenID discovery of the issuer of its tokens. */
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import type { PathEntry } from '../http/paths.ts'

/** `text`: as JSON. @see budgetDocument.ts */
export function budgetPath(text: (space: string, isAbandoned: () => boolean) => Promise<string>): PathEntry {
  return {
    path: '/budget',
    async handle(_request, answer, { space }) {
      answer.type('application/json').send(await text(space, () => answer.destroyed))
    },
  }
}

export function openIdPaths(issuer: Pick<TokenIssuer, 'openidConfiguration' | 'jwks'>): PathEntry[] {
  const entry = (path: string, type: string, document: (space: string) => unknown): PathEntry => ({
    path,
    handle: (_request, answer, { space }) => {
      answer.header('content-type', type).send(Buffer.from(JSON.stringify(document(space))))
    },
  })
  return [
    entry('/.well-known/openid-configuration', 'application/json', space => issuer.openidConfiguration(space)),
    entry('/openid/v1/jwks', 'application/jwk-set+json', () => issuer.jwks()),
  ]
}
