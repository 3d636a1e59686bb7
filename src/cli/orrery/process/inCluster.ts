/** How a Pod reaches the cluster that it runs in, by its ServiceAccount. */
import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { HttpClientOptions, TlsMaterial } from '../../../client/http/options.ts'

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** `undefined` outside a Pod. */
export async function inCluster(): Promise<HttpClientOptions | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
  if (!host || !port) return undefined
  const authority = `${FOLDER}/ca.crt`
  const tokenFile = `${FOLDER}/token`
  let seen = versionOf(authority)
  let tls: TlsMaterial = { caPem: await readFile(authority, 'utf8') }
  let token = ''
  let tokenSeen: string | undefined
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: () => tls,
    // The kubelet renews what is in these files: look each time.
    async token() {
      const version = versionOf(authority)
      if (version !== seen) tls = { caPem: await readFile(authority, 'utf8') }
      seen = version
      const tokenVersion = versionOf(tokenFile)
      if (tokenVersion === undefined || tokenVersion !== tokenSeen) token = (await readFile(tokenFile, 'utf8')).trim()
      tokenSeen = tokenVersion
      return token
    },
  }
}

/** @throws Error where there is none */
export function inClusterNamespace(): string {
  return readFileSync(`${FOLDER}/namespace`, 'utf8').trim()
}

/**
 * Follows symbolic links, by which mounted Secrets change. Before each request: a thread that looks instead costs a hundred times
 * as much.
 * @returns `undefined` where nothing is to be seen
 */
export function versionOf(path: string): string | undefined {
  try {
    const { ino, mtimeMs, size } = statSync(path)
    return `${ino} ${mtimeMs} ${size}`
  } catch {
    return undefined
  }
}
