/**
 * Content of a kubeconfig's context, with the files that it names. Nearly all hold a certificate or a token: those are read here, for a few
 * milliseconds. Credentials of a program or a provider need `kubeConfigLibrary.ts`, hundreds of files to load.
 * @see https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { at, has, objects, record, str } from '../apimachinery/fields.ts'

interface KubeconfigContext {
  name: string
  /** Default namespace. */
  namespace: string | undefined
  /** Without a slash at its end. */
  server: string
  insecure: boolean
  tlsServerName: string | undefined
  /** URL of the HTTP proxy that leads to the server. */
  proxyUrl: string | undefined
  caPem: string | undefined
  certPem: string | undefined
  keyPem: string | undefined
  /** As it stands in the kubeconfig. */
  token: string | undefined
  /** Path of a file that holds the token, and counts before it. */
  tokenFile: string | undefined
  /** Whether a program or a provider gives the credentials. */
  asks: boolean
}

/** @param name default: the current one. @throws Error when the file, context, cluster or user is missing or cannot be used */
export async function readKubeconfigContext(path: string, name?: string): Promise<KubeconfigContext> {
  const config: unknown = parse(await readFile(path, 'utf8'))
  const wanted = name ?? str(config, 'current-context')
  if (!wanted) throw new Error(`${path}: no context is named and none is current`)
  const entry = (list: string, of: string) => objects(config, list).find(each => each.name === of)
  const context = entry('contexts', wanted)
  if (!context) throw new Error(`${path}: no context "${wanted}"`)
  const clusterName = str(context, 'context', 'cluster')
  const found = entry('clusters', clusterName)
  if (!found) throw new Error(`${path}: context "${wanted}" names cluster "${clusterName}", which is missing`)
  const cluster = record(found, 'cluster')
  const userName = str(context, 'context', 'user')
  const user = record(entry('users', userName), 'user')
  if (userName && !entry('users', userName))
    throw new Error(`${path}: context "${wanted}" names user "${userName}", which is missing`)
  if (user.username)
    throw new Error(`${path}: user "${userName}": passwords are not supported, use a token or a certificate`)
  const server = str(cluster, 'server').replace(/\/$/, '')
  if (!server) throw new Error(`${path}: cluster "${clusterName}" has no server`)
  const insecure = cluster['insecure-skip-tls-verify'] === true
  if (server.startsWith('http:') && !insecure) {
    const remedy = 'use https, or insecure-skip-tls-verify if that is meant'
    throw new Error(`${path}: cluster "${clusterName}": ${server} is not encrypted: ${remedy}`)
  }
  const proxyUrl = text(cluster['proxy-url'])
  if (proxyUrl !== undefined && !/^https?:$/.test(URL.parse(proxyUrl)?.protocol ?? ''))
    throw new Error(
      `${path}: cluster "${clusterName}": proxy-url is no http:// or https:// URL: other proxies are not spoken to`,
    )
  const beside = (file: string): string => resolve(dirname(path), file)
  /** Data in the kubeconfig counts before the file that it names. */
  const pem = async (holder: Record<string, unknown>, field: string): Promise<string | undefined> => {
    const data = str(holder, `${field}-data`)
    if (data) return Buffer.from(data, 'base64').toString()
    const file = str(holder, field)
    return file ? await readFile(beside(file), 'utf8') : undefined
  }
  const tokenFile = str(user, 'tokenFile')
  return {
    name: wanted,
    namespace: text(at(context, 'context', 'namespace')),
    server,
    insecure,
    tlsServerName: text(cluster['tls-server-name']),
    proxyUrl,
    caPem: await pem(cluster, 'certificate-authority'),
    certPem: await pem(user, 'client-certificate'),
    keyPem: await pem(user, 'client-key'),
    token: text(user.token),
    tokenFile: tokenFile ? beside(tokenFile) : undefined,
    asks: has(user, 'exec') || has(user, 'auth-provider'),
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
