/** Both ends of a syncer as its kubeconfigs name them, followed for as long as it runs. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { SERVICE_ACCOUNTS } from '../../../apimachinery/resources.ts'
import { systemClock } from '../../../client/clock.ts'
import { httpSpaceClient } from '../../../client/http/httpClient.ts'
import type { HttpClientOptions, TlsMaterial } from '../../../client/http/options.ts'
import { spacePath } from '../../../client/http/paths.ts'
import { RenewedToken } from '../../../client/http/renewedToken.ts'
import { type LoadedKubeconfig, loadKubeconfig } from '../../../client/kubeconfig.ts'
import type { Logger } from '../../../client/logger.ts'
import { isRenewalCredential } from '../../../placement/spaces/syncerCredential.ts'
import { inCluster, versionOf } from '../process/inCluster.ts'

export const USER_AGENT = 'orrery-syncer'

/**
 * By what the kubeconfig holds, if that is a renewal credential; a token is used as it is. A read-only look begins no session, so that a
 * syncer that serves the cluster goes on.
 */
export function renewedToken(
  kubeconfig: LoadedKubeconfig,
  credential: () => Promise<string | undefined>,
  logger: Logger,
  { looks }: { looks: boolean },
): RenewedToken {
  return new RenewedToken({
    credential,
    logger,
    clock: systemClock,
    random: Math.random,
    ask: (token, request) => requestToken(kubeconfig, request, { token, dryRun: looks }),
  })
}

/** The center's answer to a TokenRequest. */
export async function requestToken(
  { options, base, space }: LoadedKubeconfig,
  request: KubeObject,
  { dryRun = false, ...more }: Pick<HttpClientOptions, 'token' | 'signal'> & { dryRun?: boolean },
): Promise<KubeObject> {
  const server = `${base}${spacePath(base, space ?? '')}`
  const client = httpSpaceClient({ ...options, server, userAgent: USER_AGENT, ...more })
  try {
    return await client.create(SERVICE_ACCOUNTS, request, { subresource: 'token', dryRun })
  } finally {
    client.close()
  }
}

/** @throws Error that names the flag, where the file is not to be read */
export async function kubeconfigOf(
  flag: KubeconfigFlag,
  path: string,
  context: string | undefined,
): Promise<LoadedKubeconfig> {
  try {
    return await loadKubeconfig(path, context)
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? UNREADABLE[String(error.code)] : undefined
    if (why === undefined) throw error
    throw new Error(`${flag}: ${path} ${why}; ${WHICH_FILE[flag]}`, { cause: error })
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder',
}
type KubeconfigFlag = '--from-kubeconfig' | '--to-kubeconfig'
const WHICH_FILE: Readonly<Record<KubeconfigFlag, string>> = {
  '--from-kubeconfig':
    'give it the kubeconfig of the mailbox, which "kubectl kubestellar prep-for-syncer" or "prep-for-cluster" makes',
  '--to-kubeconfig': 'give it a kubeconfig of the cluster that the syncer shall serve',
}

export async function tokenOf({ options: { token } }: LoadedKubeconfig): Promise<string | undefined> {
  return typeof token === 'function' ? await token() : token
}

interface FollowedKubeconfig {
  first: LoadedKubeconfig
  /** The token that the file holds now: a renewed one is taken up without a restart. */
  token: () => Promise<string | undefined>
  /** Certificates follow the latest read of the token. */
  tls: () => TlsMaterial
  /** Resolves when the file names another server or space. */
  elsewhere: Promise<void>
}

/** @throws Error when the file cannot be used now; later faults leave what was good last in use */
export async function followedKubeconfig(
  flag: KubeconfigFlag,
  path: string,
  context: string | undefined,
  log: Logger,
): Promise<FollowedKubeconfig> {
  const first = await kubeconfigOf(flag, path, context)
  const elsewhere = Promise.withResolvers<void>()
  let current = first
  let seen = versionOf(path)
  return {
    first,
    elsewhere: elsewhere.promise,
    tls: () => current.options,
    async token() {
      const version = versionOf(path) ?? 'missing'
      if (version !== seen) {
        seen = version
        try {
          current = await loadKubeconfig(path, context)
        } catch (error) {
          log.warn({}, `the changed kubeconfig cannot be used, going on with the former: ${(error as Error).message}`)
        }
        if (current.base !== first.base || current.space !== first.space) elsewhere.resolve()
      }
      return await tokenOf(current)
    },
  }
}

/** The cluster's end, with the credentials that there are at the time. */
export async function followedCluster(
  settings: Record<string, unknown>,
  log: Logger,
): Promise<{ options: HttpClientOptions; elsewhere: Promise<void> }> {
  const path = settings.toKubeconfig as string | undefined
  const options = await clusterOptions(settings)
  if (path === undefined) return { options, elsewhere: new Promise<void>(() => {}) }
  const followed = await followedKubeconfig('--to-kubeconfig', path, settings.toContext as string | undefined, log)
  return {
    options: { ...options, token: followed.token, tls: followed.tls },
    elsewhere: followed.elsewhere,
  }
}

/** @throws Error when it is no cluster's */
export async function clusterOptions(settings: Record<string, unknown>): Promise<HttpClientOptions> {
  const path = settings.toKubeconfig as string | undefined
  if (path !== undefined) {
    const loaded = await kubeconfigOf('--to-kubeconfig', path, settings.toContext as string | undefined)
    // Checked before any request: no answer would reveal it, for such a credential may read nothing there.
    if (isRenewalCredential((await tokenOf(loaded)) ?? ''))
      throw new Error(
        `${path} holds a syncer's credential for a mailbox, and is no kubeconfig of a cluster; nothing was touched. ` +
          'Are the two kubeconfigs swapped?',
      )
    return loaded.options
  }
  const options = await inCluster()
  if (options === undefined) throw new Error('--to-kubeconfig is required outside a cluster')
  return options
}
