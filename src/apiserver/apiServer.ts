/**
 * The API server: storage, registry, spaces, access and HTTP put together. Two of them run in one process without meeting.
 */
import { randomBytes, randomUUID, X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Server as TlsServer } from 'node:tls'
import { protobufCodec } from '../apimachinery/protobuf/protobufCodec.ts'
import { CRDS } from '../apimachinery/resources.ts'
import type { ResourceType } from '../apimachinery/resourceType.ts'
import { strategyFor } from '../kinds/strategyFor.ts'
import { readProtobufFields } from '../program/dataFiles.ts'
import { openLevelStore } from '../storage/level/openLevelStore.ts'
import type { AcceptedLoss } from '../storage/level/salvage.ts'
import type { Store } from '../storage/store.ts'
import { admissionChain } from './admission/admissionChain.ts'
import { AllowedHosts } from './admission/allowedHosts.ts'
import { ServiceRoutes } from './admission/serviceRoutes.ts'
import { WebhookClient } from './admission/webhookClient.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import { authenticators } from './auth/authenticators.ts'
import { CertificateSigner } from './auth/certificateSigner.ts'
import { forgetEndedTokens } from './auth/endedTokens.ts'
import { RbacAuthorizer } from './auth/rbac.ts'
import { TokenIssuer } from './auth/serviceAccountTokens.ts'
import { builtinSharedObjects } from './builtinSharedObjects.ts'
import { loadCatalog } from './catalog/catalog.ts'
import { DefinitionManager } from './definitions/definitionManager.ts'
import { definitionStrategy } from './definitions/definitionStrategy.ts'
import { BlockWriter } from './endpoints/blockWriter.ts'
import { Compression } from './endpoints/compression.ts'
import type { Services } from './endpoints/exchange.ts'
import { FrameCache } from './endpoints/frames.ts'
import { reviewEndpoints } from './endpoints/reviews.ts'
import { WriteTurns } from './endpoints/writeTurns.ts'
import { advertisedAddress, isWildcard } from './kubernetesService/advertisedAddress.ts'
import { KubernetesService } from './kubernetesService/kubernetesService.ts'
import { openApiRoutes } from './openapi/routes.ts'
import { CertificateRenewal, type RenewalClock, renewalClock } from './pki/certificateRenewal.ts'
import { ensurePki, type Pki } from './pki/ensurePki.ts'
import { writeAdminKubeconfig } from './pki/kubeconfig.ts'
import { decodeObject, ParsedCache } from './registry/codec.ts'
import { Reader } from './registry/reader.ts'
import { Registry, type RegistryDeps } from './registry/registry.ts'
import { StreamForms } from './registry/streamForms.ts'
import { timestamp } from './registry/systemMetadata.ts'
import type { Logger } from './request/logger.ts'
import { createHttpServer, secureContext, type TlsKeys } from './server/httpServer.ts'
import { Metrics } from './server/metrics.ts'
import { NonResourceRoutes } from './server/nonResource.ts'
import { Pipeline } from './server/pipeline.ts'
import { takesWrites } from './server/storeHealth.ts'
import { UNKNOWN_BUILD, versionInfo } from './server/versionInfo.ts'
import { WatchScopes } from './server/watchScopes.ts'
import { TokenSecrets } from './serviceAccounts/tokenSecrets.ts'
import { serviceNetwork } from './serviceNetwork/serviceRanges.ts'
import { ensureInitialSpaces } from './spaces/initialSpaces.ts'
import { SpaceManager } from './spaces/spaceManager.ts'
import { ROOT, SpaceTree } from './spaces/tree.ts'
import { TypeRegistry } from './types/typeRegistry.ts'

export interface ApiServer {
  /** `https://host:port`. */
  readonly url: string
  readonly services: Services
  readonly store: Store
  readonly tree: SpaceTree
  /** The authority that vouches for this server now. */
  readonly caPem: string
  readonly kubeconfigPath: string
  /** Signs client certificates with the server's own authority. */
  readonly certificates: CertificateSigner
  /** Tells of each renewed authority, PEM; also again, when something else of a renewal failed. */
  onAuthority(listener: (caPem: string) => void): void
  /** Ends watches, waits for running requests and queued writes, closes the store. */
  close(): Promise<void>
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { log, dataDir } = options
  const address = advertisedAddress({ ...options, interfaces: networkInterfaces() })
  const hostnames = [options.bindAddress, ...options.externalHostnames].filter(host => !isWildcard(host))
  const certificateClock = options.certificateClock ?? renewalClock
  const ensure = (): Promise<Pki> =>
    ensurePki(join(dataDir, 'pki'), { hostnames, ips: [address], clock: certificateClock.now })
  const established = existsSync(join(dataDir, 'pki', 'ca.key'))
  const opening = openLevelStore({
    path: join(dataDir, 'store'),
    logger: log,
    established,
    ...(options.acceptLoss && { lossAccepted: loss => tellLoss(log, loss) }),
    ...(options.historyAgeMs && { historyAgeMs: options.historyAgeMs }),
  })
  // The first time the store comes first: so keys without a store always mean that it was lost.
  const [pki, store] = await Promise.all([established ? ensure() : opening.then(ensure), opening])
  try {
    return await assemble({ ...options, advertiseAddress: address }, { pki, ensure, clock: certificateClock }, store)
  } catch (error) {
    await store.close()
    throw error
  }
}

async function assemble(
  options: ApiServerOptions & { advertiseAddress: string },
  certification: { pki: Pki; ensure(): Promise<Pki>; clock: RenewalClock },
  store: Store,
): Promise<ApiServer> {
  const { log, dataDir } = options
  const { pki } = certification
  const network = serviceNetwork(options.serviceClusterIpRange, options.serviceNodePortRange)
  const catalog = loadCatalog()
  const types = new TypeRegistry(catalog.types.filter(type => options.spaces || type.form !== 'own'))
  const tree = new SpaceTree(store)
  const parsed = new ParsedCache()
  const scopes = new WatchScopes()
  const draining = new AbortController()
  const clock = (): Date => new Date()
  let url = ''
  const externalUrl = (): string => url

  const since = timestamp(new Date(new X509Certificate(pki.caPem).validFrom))
  const kubernetesService = new KubernetesService(
    { store, isEnding: space => tree.isDeleting(space), clock, uuid: randomUUID },
    { since, clusterIp: network.kubernetesAddress },
  )
  const authorizer = new RbacAuthorizer({ store, requireSpaceAccess: options.spaces, rootSpace: ROOT })
  const issuer = new TokenIssuer({ signingKeyPem: pki.serviceAccountKeyPem })
  const getObject = async (space: string, group: string, resource: string, namespace: string, name: string) => {
    const stored = await store.get({ space, group, resource, namespace, name })
    return stored && decodeObject(stored)
  }
  const authenticator = await authenticators({
    issuer,
    getObject,
    tokenFile: options.tokenFile,
    oidc: options.oidc,
  })
  forgetEndedTokens(store, authenticator)
  const certificates = new CertificateSigner({ ca: { certPem: pki.caPem, keyPem: pki.caKeyPem } })

  const shared = builtinSharedObjects({ types, store, since, kubernetesService })
  const storageType = (space: string, type: ResourceType): ResourceType =>
    type.version === type.storageVersion
      ? type
      : (types.in(space).find(type.group, type.storageVersion, type.resource) ?? type)
  const routes = new ServiceRoutes({ store, parsed, random: Math.random })
  const webhooks = new WebhookClient({
    routes,
    hosts: new AllowedHosts(options.webhookAllowedHosts),
  })
  const definitions = new DefinitionManager({
    store,
    types,
    log,
    clock,
    uuid: randomUUID,
    post: (target, body) => webhooks.post(target, body),
  })
  const admission = admissionChain({
    store,
    parsed,
    types,
    authorizer,
    webhooks,
    elsewhere: options.elsewhere,
    disabledPlugins: options.disabledAdmissionPlugins ?? [],
    tree,
    externalUrl,
    network,
    kubernetesService,
    clock,
    random: Math.random,
    randomBytes,
    log,
  })
  const deps: RegistryDeps = {
    store,
    parsed,
    strategyFor: type =>
      type.group === CRDS.group && type.resource === CRDS.resource ? definitionStrategy : strategyFor(type),
    storageType,
    typeAt: (space, group, version, resource) => types.in(space).find(group, version, resource),
    admission: admission.steps,
    shared,
    clock,
    uuid: randomUUID,
    random: Math.random,
    annotateSpace: options.spaces,
  }
  const registry = new Registry(deps)
  const protobuf = protobufCodec(readProtobufFields)
  const reader = new Reader({ store, parsed, shared })
  const services: Services = {
    deps,
    registry,
    reader,
    types,
    frames: new FrameCache(),
    protobuf,
    turns: new WriteTurns(),
    blocks: new BlockWriter(),
    compression: new Compression({ deflate: options.deflate }),
    forms: new StreamForms(types),
    authorizer,
    draining: draining.signal,
    bookmarkIntervalMs: options.bookmarkIntervalMs,
    watchScope: (space, group, resource) => scopes.signal(space, group, resource),
  }
  types.onChange((space, group, resource) => {
    if (types.in(space).versions(group, resource).length === 0) scopes.endResource(space, group, resource)
  })
  const spaceManager = new SpaceManager({
    spaces: options.spaces,
    store,
    registry,
    types,
    tree,
    externalUrl,
    log,
  })
  tree.onGone(space => {
    types.forgetSpace(space)
    scopes.endSpace(space)
    admission.forgetSpace(space)
  })
  const tokenSecrets = new TokenSecrets({ store, registry, types, issuer, caPem: pki.caPem, log })
  const metrics = new Metrics({ revision: () => store.revision, spaces: () => tree.size })
  let ready = false
  const nonResource = new NonResourceRoutes({
    types,
    protobuf,
    metrics,
    openApi: openApiRoutes({ catalog, types }),
    address: () => url.slice('https://'.length),
    version: () => versionInfo(catalog.release, options.build ?? UNKNOWN_BUILD),
    health: {
      checks: {
        ping: () => true,
        store: () => takesWrites(store),
        spaces: () => ready,
        shutdown: () => !draining.signal.aborted,
      },
      readinessOnly: ['spaces', 'shutdown'],
    },
    openId: {
      '/.well-known/openid-configuration': () => issuer.openidConfiguration(url),
      '/openid/v1/jwks': () => issuer.jwks(),
    },
  })
  const app = createHttpServer({
    tls: tlsKeys(pki),
    pipeline: new Pipeline({
      tree,
      authenticator,
      authorizer,
      spaces: options.spaces,
      anonymousAuth: options.anonymousAuth === true,
    }),
    services,
    stream: {
      store,
      forms: services.forms,
      draining: draining.signal,
      bookmarkIntervalMs: options.bookmarkIntervalMs,
      random: Math.random,
      scope: space => scopes.signal(space, '', ''),
    },
    nonResource: (request, reply, admitted) => nonResource.handle(request, reply, admitted),
    subresources: reviewEndpoints({ authenticator, authorizer, issuer, getObject, clock }),
    metrics,
    audit: options.audit,
    log,
    inFlight: options.inFlight,
    pingIntervalMs: options.pingIntervalMs,
  })
  const kubeconfigPath = join(dataDir, 'admin.kubeconfig')
  const writeKubeconfig = ({ caPem, admin }: Pki): Promise<void> =>
    writeAdminKubeconfig(kubeconfigPath, {
      server: url,
      caPem,
      clientCertPem: admin.certPem,
      clientKeyPem: admin.keyPem,
      ...(!options.spaces && { plain: true }),
    })
  try {
    admission.start(registry)
    await app.listen({ host: options.bindAddress, port: options.securePort, backlog: 1024 }).catch(tellRemedy)
    const { port } = app.server.address() as AddressInfo
    const host = options.externalHostnames[0] ?? (isWildcard(options.bindAddress) ? '127.0.0.1' : options.bindAddress)
    url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`

    await kubernetesService.start({ address: options.advertiseAddress, port })
    definitions.start(registry)
    await spaceManager.start()
    tokenSecrets.start()
    if (options.spaces) await ensureInitialSpaces(services)
    await writeKubeconfig(pki)
  } catch (error) {
    await app.close()
    throw error
  }
  let { caPem } = pki
  const authorityListeners: ((caPem: string) => void)[] = []
  const renewal = new CertificateRenewal({
    ...certification,
    async use(renewed) {
      const server = app.server as unknown as TlsServer
      server.setSecureContext(secureContext(tlsKeys(renewed)))
      certificates.useAuthority({ certPem: renewed.caPem, keyPem: renewed.caKeyPem })
      caPem = renewed.caPem
      await tokenSecrets.useAuthority(caPem)
      for (const tell of authorityListeners) tell(caPem)
      await writeKubeconfig(renewed)
    },
    log,
  })
  ready = true
  return {
    url,
    services,
    store,
    tree,
    get caPem() {
      return caPem
    },
    kubeconfigPath,
    certificates,
    onAuthority: listener => void authorityListeners.push(listener),
    async close() {
      ready = false
      draining.abort()
      await renewal.stop()
      await app.close()
      await tokenSecrets.stop()
      await spaceManager.stop()
      await definitions.stop()
      await admission.stop()
      await options.audit?.close()
      await store.close()
    },
  }
}

/** Each object that is lost has a line of its own. */
function tellLoss(log: Logger, { findings, lost, kept, aside, revision }: AcceptedLoss): void {
  for (const what of findings) log.warn({ what }, 'the store was damaged')
  for (const what of lost) log.warn({ what }, 'lost by --accept-loss')
  log.warn(
    { lost: lost.length, kept, revision, aside },
    'the store goes on with what was intact; leave --accept-loss out from now on',
  )
}

function tlsKeys({ serving, caPem }: Pki): TlsKeys {
  return { cert: serving.certPem, key: serving.keyPem, ca: caPem }
}

function tellRemedy(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EADDRINUSE') throw error
  throw new Error(`${error.message}: stop what listens there, or give another --secure-port`, { cause: error })
}
