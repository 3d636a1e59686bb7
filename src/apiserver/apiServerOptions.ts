/** Options of a server at its start. */
import type { SpaceClient } from '../client/client.ts'
import type { Clock } from '../client/clock.ts'
import type { Elsewhere } from './admission/elsewhere.ts'
import type { Auditor } from './audit/auditor.ts'
import type { OidcOptions } from './auth/oidcAuthenticator.ts'
import type { StrangerLimits } from './connections/strangerLimits.ts'
import type { Deflate } from './exchange/answers/deflater.ts'
import type { InFlightLimits } from './flowcontrol/ticket.ts'
import type { BuildInfo } from './pages/versionInfo.ts'
import type { CertificateFiles } from './pki/namedCertificate.ts'
import type { Logger } from './request/logger.ts'
import type { Room } from './shortage/room.ts'
import type { FirstObject } from './spaces/initialSpaces.ts'
import type { ServerLimit } from './spaces/serverLimits.ts'

/** The server behind a host cluster's kube-apiserver, beside its ordinary address. */
export interface AggregatedOptions {
  /** The host: for its description of the front proxy, and for its say about each request. */
  host: SpaceClient
  /** On the bind address; 0 takes a free one. */
  port: number
  /** Path of the space whose kinds the host shows. */
  space: string
  /** Put before the names of the host's users and groups. */
  userPrefix: string
  /** Whether the host shows namespaced kinds of the space, too. */
  namespaced: boolean
}

export interface ApiServerOptions {
  /** Holds the database, keys, certificates and the administrator's kubeconfig. */
  dataDir: string
  bindAddress: string
  /** 0 takes a free one. */
  securePort: number
  /** Names and addresses that clients use beside the bind address; the first one goes into URLs. */
  externalHostnames: readonly string[]
  /** Names in the server's certificate beside those, which are in no URL. */
  furtherNames?: readonly string[]
  /** A certificate for some of the names, by files; for all others the server has its own. */
  namedCertificate?: CertificateFiles | undefined
  /** PEM that vouches for that one. Default: the system's authorities. */
  externalCaPem?: string | undefined
  /** In URLs, beside the first external hostname. Default: the port it listens on. */
  externalPort?: number | undefined
  /** The IP address that the Service `kubernetes` leads to. Default: see advertisedAddress.ts. */
  advertiseAddress?: string | undefined
  /** An IPv4 CIDR and two ports with a dash, out of which Services are given theirs. Default: see serviceRanges.ts. */
  serviceClusterIpRange?: string | undefined
  serviceNodePortRange?: string | undefined
  /** False serves one plain cluster at `/`, without spaces and Orrery's own kinds. */
  spaces: boolean
  /** Objects of the initial spaces at the first start. Absent: none. */
  firstObjects?: readonly FirstObject[]
  /** Objects that are judged at another place, not by admission here. Absent: none. */
  elsewhere?: Elsewhere | undefined
  /** Text of a static token file, as kube-apiserver's --token-auth-file. */
  tokenFile?: string
  /** An issuer of ID tokens to trust; its `audiences` are the server's. */
  oidc?: Omit<OidcOptions, 'audiences' | 'clock' | 'elapsed'>
  /** Whether requests without credentials are let in as system:anonymous, to be judged by RBAC. Default false. */
  anonymousAuth?: boolean
  /** The longest life of a ServiceAccount token on request. Default: a year. */
  maxTokenSeconds?: number
  /** Records requests; closed with the server. Absent: nothing is recorded. */
  audit?: Auditor | undefined
  /** As kube-apiserver's --disable-admission-plugins: `ServiceAccount` where nobody makes the accounts of namespaces. */
  disabledAdmissionPlugins?: readonly string[]
  /** Names, addresses and ranges that webhooks may be at; absent: everywhere but closed addresses. */
  webhookAllowedHosts?: readonly string[] | undefined
  /** Addresses and ranges whose clients get a request for a certificate; absent: all. */
  clientCertificateNetworks?: readonly string[] | undefined
  /** Age of the store's history. Default: 10 minutes. */
  historyAgeMs?: number
  /** Starts with what is intact of a damaged store, and logs what is lost. Default false. */
  acceptLoss?: boolean
  /** Connections before and after authentication; default: by the descriptors that the process may have. */
  strangers?: Partial<StrangerLimits>
  /** Requests at a time; default as upstream. */
  inFlight?: InFlightLimits
  /** Whether requests wait in fair queues, instead of being refused beyond `inFlight`. Default true. */
  fairness?: boolean | undefined
  /** How often the peer of a WebSocket has to show that it is there. Default 30 s. */
  pingIntervalMs?: number
  /** Interval of bookmarks on open watches, and on space streams. Default 60 s, and 30 s. */
  bookmarkIntervalMs?: number
  /** Compresses blocks of answers. Default: gzip's fastest level, on the thread pool. */
  deflate?: Deflate
  /** Decides when certificates are renewed. Default: the system's. */
  certificateClock?: Clock
  /** Decides when keys are tried that the process may have ended of. Default: the system's. */
  trialClock?: Clock
  /** Program at `/version`. Default: unknown. */
  build?: BuildInfo
  /** Content of `/configz`, by the names of the flags: nothing that is secret. Default: none. */
  settings?: Readonly<Record<string, unknown>>
  /** Bytes that are kept free on the disk of the data dir; 0: it is not looked at. Default: see diskRoom.ts. */
  diskReserveBytes?: number | undefined
  /** How much the server holds at most; `undefined` in it: as much as memory holds. Default: by the limit of the heap. */
  serverLimit?: Partial<ServerLimit>
  /** Resources that may run short. Default: its memory and its disk. */
  rooms?: readonly Room[]
  /** Absent: it is behind no host. */
  aggregated?: AggregatedOptions | undefined
  /** Threads that answer reads beside the main one. Default: none. */
  apiThreads?: number
  /** How often each of these shows that its loop turns; see apiThreads.ts. Default 1 s. */
  apiThreadPulseMs?: number
  log: Logger
}
