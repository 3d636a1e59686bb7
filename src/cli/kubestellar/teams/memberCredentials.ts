/** Credentials of members that others gave out: a sign-in at an OpenID Connect provider, and a token. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { isStatusError } from '../../../apimachinery/errors.ts'
import { str } from '../../../apimachinery/fields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import type { GroupVersionResource } from '../../../apimachinery/object.ts'
import { httpSpaceClient } from '../../../client/http/httpClient.ts'
import { CommandError } from '../../shell/commandError.ts'
import type { Session } from '../../shell/session/session.ts'
import { serverOf } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { serverAccess } from '../syncers/prepForSyncer.ts'

export interface CredentialOrder {
  readonly session: Session
  /** Path of the space. */
  readonly path: string
  readonly user: string
  readonly terminal: Terminal
}

const REVIEWS: GroupVersionResource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'selfsubjectreviews',
}
const ACCOUNT = 'system:serviceaccount:'

interface OidcClient {
  readonly issuerUrl: string
  readonly clientId: string
  readonly scopes: readonly string[]
}

/** By kubelogin, the plugin of kubectl for this: it opens the provider's page and keeps the ID token. @throws CommandError */
export function oidcCredential({ issuerUrl, clientId, scopes }: OidcClient): object {
  if (URL.parse(issuerUrl)?.protocol !== 'https:')
    throw new CommandError(`--oidc-issuer-url: ${JSON.stringify(issuerUrl)} is no https:// URL`)
  const args = [
    'oidc-login',
    'get-token',
    `--oidc-issuer-url=${issuerUrl}`,
    `--oidc-client-id=${clientId}`,
    ...scopes.map(scope => `--oidc-extra-scope=${scope}`),
  ]
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'kubectl',
      args,
      installHint: 'The plugin "oidc-login" of kubectl is missing: kubectl krew install oidc-login',
      interactiveMode: 'IfAvailable',
      provideClusterInfo: false,
    },
  }
}

/** A token, once the server has confirmed its user. @throws CommandError where it is nobody's or somebody else's */
export async function tokenCredential(order: CredentialOrder, file: string) {
  const { session, path, user, terminal } = order
  const token = (await tokenIn(file, terminal)).trim()
  if (token === '' || /\s/.test(token)) throw new CommandError(`--token-file: ${file} holds no token`)
  const server = serverOf(session.base, path)
  const { proxyUrl } = session.options
  const client = httpSpaceClient({
    ...serverAccess(session, server),
    token,
    ...(proxyUrl !== undefined && { proxyUrl }),
  })
  const credential = { token }
  try {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} }
    const found = str(await client.create(REVIEWS, review), 'status', 'userInfo', 'username')
    const isMeant = found === user || (found.startsWith(ACCOUNT) && found.endsWith(`:${user}`))
    if (!isMeant)
      throw new CommandError(`--token-file: the token is of user ${JSON.stringify(found)}; say --for with that name`)
    return { credential, facts: [`the token of ${found}, which may enter ${path}`] }
  } catch (error) {
    if (isStatusError(error, 'Unauthorized'))
      throw new CommandError('--token-file: the server refuses the token: it is wrong, expired or revoked', 1, {
        cause: error,
      })
    if (!isStatusError(error, 'Forbidden')) throw error
    const note = `the user of the token may not enter ${path} yet: kubectl kubestellar ensure team lets members in.`
    return { credential, facts: ['a token, as it stands there'], note }
  } finally {
    client.close()
  }
}

async function tokenIn(file: string, terminal: Terminal): Promise<string> {
  if (file === '-') return terminal.input ?? (await text(process.stdin))
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandError(`--token-file: ${file} cannot be read: ${messageOf(error)}`, 1, { cause: error })
  }
}
