/** All that runs of a server, as parts with their needs, over an open store. */
import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { CommitTimes } from '../apimachinery/commitTimes.ts'
import type { Distribution } from '../apimachinery/distribution.ts'
import type { Clock } from '../client/clock.ts'
import type { Part } from '../client/lifecycle.ts'
import type { SetAside } from '../client/setAside/setAside.ts'
import type { Desks } from '../placement/desks/desks.ts'
import type { WorkTurns } from '../program/workTurns.ts'
import type { SharedLog } from '../storage/replica/sharedLog.ts'
import type { Store } from '../storage/store.ts'
import type { AggregatedPort } from './aggregatedParts.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import { assemble } from './assembly.ts'
import type { CertificateSigner } from './auth/certificateSigner.ts'
import { tokenLibrary } from './auth/serviceAccountTokens.ts'
import { listenFirst } from './connections/sharedPort.ts'
import { showKeys } from './connections/tls.ts'
import type { ServerServices } from './exchange/exchange.ts'
import { logOwnFlows } from './flowcontrol/effectiveFlows.ts'
import { httpFront } from './httpFront.ts'
import { isWildcard } from './kubernetesService/advertisedAddress.ts'
import { writerMetrics } from './metrics/storeMetrics.ts'
import { CertificateRenewal } from './pki/certificateRenewal.ts'
import type { Pki } from './pki/ensurePki.ts'
import { CertificateFollower, type NamedCertificate } from './pki/namedCertificate.ts'
import { serverThreads } from './serverThreads.ts'
import { ServingKeys } from './servingKeys.ts'
import { ensureInitialSpaces } from './spaces/initialSpaces.ts'
import type { SpaceBudgets } from './spaces/spaceBudgets.ts'
import type { SpaceTree } from './spaces/tree.ts'

/** A server's parts as its process uses them. */
export interface ApiServerFace {
  /** `https://host:port`. */
  readonly url: string
  /** Port of the address for a host's front proxy; absent: there is none. */
  readonly aggregatedPort: number | undefined
  readonly services: ServerServices
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
}

/** Parts of an open server. */
interface Opened {
  pki: Pki
  ensure(): Promise<Pki>
  clock: Clock
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
  /** Absent: it is behind no host. */
  hostPort: AggregatedPort | undefined
}

/** Parts of a running server, in the order of their needs, and its view once all run. */
export async function serverParts(
  options: ApiServerOptions,
  opened: Opened,
): Promise<{ parts: readonly Part[]; face: ApiServerFace }> {
  const { log } = options
  const { pki, store, budgets, setAside, named, commits, hostPort } = opened
  const draining = new AbortController()
  let url = ''
  const keys = new ServingKeys({ ...options, pki, named, url: () => url })
  /** Parts of the server, by name. */
  const started = new Set<string>()
  const assembly = await assemble(options, {
    ...opened,
    guardFor: queue => setAside.guardFor(queue),
    writtenAtMs: revision => opened.commitTimes.of(revision),
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
  const front = httpFront(options, assembly, {
    store,
    tls: keys.shown,
    url: () => url,
    hasStarted: part => started.has(part),
  })
  const { app, metrics } = front
  metrics.add(writerMetrics(setAside, opened.commitSeconds))
  let stopListening = (): void => {}
  const drain = async (): Promise<void> => {
    draining.abort()
    stopListening()
    apiThreads?.drain()
    await Promise.all([follower?.stop(), app.close()])
    // by now all that crossed is answered
    await apiThreads?.stop()
  }
  const tlsServer = app.server as unknown as TlsServer
  const show = (): void => {
    showKeys(tlsServer, keys.shown)
    apiThreads?.show(keys.shown)
    aggregated?.show(keys.shown)
  }
  const follower =
    named && options.namedCertificate
      ? new CertificateFollower({
          files: options.namedCertificate,
          first: named,
          use(certificate) {
            keys.useNamed(certificate)
            show()
          },
          clock: opened.clock,
          log,
        })
      : undefined
  const use = async (renewed: Pki): Promise<void> => {
    keys.use(renewed)
    show()
    certificates.useAuthority({ certPem: renewed.caPem, keyPem: renewed.caKeyPem })
    await tokenSecrets.useAuthority(renewed.caPem)
    await keys.publish()
  }
  const renewal = new CertificateRenewal({ ...opened, use, log })
  const port = (): number => (app.server.address() as AddressInfo).port

  const apiThreads = commits && serverThreads(options, { commits, pki, keys, url: () => url, assembly, front })
  const aggregated = hostPort?.parts(front, keys.shown)

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
        if (named !== undefined) show()
        follower?.start()
        stopListening = await listenFirst(app, options.bindAddress, options.securePort).catch(throwWithRemedy)
        url = urlOf(options, options.externalPort ?? port())
        await kubernetesService.start({ address: opened.address, port: port() })
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
        if (options.fairness !== false) logOwnFlows(inFlight.flowControl, log)
        inFlight.flowControl.start()
      },
      async stop() {
        inFlight.flowControl.stop()
        await flows.stop()
      },
    },
    { name: 'kubeconfig', needs: ['address', 'flow control'], start: () => keys.publish() },
    { name: 'renewal', needs: ['kubeconfig'], start: () => renewal.start(), stop: () => renewal.stop() },
    {
      // stops first: a request may need everything else
      name: 'requests',
      needs: ['renewal'],
      start() {
        budgets.serve()
        // else everybody would wait for it with the first token; its users get the error of a failed load
        setImmediate(() => void tokenLibrary().catch(() => undefined))
        return apiThreads?.start()
      },
      stop: drain,
    },
    ...(aggregated?.parts ?? []),
  ]
  const face: ApiServerFace = {
    get url() {
      return url
    },
    get aggregatedPort() {
      return aggregated?.port
    },
    services,
    store,
    setAside,
    tree,
    get caPem() {
      return keys.caPem
    },
    kubeconfigPath: keys.kubeconfigPath,
    kubeconfigFor: server => keys.kubeconfigFor(server),
    onKubeconfig: listener => keys.onKubeconfig(listener),
    certificates,
    desks: {
      outcomes: assembly.outcomes,
      previews: assembly.previews,
      live: assembly.liveQuestions,
      answers: services.answered,
      reported: front.reported,
      figures: assembly.carry,
      postNotice: assembly.postNotice,
      refusedClaims: assembly.syncerTokens?.refusedClaims,
      schema: assembly.catalog.schemaOf,
    },
    onAuthority: listener => keys.onAuthority(listener),
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

const NO_SUCH_ADDRESS = 'give an address of this machine as --bind-address'
const LISTEN_REMEDIES: Record<string, string> = {
  EADDRINUSE: 'stop what listens there, or give another --secure-port',
  EACCES: 'give a --secure-port that its user may listen on',
  EADDRNOTAVAIL: NO_SUCH_ADDRESS,
  ENOTFOUND: NO_SUCH_ADDRESS,
}

function throwWithRemedy(error: NodeJS.ErrnoException): never {
  const remedy = LISTEN_REMEDIES[error.code ?? '']
  throw remedy === undefined ? error : new Error(`${error.message}: ${remedy}`, { cause: error })
}
