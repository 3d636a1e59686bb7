/** `orrery syncer`: carries between a mailbox space and the cluster beside which it runs. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { isStatusError } from '../../../apimachinery/errors.ts'
import { parseJsonSafely } from '../../../apimachinery/jsonParse.ts'
import type { GroupVersionResource } from '../../../apimachinery/object.ts'
import { systemClock } from '../../../client/clock.ts'
import { type ClosableClient, httpClient, httpSpaceClient } from '../../../client/http/httpClient.ts'
import type { HttpClientOptions, TlsMaterial } from '../../../client/http/options.ts'
import { spacePath } from '../../../client/http/paths.ts'
import { RenewedToken } from '../../../client/http/renewedToken.ts'
import { type LoadedKubeconfig, loadKubeconfig } from '../../../client/kubeconfig.ts'
import { type Logger, silentLogger } from '../../../client/logger.ts'
import { isRenewalCredential } from '../../../placement/spaces/syncerCredential.ts'
import { CLUSTER_RECORD } from '../../../placement/words/placement.ts'
import { keepPoolsSmall } from '../../../program/bufferPool.ts'
import { boundCertificateChains } from '../../../program/certificateChains.ts'
import { programVersion } from '../../../program/programVersion.ts'
import { WorkTurns } from '../../../program/workTurns.ts'
import { type AllowLists, ClusterAllowance } from '../../../syncer/mailbox/clusterAllowance.ts'
import { type Syncer, type SyncerOptions, startSyncer } from '../../../syncer/syncer.ts'
import { adopt, CONFIG_MAPS, isFrom } from '../../../syncer/whose/clusterRecord.ts'
import { mailboxOf, requireOtherServer } from '../../../syncer/whose/places.ts'
import { type Host, printFound } from '../host.ts'
import { inCluster, versionOf } from '../process/inCluster.ts'
import { createLightLog } from '../process/lightLog.ts'
import { logChoice } from '../process/logLevel.ts'
import { privateFolder } from '../process/privateFolder.ts'
import { systemdNotify } from '../process/systemdNotify.ts'
import { joined } from './join.ts'
import { SecretCredential } from './joinedCredential.ts'
import { printRehearsal, printUnknown } from './syncerDryRun.ts'
import { type SyncerAbout, SyncerHealth } from './syncerHealth.ts'

const USER_AGENT = 'orrery-syncer'
const SERVICE_ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
/** Requests under way at the end get this long. */
const GRACE_MS = 500
/** Requests that the cluster has of us at a time. */
export const IN_FLIGHT = 16
/** Of its answers, so that one that has no end fits beside all else into the little memory there is. A list comes in pages. */
export const ANSWER_LIMIT_BYTES = 16 * 1024 * 1024
/** After so long without a word of the syncer that serves the cluster another one takes over. */
const LEASE_MS = 15_000
const AGAIN = Symbol('again')

/** @throws Error in words for whoever started it, when it was given what does not belong together */
export async function runSyncerCommand(settings: Record<string, unknown>, host: Host): Promise<number> {
  keepPoolsSmall()
  parseJsonSafely()
  boundCertificateChains()
  if (settings.dryRun !== true) return await run(settings, host)
  try {
    return await run(settings, host)
  } catch (error) {
    return printUnknown(error, host)
  }
}

async function run(settings: Record<string, unknown>, host: Host): Promise<number> {
  const name = settings.syncTargetName as string | undefined
  const log = createLightLog({
    component: 'orrery-syncer',
    about: name ? { syncTarget: name } : {},
    ...logChoice(settings),
    write: host.log,
  })
  const allowance = new ClusterAllowance(allowListsIn(settings))
  const { fromKubeconfig, fromContext } = settings as { fromKubeconfig: string; fromContext?: string }
  const { stateDir, syncTargetUid } = settings as { stateDir?: string; syncTargetUid?: string }
  const isDryRun = settings.dryRun === true
  const terminated = host.terminated()
  const leaving = new AbortController()
  void terminated.then(() => leaving.abort())
  const secret = await secretCredential(settings, log)
  const joining = await joined({
    path: fromKubeconfig,
    credential: secret?.credential,
    context: fromContext,
    syncTargetName: name,
    stateDir,
    isDryRun,
    userAgent: USER_AGENT,
    healthAddress: settings.healthAddress as string | undefined,
    log,
    signal: leaving.signal,
    random: Math.random,
  })
  if (joining === undefined) return 0
  if (joining.path === secret?.credential.path) void secret.credential.follow(leaving.signal)
  const from = await followedKubeconfig('--from-kubeconfig', joining.path, joining.context, log)
  const centerBy = (renewed: RenewedToken): ClosableClient =>
    httpClient({
      ...from.first.options,
      server: from.first.base,
      tls: from.tls,
      token: () => renewed.token(),
      onRefused: token => renewed.refused(token),
      userAgent: USER_AGENT,
    })
  const renewed = renewedToken(from.first, from.token, log, { looks: isDryRun })
  const center = centerBy(renewed)
  const looker = centerBy(renewedToken(from.first, from.token, log, { looks: true }))
  const to = await followedCluster(settings, log)
  const cluster = httpSpaceClient({
    ...to.options,
    userAgent: USER_AGENT,
    inFlight: IN_FLIGHT,
    http2: true,
    answerLimitBytes: ANSWER_LIMIT_BYTES,
  })
  if (stateDir !== undefined && !isDryRun)
    privateFolder({ path: stateDir, flag: '--state-dir', entries: /^mailbox/, log })
  const options = {
    center,
    space: from.first.space ?? '',
    looking: looker.in(from.first.space ?? ''),
    cluster,
    allowance,
    versions: async () => ({ kubernetes: await cluster.version(), syncer: programVersion().version }),
    ...(settings.impersonate === true && { impersonate: (user: string) => cluster.as(user) }),
    adoptExisting: settings.adoptExisting === true,
    limit: { qps: settings.qps as number, burst: settings.burst as number },
    logger: log,
    clock: systemClock,
    random: Math.random,
    turns: new WorkTurns({ clock: () => performance.now() }),
    lease: { holder: `${hostname()}_${randomUUID()}`, durationMs: LEASE_MS },
    ...(stateDir !== undefined && { stateDir }),
    ...(syncTargetUid !== undefined && { syncTargetUid }),
  } satisfies SyncerOptions
  const close = (): void => {
    leaving.abort()
    for (const client of [center, looker, cluster, secret?.client]) client?.close()
  }
  if (isDryRun) {
    try {
      return await printRehearsal(options, settings, host)
    } finally {
      close()
    }
  }
  const ended = Promise.race([
    terminated.then(() => undefined),
    from.elsewhere.then(() => 'the kubeconfig names another mailbox now; start the syncer again to serve that one'),
    to.elsewhere.then(() => "the cluster's kubeconfig names another server now; start the syncer again to serve there"),
    renewed.ended,
  ])
  let syncer: Syncer | undefined
  const about: SyncerAbout = {
    syncTarget: name ?? from.first.context,
    centerServer: from.first.options.server,
    clusterServer: to.options.server,
  }
  const status = () => syncer && { ...about, ...syncer.status() }
  const health = await SyncerHealth.listen(settings.healthAddress as string | undefined, status, log)
  // Not when it serves: a center that is away, or another syncer that serves, is no fault of the service.
  const notified = systemdNotify('ready', `for ${name ?? from.first.options.server}`, { log })
  let trouble: string | undefined | typeof AGAIN
  do {
    syncer = startSyncer(options)
    log.info({ from: from.first.options.server }, 'syncer started')
    void syncer.synced.then(() => log.info({}, 'the mailbox is known, syncing'))
    trouble = await Promise.race([ended, syncer.refused, syncer.deposed.then((): typeof AGAIN => AGAIN)])
    if (trouble === AGAIN) log.warn({}, 'another syncer took over while the cluster could not be reached; standing by')
  } while (trouble === AGAIN)
  await notified
  const impatience = setTimeout(close, GRACE_MS)
  await syncer.stop()
  health?.close()
  clearTimeout(impatience)
  close()
  if (trouble !== undefined) throw new Error(trouble)
  return 0
}

/** By `--credential-secret`. */
async function secretCredential(
  settings: Record<string, unknown>,
  log: Logger,
): Promise<{ credential: SecretCredential; client: { close(): void } } | undefined> {
  const { credentialSecret, stateDir } = settings as { credentialSecret?: string; stateDir?: string }
  if (credentialSecret === undefined) return undefined
  const [namespace = '', name = '', ...more] = credentialSecret.split('/')
  if (namespace === '' || name === '' || more.length > 0)
    throw new Error(`--credential-secret: ${JSON.stringify(credentialSecret)} is no NAMESPACE/NAME of a Secret`)
  if (stateDir === undefined) throw new Error('--credential-secret needs --state-dir, into which its content is put')
  const client = httpSpaceClient({ ...(await followedCluster(settings, log)).options, userAgent: USER_AGENT })
  const common = { log, clock: systemClock, random: Math.random }
  return {
    credential: new SecretCredential({ cluster: client, ref: { namespace, name }, stateDir, ...common }),
    client,
  }
}

function allowListsIn(settings: Record<string, unknown>): AllowLists {
  const { allowNamespaces, allowKinds, allowClusterScoped } = settings as Record<string, string[] | undefined>
  return {
    ...(allowNamespaces && { namespaces: allowNamespaces }),
    ...(allowKinds && { kinds: allowKinds }),
    ...(allowClusterScoped && { clusterScoped: allowClusterScoped }),
  }
}

/** `orrery syncer adopt`: from now on the cluster is served from the mailbox of this kubeconfig. */
export async function adoptCluster(settings: Record<string, unknown>, host: Host): Promise<number> {
  const { fromKubeconfig, fromContext } = settings as { fromKubeconfig: string; fromContext?: string }
  const from = await kubeconfigOf('--from-kubeconfig', fromKubeconfig, fromContext)
  const renewed = renewedToken(from, () => tokenOf(from), silentLogger, { looks: true })
  const center = httpSpaceClient({ ...from.options, token: () => renewed.token() })
  const cluster = httpSpaceClient({ ...(await clusterOptions(settings)), userAgent: USER_AGENT })
  try {
    const mailbox = await accepted('the center', fromKubeconfig, mailboxOf(center))
    const { name } = mailbox
    const toKubeconfig = (settings.toKubeconfig as string | undefined) ?? 'the pod it runs in'
    await accepted('the cluster', toKubeconfig, requireOtherServer(center, cluster))
    const before = await adopt(cluster, mailbox)
    const former = before === undefined ? 'none' : before.mailbox || 'none that could be read'
    const same = before !== undefined && isFrom(before, mailbox)
    const line = `the cluster is served from the mailbox ${name} ${same ? 'already' : `from now on (before: ${former})`}`
    if (settings.output !== undefined) host.err(line)
    await printFound(settings, [line], await cluster.get(CONFIG_MAPS, CLUSTER_RECORD), host)
    return 0
  } finally {
    center.close()
    cluster.close()
  }
}

/**
 * By what the kubeconfig holds, if that is a renewal credential; a token is used as it is. Who only `looks` begins no session, so that
 * a syncer that serves the cluster goes on.
 */
function renewedToken(
  { options, base, space }: LoadedKubeconfig,
  credential: () => Promise<string | undefined>,
  logger: Logger,
  { looks }: { looks: boolean },
): RenewedToken {
  return new RenewedToken({
    credential,
    logger,
    clock: systemClock,
    random: Math.random,
    async ask(token, request) {
      const server = `${base}${spacePath(base, space ?? '')}`
      const client = httpSpaceClient({ ...options, server, token, userAgent: USER_AGENT })
      try {
        return await client.create(SERVICE_ACCOUNTS, request, { subresource: 'token', dryRun: looks })
      } finally {
        client.close()
      }
    },
  })
}

/** @throws Error that names the flag, where the file is not to be read */
async function kubeconfigOf(
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

async function tokenOf({ options: { token } }: LoadedKubeconfig): Promise<string | undefined> {
  return typeof token === 'function' ? await token() : token
}

/** @throws Error in words for whoever gave a credential that is refused */
async function accepted<T>(side: string, from: string, asking: Promise<T>): Promise<T> {
  try {
    return await asking
  } catch (error) {
    if (!isStatusError(error, 'Unauthorized')) throw error
    throw new Error(
      `${side} refuses the credential of ${from}: it is wrong, expired or revoked; nothing was touched. ` +
        'Make a new one (for the center: "kubectl kubestellar prep-for-syncer")',
      { cause: error },
    )
  }
}

interface FollowedKubeconfig {
  first: LoadedKubeconfig
  /** The token that the file holds now: a renewed one is taken up without a restart. */
  token: () => Promise<string | undefined>
  /** So are certificates, as of the last time that the token was asked for. */
  tls: () => TlsMaterial
  /** Resolves when the file names another server or space. */
  elsewhere: Promise<void>
}

/** @throws Error when the file cannot be used now; later faults leave what was good last in use */
async function followedKubeconfig(
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
async function followedCluster(
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
async function clusterOptions(settings: Record<string, unknown>): Promise<HttpClientOptions> {
  const path = settings.toKubeconfig as string | undefined
  if (path !== undefined) {
    const loaded = await kubeconfigOf('--to-kubeconfig', path, settings.toContext as string | undefined)
    // Seen before anything is asked: no answer would tell it, for such a credential may ask nothing there.
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
