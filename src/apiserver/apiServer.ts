/**
 * The API server: opens the store, puts storage, registry, spaces, access and HTTP together, and runs them. Two of them run in
 * one process without meeting.
 */
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Server as TlsServer } from 'node:tls'
import { CommitTimes } from '../apimachinery/commitTimes.ts'
import type { Desks } from '../apimachinery/desks.ts'
import { Distribution } from '../apimachinery/distribution.ts'
import { systemClock } from '../client/clock.ts'
import { Lifecycle, type Part } from '../client/lifecycle.ts'
import { SetAside } from '../client/setAside/setAside.ts'
import { collectSoon } from '../program/garbage.ts'
import { startThread } from '../program/startThread.ts'
import { PAUSE_LIMIT_MS, WorkTurns } from '../program/workTurns.ts'
import { openEngine } from '../storage/openEngine.ts'
import { SharedLog } from '../storage/replica/sharedLog.ts'
import type { Store } from '../storage/store.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import type { ApiThreadData } from './apiThread.ts'
import { threadOptions } from './apiThreadOptions.ts'
import { assemble } from './assembly.ts'
import type { CertificateSigner } from './auth/certificateSigner.ts'
import { tokenLibrary } from './auth/serviceAccountTokens.ts'
import { CARRIED_MARK, isCarriedUp } from './authority/carriedObjects.ts'
import { listenFirst } from './connections/sharedPort.ts'
import { type ShownKeys, showKeys, showNames, type TlsKeys } from './connections/tls.ts'
import type { Services } from './exchange/exchange.ts'
import { tellOwnFlows } from './flowcontrol/effectiveFlows.ts'
import { httpFront } from './httpFront.ts'
import { advertisedAddress, isWildcard } from './kubernetesService/advertisedAddress.ts'
import { gauge } from './metrics/metric.ts'
import { CertificateRenewal, type RenewalClock, renewalClock } from './pki/certificateRenewal.ts'
import { ensurePki, type Pki } from './pki/ensurePki.ts'
import { type AdminKubeconfig, adminKubeconfig, writeAdminKubeconfig } from './pki/kubeconfig.ts'
import { CertificateFollower, type NamedCertificate, readNamedCertificate } from './pki/namedCertificate.ts'
import { serverRooms } from './shortage/serverRooms.ts'
import { ensureInitialSpaces } from './spaces/initialSpaces.ts'
import { SpaceBudgets } from './spaces/spaceBudgets.ts'
import type { SpaceTree } from './spaces/tree.ts'
import { ApiThreads } from './threads/apiThreads.ts'
import { threadMetrics } from './threads/threadFigures.ts'

export interface ApiServer {
  /** `https://host:port`. */
  readonly url: string
  readonly services: Services
  readonly store: Store
  /** Keys of work queues that are suspected of having ended the process before. */
  readonly setAside: SetAside
  readonly tree: SpaceTree
  /** The authority that vouches for this server now. */
  readonly caPem: string
  readonly kubeconfigPath: string
  /** The administrator's kubeconfig, as of now, for who reaches the server by another URL (without a path). */
  kubeconfigFor(server: string): string
  /** Tells when there is another one. */
  onKubeconfig(listener: () => void): void
  /** Signs client certificates with the server's own authority. */
  readonly certificates: CertificateSigner
  readonly desks: Desks
  /** Tells of each renewed authority, PEM; also again, when something else of a renewal failed. */
  onAuthority(listener: (caPem: string) => void): void
  /** Ends watches, waits for running requests and queued writes, closes the store. */
  close(): Promise<void>
}

/** Of commits, in seconds: a disk that syncs well takes one or a few ms. */
const COMMIT_BOUNDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { log, dataDir } = options
  const named = options.namedCertificate && (await readNamedCertificate(options.namedCertificate))
  const address = advertisedAddress({ ...options, interfaces: networkInterfaces() })
  const hostnames = [options.bindAddress, ...options.externalHostnames, ...(options.furtherNames ?? [])].filter(
    host => !isWildcard(host),
  )
  const certificateClock = options.certificateClock ?? renewalClock
  const ensure = (): Promise<Pki> =>
    ensurePki(join(dataDir, 'pki'), { hostnames, ips: [address], clock: certificateClock.now })
  const established = existsSync(join(dataDir, 'pki', 'ca.key'))
  const { rooms, stop } = options.rooms ? { rooms: options.rooms, stop: () => {} } : await serverRooms(options)
  const budgets = new SpaceBudgets({ rooms, isCarried: isCarriedUp, carriedMark: CARRIED_MARK })
  const work = new WorkTurns({ clock: () => performance.now(), pauseLimitMs: PAUSE_LIMIT_MS })
  const commits = options.apiThreads ? new SharedLog({ logger: log, packed: collectSoon }) : undefined
  const commitSeconds = new Distribution(COMMIT_BOUNDS)
  const commitTimes = new CommitTimes()
  const opening = openEngine('disk', {
    committed: ({ seconds, revision, atMs }) => {
      commitSeconds.add(seconds)
      commitTimes.add(revision, atMs)
    },
    ...(commits && { log: commits }),
    budget: budgets,
    later: turn => work.soon(turn),
    dataDir,
    acceptLoss: options.acceptLoss,
    logger: log,
    ...(options.historyAgeMs && { historyAgeMs: options.historyAgeMs }),
  })
  // The first time the store comes first: so keys without a store always mean that it was lost.
  const [pki, store] = await Promise.all([established ? ensure() : opening.then(ensure), opening])
  let server: { parts: readonly Part[]; face: ApiServerFace }
  let setAside: SetAside | undefined
  try {
    // behind the store: who has that has the folder alone
    setAside = new SetAside({ dataDir, logger: log, clock: options.trialClock ?? systemClock })
    server = await apiServerParts(options, {
      pki,
      ensure,
      clock: certificateClock,
      store,
      work,
      budgets,
      setAside,
      address,
      named,
      commits,
      commitSeconds,
      commitTimes,
    })
  } catch (error) {
    setAside?.close()
    await store.close()
    stop()
    throw error
  }
  const lifecycle = new Lifecycle(server.parts)
  await lifecycle.start()
  return Object.assign(server.face, { close: () => lifecycle.stop().finally(stop) })
}

type ApiServerFace = Omit<ApiServer, 'close'>

interface Opened {
  pki: Pki
  ensure(): Promise<Pki>
  clock: RenewalClock
  store: Store
  work: WorkTurns
  setAside: SetAside
  budgets: SpaceBudgets
  /** Advertised. */
  address: string
  named: NamedCertificate | undefined
  /** Followed by API threads. */
  commits: SharedLog | undefined
  commitSeconds: Distribution
  commitTimes: CommitTimes
}

/** What runs of a server, in the order of its needs, and what it shows once all does. */
async function apiServerParts(
  options: ApiServerOptions,
  { pki, ensure, clock, store, work, budgets, setAside, address, named, commits, commitSeconds, commitTimes }: Opened,
): Promise<{ parts: readonly Part[]; face: ApiServerFace }> {
  const { log } = options
  const draining = new AbortController()
  let url = ''
  /** Parts of the server, by name. */
  const started = new Set<string>()
  const assembly = await assemble(options, {
    store,
    work,
    budgets,
    pki,
    guardFor: queue => setAside.guardFor(queue),
    writtenAtMs: revision => commitTimes.of(revision),
    url: () => url,
    draining: draining.signal,
  })
  const {
    services,
    tree,
    certificates,
    kubernetesService,
    admission,
    definitions,
    spaceManager,
    tokenSecrets,
    flows,
    inFlight,
  } = assembly
  const { app, crossed, metrics, strangers, documents } = httpFront(options, assembly, {
    store,
    tls: tlsKeys(pki),
    url: () => url,
    hasStarted: part => started.has(part),
  })
  metrics.add([
    gauge(
      'orrery_controller_keys_set_aside',
      'Keys that a controller does not work on for now, because the server may have ended of that.',
      () => Array.from(setAside.counts(), ([controller, keys]) => [{ controller }, keys]),
    ),
    {
      name: 'orrery_store_commit_duration_seconds',
      help: 'Time that a commit takes until it is on disk.',
      type: 'histogram',
      samples: () => [[{}, commitSeconds]],
    },
  ])
  let stopListening = (): void => {}
  const drain = async (): Promise<void> => {
    draining.abort()
    stopListening()
    apiThreads?.drain()
    await Promise.all([follower?.stop(), app.close()])
    // by now all that crossed is answered
    await apiThreads?.stop()
  }
  const kubeconfigPath = join(options.dataDir, 'admin.kubeconfig')
  let newest = pki
  // who comes by a name of that certificate has to trust its authority
  const trusted = (server: string): string | undefined =>
    named?.covers(new URL(server).hostname) ? options.externalCaPem : newest.caPem
  const kubeconfigAt = (server: string): AdminKubeconfig => ({
    server,
    caPem: trusted(server),
    clientCertPem: newest.admin.certPem,
    clientKeyPem: newest.admin.keyPem,
    ...(!options.spaces && { plain: true }),
  })
  const kubeconfigListeners: (() => void)[] = []
  const writeKubeconfig = async (of: Pki): Promise<void> => {
    newest = of
    await writeAdminKubeconfig(kubeconfigPath, kubeconfigAt(url))
    for (const tell of kubeconfigListeners) tell()
  }
  let { caPem } = pki
  const authorityListeners: ((caPem: string) => void)[] = []
  const tlsServer = app.server as unknown as TlsServer
  let shown = named
  const keys = (): ShownKeys => ({
    ...tlsKeys(newest),
    ...(shown && { named: { names: shown.names, cert: shown.certPem, key: shown.keyPem } }),
  })
  const showNamed = (certificate: NamedCertificate): void => {
    shown = certificate
    showNames(tlsServer, keys())
    apiThreads?.show(keys())
  }
  const follower =
    named && options.namedCertificate
      ? new CertificateFollower({ files: options.namedCertificate, first: named, use: showNamed, clock, log })
      : undefined
  const use = async (renewed: Pki): Promise<void> => {
    newest = renewed
    caPem = renewed.caPem
    showKeys(tlsServer, keys())
    apiThreads?.show(keys())
    certificates.useAuthority({ certPem: renewed.caPem, keyPem: renewed.caKeyPem })
    await tokenSecrets.useAuthority(caPem)
    for (const tell of authorityListeners) tell(caPem)
    await writeKubeconfig(renewed)
  }
  const renewal = new CertificateRenewal({ pki, ensure, clock, use, log })
  const port = (): number => (app.server.address() as AddressInfo).port

  const forThreads = threadOptions(options, strangers.limits)
  const threadData = (): ApiThreadData => ({
    options: forThreads,
    // its keys are told apart; by the authority of the start all tell the age of what is built in
    pki,
    epoch: assembly.epochs.current,
    url,
    at: { host: (app.server.address() as AddressInfo).address, port: port() },
    forwardsAll: options.audit !== undefined,
  })
  const apiThreads: ApiThreads | undefined =
    commits &&
    new ApiThreads({
      count: options.apiThreads!,
      resized: threads => strangers.leaveTo(threads * forThreads.strangers.connections),
      follow: onCut => commits.follow(onCut),
      start: (data, ports) => startThread('api', { workerData: { ...threadData(), ...data }, transferList: ports }),
      keys: keys(),
      accept: connection => crossed.accept(connection),
      documents,
      watches: inFlight.watches,
      pulseMs: options.apiThreadPulseMs,
      clock: systemClock,
      log,
    })

  if (apiThreads) {
    metrics.add(threadMetrics(apiThreads))
    metrics.sumWith(() => apiThreads.figures())
  }

  const parts: Part[] = [
    // open already: everything else is made over it
    { name: 'store', stop: () => store.close() },
    { name: 'set aside', needs: ['store'], stop: () => setAside.close() },
    { name: 'audit', needs: ['set aside'], stop: () => options.audit?.close() },
    {
      name: 'admission',
      needs: ['store', 'audit'],
      start: () => admission.start(services.registry),
      stop: () => admission.stop(),
    },
    {
      name: 'address',
      needs: ['admission'],
      async start() {
        if (named !== undefined) showNamed(named)
        follower?.start()
        stopListening = await listenFirst(app, options.bindAddress, options.securePort).catch(tellRemedy)
        url = urlOf(options, options.externalPort ?? port())
        await kubernetesService.start({ address, port: port() })
      },
      stop: drain,
    },
    {
      name: 'definitions',
      needs: ['address'],
      start: () => definitions.start(services.registry),
      stop: () => definitions.stop(),
    },
    {
      name: 'spaces',
      needs: ['definitions'],
      start: () => spaceManager.start(),
      stop: () => spaceManager.stop(),
    },
    {
      name: 'token secrets',
      needs: ['spaces'],
      start: () => tokenSecrets.start(),
      stop: () => tokenSecrets.stop(),
    },
    {
      name: 'initial spaces',
      needs: ['spaces', 'token secrets'],
      start: () =>
        options.spaces
          ? ensureInitialSpaces({
              ...services,
              store,
              tree,
              firstObjects: options.firstObjects ?? [],
            })
          : undefined,
    },
    {
      name: 'flow control',
      needs: ['initial spaces'],
      async start() {
        await flows.start()
        if (options.fairness !== false) tellOwnFlows(inFlight.flowControl, log)
        inFlight.flowControl.start()
      },
      async stop() {
        inFlight.flowControl.stop()
        await flows.stop()
      },
    },
    { name: 'kubeconfig', needs: ['address', 'flow control'], start: () => writeKubeconfig(pki) },
    { name: 'renewal', needs: ['kubeconfig'], start: () => renewal.start(), stop: () => renewal.stop() },
    {
      // stops first: a request may need everything else
      name: 'requests',
      needs: ['renewal'],
      start() {
        budgets.serve()
        // else everybody would wait for it with the first token; whoever needs it hears why it cannot be loaded
        setImmediate(() => void tokenLibrary().catch(() => undefined))
        return apiThreads?.start()
      },
      stop: drain,
    },
  ]
  const face: ApiServerFace = {
    get url() {
      return url
    },
    services,
    store,
    setAside,
    tree,
    get caPem() {
      return caPem
    },
    kubeconfigPath,
    kubeconfigFor: server => adminKubeconfig(kubeconfigAt(server)),
    onKubeconfig: listener => void kubeconfigListeners.push(listener),
    certificates,
    desks: {
      outcomes: assembly.outcomes,
      previews: assembly.previews,
      live: assembly.liveQuestions,
      answers: services.answered,
      figures: assembly.carry,
    },
    onAuthority: listener => void authorityListeners.push(listener),
  }
  const recorded = parts.map(part => ({
    ...part,
    async start() {
      await part.start?.()
      started.add(part.name)
    },
  }))
  return { parts: recorded, face }
}

function urlOf({ externalHostnames, bindAddress }: ApiServerOptions, port: number): string {
  const host = externalHostnames[0] ?? (isWildcard(bindAddress) ? '127.0.0.1' : bindAddress)
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function tlsKeys({ serving, caPem }: Pki): TlsKeys {
  return { cert: serving.certPem, key: serving.keyPem, ca: caPem }
}

const NO_SUCH_ADDRESS = 'give an address of this machine as --bind-address'
const LISTEN_REMEDIES: Record<string, string> = {
  EADDRINUSE: 'stop what listens there, or give another --secure-port',
  EACCES: 'give a --secure-port that its user may listen on',
  EADDRNOTAVAIL: NO_SUCH_ADDRESS,
  ENOTFOUND: NO_SUCH_ADDRESS,
}

function tellRemedy(error: NodeJS.ErrnoException): never {
  const remedy = LISTEN_REMEDIES[error.code ?? '']
  throw remedy === undefined ? error : new Error(`${error.message}: ${remedy}`, { cause: error })
}
