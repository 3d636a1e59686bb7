/** The server's parts that HTTP reaches: access control, endpoints, probes, metrics and documents. */
import type { ServerOptions } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { systemClock } from '../client/clock.ts'
import type { Store } from '../storage/store.ts'
import { AccessControl } from './access/accessControl.ts'
import { hostFront } from './aggregated/hostFront.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import { servingThreads } from './apiThreadOptions.ts'
import type { Assembly } from './assembly.ts'
import { hidesContent } from './authority/contentRules.ts'
import { reportLimit } from './authority/reportLimit.ts'
import { backupPath } from './backup/backupPath.ts'
import { restorationPath } from './backup/restorationPath.ts'
import { CertificateNetworks } from './connections/certificateNetworks.ts'
import { SOCKETS } from './connections/sharedPort.ts'
import { strangerLimits } from './connections/strangerLimits.ts'
import { Strangers } from './connections/strangers.ts'
import type { TlsKeys } from './connections/tls.ts'
import type { KindDocuments } from './discovery/kindDocuments.ts'
import { routes } from './endpoints/dispatch.ts'
import { outcomeEndpoint } from './endpoints/outcome.ts'
import { previewEndpoint } from './endpoints/placementPreview.ts'
import { reviewEndpoints } from './endpoints/reviews.ts'
import type { SpaceStreamDeps } from './endpoints/spaceStream.ts'
import { SUBRESOURCES } from './endpoints/subresources.ts'
import { WebSockets } from './endpoints/webSockets.ts'
import { BIG_YAML, BigYaml } from './exchange/bodies/bigYaml.ts'
import { decodedBody } from './exchange/bodies/body.ts'
import { LongBodies } from './exchange/bodies/longBodies.ts'
import type { EndpointEntries } from './exchange/exchange.ts'
import { flowMetrics } from './flowcontrol/flowMetrics.ts'
import { healthPaths } from './health/health.ts'
import { healthChecks } from './health/healthChecks.ts'
import { HttpAudit } from './http/httpAudit.ts'
import { createHttpServer, type HttpServer } from './http/httpServer.ts'
import { Paths } from './http/paths.ts'
import { connectionMetrics, inFlightMetrics, RequestMetrics } from './http/requestMetrics.ts'
import type { Road } from './http/road.ts'
import { Metrics } from './metrics/metrics.ts'
import { storeMetrics } from './metrics/storeMetrics.ts'
import { documentPaths, documentsOf } from './openapi/documentPaths.ts'
import { OpenApiDocuments } from './openapi/documents.ts'
import { metricsPath } from './pages/metricsPath.ts'
import { budgetPath, openIdPaths } from './pages/spacePaths.ts'
import { UNKNOWN_BUILD, versionInfo, versionPath } from './pages/versionInfo.ts'
import { zPages } from './pages/zPages.ts'
import { ReportedViews } from './reported/reportedViews.ts'
import { budgetText } from './spaces/budgetDocument.ts'
import { budgetMetrics } from './spaces/budgetMetrics.ts'
import { PortSocket } from './threads/portSocket.ts'

interface HttpFrontDeps {
  store: Store
  tls: TlsKeys
  url: () => string
  /** Whether a part of the server has started. */
  hasStarted: (part: string) => boolean
  /** Documents of another thread. Default: they are made here. */
  documents?: KindDocuments
}

export interface HttpFront {
  readonly app: FastifyInstance
  readonly road: Road
  readonly parsing: ServerOptions
  readonly pace: HttpServer['pace']
  readonly metrics: Metrics
  readonly strangers: Strangers
  /** As bytes, for threads that send them, too. */
  readonly documents: KindDocuments
  readonly reported: ReportedViews
}

export function httpFront(options: ApiServerOptions, assembly: Assembly, deps: HttpFrontDeps): HttpFront {
  const { log } = options
  const { services, catalog, tree, scopes, authenticator, authorizer, issuer, nature, getObject, syncerTokens } =
    assembly
  const { inFlight, budgets, outcomes, previews, liveQuestions } = assembly
  const { store, url, hasStarted } = deps
  const strangers = new Strangers({
    limits: strangerLimits(options.strangers, SOCKETS * servingThreads(options)),
    clock: () => performance.now(),
  })
  const requests = new RequestMetrics()
  const metrics = new Metrics([
    ...storeMetrics(store, tree),
    ...budgetMetrics(budgets),
    ...(options.spaces ? assembly.carry.metrics() : []),
    ...requests.metrics(),
    ...inFlightMetrics(inFlight),
    ...connectionMetrics(strangers),
    ...flowMetrics(inFlight.flowControl),
  ])
  const { types, protobuf, work, threads, draining } = services
  const address = (): string => url().slice('https://'.length)
  const openApi = new OpenApiDocuments(catalog, work)
  const ofKinds = { types, protobuf, work, address, openApi, paths: (space: string) => paths.listed(space) }
  const documents = deps.documents ?? documentsOf(ofKinds)
  const version = (): ReturnType<typeof versionInfo> => versionInfo(catalog.release, options.build ?? UNKNOWN_BUILD)
  const budget = (space: string, isAbandoned: () => boolean): Promise<string> =>
    budgetText({ tree, budgets }, space, work.begin({ owner: space, isAbandoned }))
  const ofVersion = versionPath(protobuf, version)
  const reported = new ReportedViews({
    services,
    tenantOf: space => tree.tenantOf(space),
    openApi,
    address,
    version: ofVersion,
  })
  const ofServer = [...healthPaths(healthChecks({ store, hasStarted, draining })), ofVersion]
  const paths: Paths = new Paths([
    ...ofServer,
    metricsPath(metrics),
    ...zPages({ settings: options.settings ?? {}, startedMs: Date.now(), version }),
    ...openIdPaths(issuer),
    ...documentPaths(ofKinds, documents),
    ...(options.spaces ? [budgetPath(budget)] : []),
    restorationPath(assembly.epochs),
    backupPath({
      store,
      dataDir: options.dataDir,
      settings: options.settings,
      turns: work,
      clock: Date.now,
      after: systemClock.after,
      log,
    }),
  ])
  const { aggregated } = options
  const host =
    aggregated && hostFront({ ...aggregated, tree, types, authorizer, protobuf, work, openApi, address, ofServer, log })
  const access = new AccessControl({
    tree,
    authenticator,
    authorizer,
    spaces: options.spaces,
    isServerWide: path => paths.isServerWide(path),
    anonymousAuth: options.anonymousAuth === true,
    known: socket => (socket instanceof PortSocket ? socket.sendKnown() : strangers.knows(socket)),
    host: host?.rules,
    draining,
  })
  const stream: SpaceStreamDeps = {
    ...services,
    store,
    epochs: assembly.epochs,
    random: Math.random,
    hides: hidesContent,
    reading: (space, user, syncer) => {
      const ends = [outcomes.reading(space, user, syncer), liveQuestions.reading(space, user, syncer.send)]
      return () => {
        for (const end of ends) end()
      }
    },
    scope: space => scopes.of(space, '', '').gone,
  }
  const endpoints: EndpointEntries = {
    ...SUBRESOURCES,
    ...reviewEndpoints({
      authenticator,
      authorizer,
      issuer,
      nature,
      getObject,
      maxTokenSeconds: options.maxTokenSeconds,
      syncerTokens,
      clock: () => new Date(),
    }),
    ...outcomeEndpoint(outcomes, liveQuestions),
    ...previewEndpoint(previews),
  }
  const { audit, pingIntervalMs } = options
  const longBodies = new LongBodies({ bigYaml: new BigYaml(job => threads.run(BIG_YAML, job)), work })
  const { app, road, parsing, pace } = createHttpServer({
    tls: deps.tls,
    certificates: new CertificateNetworks(options.clientCertificateNetworks),
    strangers,
    access,
    inFlight,
    protobuf,
    compression: services.compression,
    audit: audit && new HttpAudit(audit, (body, type) => decodedBody(services, body, type)),
    checkBody: options.spaces ? reportLimit(tree) : undefined,
    readBody: (request, body) => longBodies.read(request, body),
    endpoint: routes({
      services,
      endpoints,
      paths,
      stream,
      host: host?.endpoint,
      reported: (request, answer, authorized) => reported.serve(request, answer, authorized),
    }),
    observed: ({ authorized, startedMs }, { statusCode }) => {
      const { group, version, resource } = authorized?.info.resource ?? {}
      const type = resource === undefined ? undefined : types.in(authorized!.space).find(group!, version!, resource)
      const seconds = (performance.now() - startedMs) / 1000
      requests.observe({ verb: authorized?.info.verb ?? 'unknown', type, code: statusCode, seconds })
    },
    webSockets: new WebSockets({ access, services, endpoints, stream, inFlight, requests, audit, log, pingIntervalMs }),
    giveWay: () => work.giveWay(),
    log,
  })
  app.addHook('onClose', () => threads.close())
  return { app, road, parsing, pace, metrics, strangers, documents, reported }
}
