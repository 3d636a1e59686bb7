/**
 * The answers to a host's front proxy while the store is read. Discovery and OpenAPI come from memory: a host that lacks them calls the
 * server unavailable. Everything else needs the store, and is refused for the moment.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { protobufCodec } from '../../apimachinery/protobuf/protobufCodec.ts'
import { systemClock } from '../../client/clock.ts'
import { readProtobufFields } from '../../program/dataFiles.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import { UNPROVEN, unproven } from '../access/forwarded.ts'
import type { RawRequest } from '../access/requestCredentials.ts'
import { loadCatalog } from '../catalog/catalog.ts'
import { CertificateNetworks } from '../connections/certificateNetworks.ts'
import { type StrangerLimits, strangerLimits } from '../connections/strangerLimits.ts'
import { Strangers } from '../connections/strangers.ts'
import type { TlsKeys } from '../connections/tls.ts'
import { Compression } from '../exchange/answers/compression.ts'
import { FlowControl } from '../flowcontrol/flowControl.ts'
import { DEFAULT_IN_FLIGHT, InFlight } from '../flowcontrol/inFlight.ts'
import { countOnly } from '../flowcontrol/maxInFlight.ts'
import { ONE_SEAT } from '../flowcontrol/seats.ts'
import { createHttpServer, type HttpServer } from '../http/httpServer.ts'
import { OpenApiDocuments } from '../openapi/documents.ts'
import { type BuildInfo, UNKNOWN_BUILD, versionInfo, versionPath } from '../pages/versionInfo.ts'
import type { Logger } from '../request/logger.ts'
import { parseRequest } from '../request/requestInfo.ts'
import { ROOT } from '../spaces/tree.ts'
import { TypeRegistry } from '../types/typeRegistry.ts'
import { hostDocuments } from './hostFront.ts'

export interface RecoveryDeps {
  tls: TlsKeys
  work: WorkTurns
  /** `host:port` as clients reach it. */
  address: () => string
  strangers?: Partial<StrangerLimits> | undefined
  clientCertificateNetworks?: readonly string[] | undefined
  build?: BuildInfo | undefined
  namespaced: boolean
  log: Logger
}

const PROBES = /^\/(livez|readyz|healthz)(\/|$)/

/** Its listeners answer; nothing listens. */
export function recovery({ tls, work, address, build, namespaced, log, ...options }: RecoveryDeps): HttpServer {
  const catalog = loadCatalog()
  const protobuf = protobufCodec(readProtobufFields)
  const clock = (): number => performance.now()
  const strangers = new Strangers({ limits: strangerLimits(options.strangers), clock })
  const { reading, mutating } = DEFAULT_IN_FLIGHT
  const flowControl = new FlowControl({
    clock: { now: clock, after: systemClock.after },
    seats: reading + mutating,
    root: ROOT,
    isSyncer: () => false,
    lineageOf: () => [],
  })
  countOnly(flowControl, { reading, mutating })
  const version = versionPath(protobuf, () => versionInfo(catalog.release, build ?? UNKNOWN_BUILD))
  const openApi = new OpenApiDocuments(catalog, work)
  const paths = hostDocuments(
    { types: new TypeRegistry(catalog.types), protobuf, address, work, openApi, ofServer: [version], namespaced },
    () => undefined,
  )
  return createHttpServer({
    tls,
    certificates: new CertificateNetworks(options.clientCertificateNetworks),
    strangers,
    access: {
      authorize(request) {
        const authorized = authorize(request)
        strangers.knows(request.socket)
        return authorized
      },
      refusedBy: () => undefined,
    },
    inFlight: new InFlight({ flowControl, clock, isSyncer: () => false, estimate: () => ONE_SEAT }),
    protobuf,
    compression: new Compression(),
    readBody: () => {},
    endpoint: (request, answer, authorized) => paths.serve(request, answer, authorized),
    observed: () => {},
    webSockets: { wants: () => false, accept: async (_request, socket) => void socket.destroy() },
    giveWay: () => work.giveWay(),
    log,
  })
}

/** @throws StatusError Unauthorized, ServiceUnavailable */
function authorize({ forwarded, hostToken, method, url }: RawRequest): AuthorizedRequest {
  if (hostToken === undefined && (forwarded === undefined || forwarded === UNPROVEN)) throw unproven()
  const info = parseRequest(method, url)
  const isProven = forwarded !== undefined && forwarded !== UNPROVEN
  // a token waits, too: its authenticators are not ready yet
  if (isProven && forwarded.target === 'documents' && !PROBES.test(info.path))
    return { info, user: forwarded.user, space: ROOT }
  throw new StatusError(
    'ServiceUnavailable',
    'the server has just started and reads its store: until then it answers discovery and OpenAPI alone',
    { retryAfterSeconds: 1 },
  )
}
