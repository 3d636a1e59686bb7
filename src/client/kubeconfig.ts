/**
 * Client options from a kubeconfig file. Reading and credential plugins (exec, OIDC) are those of `@kubernetes/client-node`,
 * loaded only when this is called; `tokenFile`, which it does not know, is read here.
 * @see https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { objects, str } from '../apimachinery/fields.ts'
import { messageOf } from '../apimachinery/messageOf.ts'
import type { HttpClientOptions } from './http/options.ts'

export interface LoadedKubeconfig {
  /** For `httpSpaceClient` as it is; for `httpClient` with `server` replaced by `base`. */
  options: HttpClientOptions
  /** The server without `/clusters/<space>`. */
  base: string
  /** The space that the server's URL ends in, if it does. */
  space: string | undefined
  context: string
  /** Default namespace of the context. */
  namespace: string | undefined
}

/** @param context default: the file's current context. @throws Error when the file, context, cluster or user is missing */
export async function loadKubeconfig(path: string, context?: string): Promise<LoadedKubeconfig> {
  const { KubeConfig } = await import('./kubeConfigLibrary.ts')
  const config = new KubeConfig()
  config.loadFromFile(path)
  const wanted = context ?? config.getCurrentContext()
  if (!wanted) throw new Error(`${path}: no context is named and none is current`)
  const found = config.getContextObject(wanted)
  if (!found) throw new Error(`${path}: no context "${wanted}"`)
  config.setCurrentContext(wanted)
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new Error(`${path}: context "${wanted}" names cluster "${found.cluster}", which is missing`)
  const user = config.getCurrentUser()
  if (!user && found.user) throw new Error(`${path}: context "${wanted}" names user "${found.user}", which is missing`)
  if (user?.username)
    throw new Error(`${path}: user "${user.name}": passwords are not supported, use a token or a certificate`)

  const ask = async () => {
    const request: { ca?: unknown; cert?: unknown; key?: unknown; headers?: Record<string, string | string[]> } = {}
    await config.applyToHTTPSOptions(request as Parameters<typeof config.applyToHTTPSOptions>[0])
    return request
  }
  const first = await ask()
  const tokenFile = user ? await tokenFileOf(path, user.name) : undefined
  const changing = Boolean(user?.exec || user?.authProvider)
  const token =
    tokenFile !== undefined
      ? await tokenIn(tokenFile)
      : changing
        ? async () => bearerOf((await ask()).headers)
        : bearerOf(first.headers)
  const pem = { caPem: pemOf(first.ca), certPem: pemOf(first.cert), keyPem: pemOf(first.key) }
  const options: HttpClientOptions = {
    server: cluster.server,
    ...(pem.caPem !== undefined && { caPem: pem.caPem }),
    ...(pem.certPem !== undefined && { certPem: pem.certPem }),
    ...(pem.keyPem !== undefined && { keyPem: pem.keyPem }),
    ...(token !== undefined && { token }),
    ...(cluster.skipTLSVerify && { insecure: true }),
    ...(cluster.tlsServerName && { tlsServerName: cluster.tlsServerName }),
  }
  return { options, ...splitServer(cluster.server), context: wanted, namespace: found.namespace }
}

/** `https://host/prefix/clusters/<space>` as base and space. */
export function splitServer(server: string): { base: string; space: string | undefined } {
  const match = /^(.*?)\/clusters\/([^/]+)\/?$/.exec(server)
  return match ? { base: match[1]!, space: match[2]! } : { base: server.replace(/\/+$/, ''), space: undefined }
}

/** Relative to the kubeconfig, as kubectl takes it. */
async function tokenFileOf(path: string, user: string): Promise<string | undefined> {
  const config: unknown = parse(await readFile(path, 'utf8'))
  const entry = objects(config, 'users').find(({ name }) => name === user)
  const file = str(entry, 'user', 'tokenFile')
  return file === '' ? undefined : resolve(dirname(path), file)
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

function pemOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value)
}
