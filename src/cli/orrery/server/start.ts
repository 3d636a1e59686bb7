/** `orrery start`: the API server with the built-in controllers in one process. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { availableParallelism, hostname } from 'node:os'
import { parseJsonSafely } from '../../../apimachinery/jsonParse.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { startApiServer } from '../../../apiserver/apiServer.ts'
import { embeddedClient } from '../../../apiserver/embedded/embeddedClient.ts'
import { DEFAULT_IN_FLIGHT } from '../../../apiserver/flowcontrol/inFlight.ts'
import type { CertificateFiles } from '../../../apiserver/pki/namedCertificate.ts'
import { BOOTSTRAP } from '../../../apiserver/spaces/initialSpaces.ts'
import type { ServerLimit } from '../../../apiserver/spaces/serverLimits.ts'
import type { Client } from '../../../client/client.ts'
import { systemClock } from '../../../client/clock.ts'
import type { Logger } from '../../../client/logger.ts'
import { startBuiltinControllers } from '../../../controllers/builtinControllers.ts'
import { type ControllerName, chosenControllers } from '../../../controllers/controllerNames.ts'
import { keepPoolsSmall } from '../../../program/bufferPool.ts'
import { boundCertificateChains } from '../../../program/certificateChains.ts'
import { PAUSE_LIMIT_MS, WorkTurns } from '../../../program/workTurns.ts'
import { shownSettings } from '../../shell/settings.ts'
import type { Host } from '../host.ts'
import { keptStderr } from '../process/keptStderr.ts'
import { createLog } from '../process/log.ts'
import { logChoice } from '../process/logLevel.ts'
import { dataFolder } from '../process/privateFolder.ts'
import { systemdNotify } from '../process/systemdNotify.ts'
import { buildInfo } from '../version/buildInfo.ts'
import { accessOptions } from './accessOptions.ts'
import { apiThreadCount } from './apiThreadCount.ts'
import { ensuredSpaces, ensureSpaces } from './ensuredSpaces.ts'
import { elsewhere, FIRST_OBJECTS } from './placementOptions.ts'

const UNBOUNDED_CHAINS =
  'this Node.js verifies chains of certificates of any length, which strangers may show: take Node.js 26, or say by --client-certificate-networks where clients with certificates are'

export async function start(settings: Record<string, unknown>, host: Host): Promise<number> {
  keepPoolsSmall()
  parseJsonSafely()
  const log = createLog({
    component: 'orrery',
    about: { hostname: hostname() },
    ...logChoice(settings),
    write: host.log ?? keptStderr(),
  })
  if (!boundCertificateChains() && settings.clientCertificateNetworks === undefined) log.warn({}, UNBOUNDED_CHAINS)
  if (settings.storage === 'etcd') throw new Error('--storage etcd is not part of this release; use --storage level')
  if (settings.etcdServers !== undefined)
    throw new Error('--etcd-servers goes with --storage etcd, which is not part of this release; leave it out')
  const chosen = chosenOf(settings.controllers as string[] | undefined)
  const internal = internalAddress(settings.internalAddress as string | undefined)
  const writer = await secretWriter(settings, log)
  const aggregated = settings.aggregated === true ? await behindHost(settings) : undefined
  const ensured = ensuredSpaces(settings)
  const { eventTtlMs, ...access } = await accessOptions(settings, log)
  const build = buildInfo()
  const server = await startApiServer({
    ...access,
    dataDir: dataFolder(settings.dataDir as string, log),
    bindAddress: settings.bindAddress as string,
    securePort: settings.securePort as number,
    serviceClusterIpRange: settings.serviceClusterIpRange as string | undefined,
    serviceNodePortRange: settings.serviceNodePortRange as string | undefined,
    advertiseAddress: settings.advertiseAddress as string | undefined,
    externalHostnames: (settings.externalHostname as string[] | undefined) ?? [],
    furtherNames: [internal?.host, aggregated?.hostname].filter(name => name !== undefined),
    aggregated: aggregated?.options,
    namedCertificate: certificateFiles(settings.tlsSniCertKey as string | undefined),
    externalCaPem: authoritiesIn(settings.externalCaFile as string | undefined),
    externalPort: settings.externalPort as number | undefined,
    spaces: true,
    elsewhere,
    firstObjects: FIRST_OBJECTS,
    acceptLoss: settings.acceptLoss === true,
    historyAgeMs: (settings.historyMinutes as number) * 60_000,
    inFlight: {
      ...DEFAULT_IN_FLIGHT,
      reading: settings.maxRequestsInflight as number,
      mutating: settings.maxMutatingRequestsInflight as number,
    },
    apiThreads: apiThreadCount({
      count: settings.apiThreads as number | undefined,
      isAudited: settings.auditPolicyFile !== undefined,
      cores: availableParallelism(),
      platform: process.platform,
    }),
    diskReserveBytes: reserveOf(settings.diskReserveMib as number | undefined),
    serverLimit: {
      ...limitOf('objects', settings.maxObjects as number | undefined),
      ...limitOf('spaces', settings.maxSpaces as number | undefined),
    },
    fairness: settings.enablePriorityAndFairness === true,
    build,
    settings: shownSettings(settings),
    log,
  })
  const clientFor = (component: string): Client =>
    embeddedClient({
      services: server.services,
      store: server.store,
      tree: server.tree,
      component,
      audit: access.audit,
    })
  // beside the server's own, so that neither waits for the other
  const turns = new WorkTurns({ clock: () => performance.now(), pauseLimitMs: PAUSE_LIMIT_MS })
  turns.follow(space => server.tree.tenantOf(space))
  const controllers = startBuiltinControllers({
    clientFor,
    turns,
    clock: systemClock,
    random: Math.random,
    caPem: server.caPem,
    sign: order => server.certificates.sign(order),
    places: server.tree,
    desks: server.desks,
    controllers: chosen,
    guardFor: name => server.setAside.guardFor(name),
    eventTtlMs,
    logger: log,
  })
  server.onAuthority(caPem => controllers.useAuthority(caPem))
  const secret = writer?.({
    external: settings.externalHostname === undefined && internal !== undefined ? undefined : server.url,
    internal: internal?.url,
    kubeconfigFor: url => server.kubeconfigFor(url),
    caPem: () => server.caPem,
  })
  server.onKubeconfig(() => secret?.write())
  secret?.write()
  await ensureSpaces(clientFor(BOOTSTRAP), ensured, log)
  // A reader of the next line may end the process at once, and in order.
  const ended = host.terminated()
  host.out(`orrery ready: ${server.url}`)
  const notified = systemdNotify('ready', `serving at ${server.url}`, { log })
  // Node does so at its end only, and a server may run for months and end by a power failure.
  flushCompileCache()
  // Now, not when somebody asks: what is edited from now on is not what runs.
  await Promise.all([ended, build.treeState()])
  await notified
  await systemdNotify('stopping', 'requests and writes under way are finished', { log })
  await secret?.stop()
  await controllers.stop()
  await server.close()
  aggregated?.close()
  return 0
}

/** @throws Error naming the flag */
function certificateFiles(text: string | undefined): CertificateFiles | undefined {
  if (text === undefined || text === '') return undefined
  const [certFile, keyFile, ...others] = text.split(',')
  if (!certFile || !keyFile || others.length > 0)
    throw new Error(`--tls-sni-cert-key: ${JSON.stringify(text)} is not two files with a comma between them: CERT,KEY`)
  return { certFile, keyFile }
}

/** @throws Error naming the flag */
function authoritiesIn(file: string | undefined): string | undefined {
  if (file === undefined || file === '') return undefined
  try {
    const pem = readFileSync(file, 'utf8')
    new X509Certificate(pem)
    return pem
  } catch (error) {
    throw new Error(`--external-ca-file: ${file} holds no certificate in PEM: ${messageOf(error)}`, { cause: error })
  }
}

/** Loaded by who wants it. */
async function behindHost(settings: Record<string, unknown>) {
  const { aggregatedOf } = await import('./aggregatedOptions.ts')
  return await aggregatedOf(settings)
}

/** Loaded by who wants it. */
async function secretWriter(settings: Record<string, unknown>, log: Logger) {
  const { kubeconfigSecret: secret, hostKubeconfig: kubeconfig } = settings as Record<string, string | undefined>
  if (secret === undefined || secret === '') return undefined
  const { kubeconfigWriter } = await import('./hostCluster.ts')
  return await kubeconfigWriter({ secret, kubeconfig }, log)
}

/** @throws Error naming the flag */
function internalAddress(text: string | undefined): { host: string; url: string } | undefined {
  if (text === undefined || text === '') return undefined
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9_.-]+):(\d{1,5})$/.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535)
    throw new Error(`--internal-address: ${JSON.stringify(text)} is not host:port, such as orrery.orrery.svc:443`)
  return { host, url: `https://${host}:${port}` }
}

function reserveOf(mib: number | undefined): number | undefined {
  return mib === undefined ? undefined : mib * 1024 ** 2
}

/** Empty: as by default. */
function limitOf(what: keyof ServerLimit, most: number | undefined): Partial<ServerLimit> {
  return most === undefined ? {} : { [what]: most === 0 ? undefined : most }
}

function chosenOf(list: readonly string[] = ['*']): ReadonlySet<ControllerName> {
  try {
    return chosenControllers(list)
  } catch (error) {
    throw new Error(`--controllers: ${messageOf(error)}`, { cause: error })
  }
}
