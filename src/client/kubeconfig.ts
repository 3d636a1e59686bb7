/**
 * Client options from a kubeconfig file. Credential plugins (exec, OIDC) are those of `@kubernetes/client-node`, loaded only
 * for a user who has one.
 * @see https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 */
import { readFile } from 'node:fs/promises'
import { has } from '../apimachinery/fields.ts'
import { messageOf } from '../apimachinery/messageOf.ts'
import type { HttpClientOptions } from './http/options.ts'
import { HOST_SPACES } from './http/paths.ts'
import { readKubeconfigContext } from './kubeconfigContext.ts'

export interface LoadedKubeconfig {
  /** For `httpSpaceClient` as it is; for `httpClient` with `server` replaced by `base`. */
  options: HttpClientOptions
  /** The URL of all spaces: the server without `/clusters/<space>`, or through a host cluster without `/<space>/proxy`. */
  base: string
  /** The space that the server's URL ends in, if it does. */
  space: string | undefined
  context: string
  /** Default namespace of the context. */
  namespace: string | undefined
}

/** @param context default: the file's current context. @throws Error when the file, context, cluster or user is missing */
export async function loadKubeconfig(path: string, context?: string): Promise<LoadedKubeconfig> {
  const read = await readKubeconfigContext(path, context)
  const { server, caPem } = read
  const obtained = read.asks ? await obtainedCredentials(path, read.name) : undefined
  const certPem = obtained?.certPem ?? read.certPem
  const keyPem = obtained?.keyPem ?? read.keyPem
  const token = read.tokenFile !== undefined ? await tokenIn(read.tokenFile) : (obtained?.token ?? read.token)
  const options: HttpClientOptions = {
    server,
    ...(caPem !== undefined && { caPem }),
    ...(certPem !== undefined && { certPem }),
    ...(keyPem !== undefined && { keyPem }),
    ...(token !== undefined && { token }),
    ...(read.insecure && { insecure: true }),
    ...(read.proxyUrl !== undefined && { proxyUrl: read.proxyUrl }),
    ...(read.tlsServerName !== undefined && { tlsServerName: read.tlsServerName }),
  }
  return { options, ...splitServer(server), context: read.name, namespace: read.namespace }
}

/** Credentials of a program or a provider that the context's user names; the token is read anew before each request. */
async function obtainedCredentials(
  path: string,
  context: string,
): Promise<Required<Pick<HttpClientOptions, 'token'>> & { certPem?: string; keyPem?: string }> {
  const { KubeConfig } = await import('./kubeConfigLibrary.ts')
  const config = new KubeConfig()
  // entries of other contexts are not our concern
  config.loadFromFile(path, { onInvalidEntry: 'filter' })
  config.setCurrentContext(context)
  const ask = async () => {
    const request: { cert?: unknown; key?: unknown; headers?: Record<string, string | string[]> } = {}
    await config.applyToHTTPSOptions(request as Parameters<typeof config.applyToHTTPSOptions>[0])
    return request
  }
  const { cert, key } = await ask()
  return {
    ...(has(cert) && { certPem: String(cert) }),
    ...(has(key) && { keyPem: String(key) }),
    token: async () => bearerOf((await ask()).headers),
  }
}

const ENDS_IN_SPACE = /^(.*?)\/clusters\/([^/]+)\/?$/
const THROUGH_HOST = new RegExp(`^(.*?${HOST_SPACES.replaceAll('.', '[.]')})/([^/]+)/proxy/?$`)

/** `https://host/prefix/clusters/<space>` as base and space, and `https://host/apis/tenancy.kcp.io/v1alpha1/spaces/<space>/proxy`. */
export function splitServer(server: string): { base: string; space: string | undefined } {
  const match = THROUGH_HOST.exec(server) ?? ENDS_IN_SPACE.exec(server)
  return match
    ? { base: match[1]!, space: match[2]!.replaceAll(/%3A/gi, ':') }
    : { base: server.replace(/\/+$/, ''), space: undefined }
}

/**
 * A token that is whatever the file holds now: it is renewed there, without a restart. It counts before one that stands in the
 * kubeconfig. A later fault leaves the last good one in use.
 * @throws Error when there is none to begin with
 */
async function tokenIn(file: string): Promise<() => Promise<string>> {
  const read = async (): Promise<string> => {
    const token = (await readFile(file, 'utf8')).trim()
    if (token === '') throw new Error('it is empty')
    return token
  }
  let last = await read().catch(error => {
    throw new Error(`tokenFile ${file}: no token can be read: ${messageOf(error)}`, { cause: error })
  })
  return async () => {
    last = await read().catch(() => last)
    return last
  }
}

function bearerOf(headers: Record<string, string | string[]> | undefined): string | undefined {
  const value = headers?.Authorization ?? headers?.authorization
  return typeof value === 'string' && value.startsWith('Bearer ') ? value.slice('Bearer '.length) : undefined
}
