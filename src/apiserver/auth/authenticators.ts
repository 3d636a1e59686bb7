/** Authenticators of a server, and their order. */
import type { Nature } from '../../placement/spaces/nature.ts'
import type { OidcOptions } from './oidcAuthenticator.ts'
import { type ObjectReader, ServiceAccountAuthenticator } from './serviceAccountAuthenticator.ts'
import type { TokenIssuer } from './serviceAccountTokens.ts'
import { StaticTokenAuthenticator } from './staticTokens.ts'
import type { Authenticator } from './types.ts'
import { UnionAuthenticator, type UnionOptions } from './union.ts'
import { X509Authenticator } from './x509.ts'

interface AuthenticatorsOptions {
  issuer: TokenIssuer
  getObject: ObjectReader
  /** Which ServiceAccounts act. */
  nature: Pick<Nature, 'acts'>
  /** Text of a static token file, as kube-apiserver's --token-auth-file. */
  tokenFile: string | undefined
  /** An issuer of ID tokens to trust; its `audiences` are the server's. */
  oidc: Omit<OidcOptions, 'audiences' | 'clock' | 'elapsed'> | undefined
  /** For credentials of further sorts. */
  more?: readonly Authenticator[]
  /** See {@link UnionOptions}. */
  onForgotten?: UnionOptions['onForgotten']
}

export async function authenticators(options: AuthenticatorsOptions): Promise<UnionAuthenticator> {
  const { issuer, getObject, nature, tokenFile, oidc, more = [], onForgotten } = options
  return new UnionAuthenticator({
    authenticators: [
      new X509Authenticator({ clock: Date.now }),
      ...(tokenFile === undefined ? [] : [new StaticTokenAuthenticator(tokenFile, { audiences: issuer.audiences })]),
      new ServiceAccountAuthenticator({ issuer, getObject, nature, clock: Date.now }),
      ...more,
      ...(oidc === undefined ? [] : [await oidcAuthenticator(oidc, issuer.audiences)]),
    ],
    clock: () => performance.now(),
    now: Date.now,
    ...(onForgotten && { onForgotten }),
  })
}

/** Loaded by servers that need it. Last of all authenticators: nobody waits for an issuer but those who name it. */
async function oidcAuthenticator(
  options: Omit<OidcOptions, 'audiences' | 'clock' | 'elapsed'>,
  audiences: readonly string[],
): Promise<Authenticator> {
  const { OidcAuthenticator } = await import('./oidcAuthenticator.ts')
  return new OidcAuthenticator({ ...options, audiences, clock: Date.now, elapsed: () => performance.now() })
}
