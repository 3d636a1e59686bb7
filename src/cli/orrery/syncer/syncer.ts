/** `orrery syncer`: carries between a mailbox space and the cluster beside which it runs. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { parseJsonSafely } from '../../../apimachinery/jsonParse.ts'
import { systemClock } from '../../../client/clock.ts'
import { type ClosableClient, httpClient, httpSpaceClient } from '../../../client/http/httpClient.ts'
import type { RenewedToken } from '../../../client/http/renewedToken.ts'
import type { Logger } from '../../../client/logger.ts'
import { keepPoolsSmall } from '../../../program/bufferPool.ts'
import { boundCertificateChains } from '../../../program/certificateChains.ts'
import { programVersion } from '../../../program/programVersion.ts'
import { WorkTurns } from '../../../program/workTurns.ts'
import { type AllowLists, ClusterAllowance } from '../../../syncer/mailbox/clusterAllowance.ts'
import { type Syncer, type SyncerOptions, startSyncer } from '../../../syncer/syncer.ts'
import type { Host } from '../host.ts'
import { createLog } from '../process/log.ts'
import { logChoice } from '../process/logLevel.ts'
import { privateFolder } from '../process/privateFolder.ts'
import { systemdNotify } from '../process/systemdNotify.ts'
import { followedCluster, followedKubeconfig, renewedToken, USER_AGENT } from './connections.ts'
import { joined } from './join.ts'
import { SecretCredential } from './joinedCredential.ts'
import { printRehearsal, printUnknown } from './syncerDryRun.ts'
import { type SyncerAbout, SyncerHealth } from './syncerHealth.ts'

/** Requests under way at the end get this long. */
const GRACE_MS = 500
/** Requests that the cluster has of us at a time. */
export const IN_FLIGHT = 16
/** Bound on its answers: one without end fits beside all else into the little memory there is. A list comes in pages. */
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
  const log = createLog({
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
  const { allowNamespaces, allowKinds, allowClusterScoped, associatedKinds } = settings as Record<
    string,
    string[] | undefined
  >
  return {
    ...(allowNamespaces && { namespaces: allowNamespaces }),
    ...(allowKinds && { kinds: allowKinds }),
    ...(allowClusterScoped && { clusterScoped: allowClusterScoped }),
    ...(associatedKinds && { associated: associatedKinds }),
  }
}
