/** The server's parts put together, over an open store. Nothing runs yet: see apiServer.ts for the order of that. */
import { randomBytes, randomUUID } from 'node:crypto'
import { isSameResource } from '../apimachinery/object.ts'
import { protobufCodec } from '../apimachinery/protobuf/protobufCodec.ts'
import { CRDS } from '../apimachinery/resources.ts'
import type { ResourceType } from '../apimachinery/resourceType.ts'
import { timestamp } from '../apimachinery/timestamp.ts'
import { systemClock } from '../client/clock.ts'
import type { KeyGuard } from '../client/setAside/keyGuard.ts'
import { strategyFor } from '../kinds/strategyFor.ts'
import type { PostNotice } from '../placement/desks/noticePost.ts'
import { readProtobufFields } from '../program/dataFiles.ts'
import { LoopShare } from '../program/loopShare.ts'
import { startThread } from '../program/startThread.ts'
import { ThreadPool } from '../program/threadPool.ts'
import { WorkTurns } from '../program/workTurns.ts'
import type { Store } from '../storage/store.ts'
import { type AccessParts, accessParts } from './accessParts.ts'
import { type AdmissionChain, admissionChain } from './admission/admissionChain.ts'
import { AllowedHosts } from './admission/allowedHosts.ts'
import { EXPRESSIONS } from './admission/expressionRunner.ts'
import { noticePosts } from './admission/noticePosts.ts'
import { ServiceRoutes } from './admission/serviceRoutes.ts'
import { WebhookCalls } from './admission/webhookCalls.ts'
import { WebhookClient } from './admission/webhookClient.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import { CertificateSigner } from './auth/certificateSigner.ts'
import { authorityAdmission } from './authority/authorityAdmission.ts'
import { DerivedLists } from './authority/derivedLists.ts'
import { LiveQuestions } from './authority/liveQuestions.ts'
import { OutcomeInbox } from './authority/outcomeInbox.ts'
import { parameterized } from './authority/parameterized.ts'
import { PreviewInbox } from './authority/previewInbox.ts'
import { SyncerTokens } from './authority/syncerTokens.ts'
import { travelBetween } from './authority/travel.ts'
import { builtinSharedObjects } from './builtinSharedObjects.ts'
import { type Catalog, loadCatalog } from './catalog/catalog.ts'
import { DefinitionManager } from './definitions/definitionManager.ts'
import { definitionStrategy } from './definitions/definitionStrategy.ts'
import { SilentFailures } from './definitions/silentFailures.ts'
import { BlockWriter } from './exchange/answers/blockWriter.ts'
import { Compression } from './exchange/answers/compression.ts'
import { FrameCache } from './exchange/answers/frames.ts'
import { WriteTurns } from './exchange/answers/writeTurns.ts'
import type { ServerServices } from './exchange/exchange.ts'
import { WatchScopes } from './exchange/watchScopes.ts'
import { type FlowParts, flowParts } from './flowParts.ts'
import type { FollowerDeps } from './following/followLog.ts'
import { KubernetesService } from './kubernetesService/kubernetesService.ts'
import { CarryBoard } from './metrics/carryMetrics.ts'
import { madeAt } from './pki/backdate.ts'
import type { Pki } from './pki/ensurePki.ts'
import { AnsweredKinds } from './registry/answeredKinds.ts'
import { ParsedCache } from './registry/codec.ts'
import { CHECK, KIND_CHECK, LongChecks } from './registry/longChecks.ts'
import { Reader } from './registry/reader.ts'
import { Registry, type RegistryDeps } from './registry/registry.ts'
import { StoreEpochs } from './registry/storeEpochs.ts'
import { StreamForms } from './registry/streamForms.ts'
import { uidMaker } from './registry/uids.ts'
import { TokenSecrets } from './serviceAccounts/tokenSecrets.ts'
import { serviceNetwork } from './serviceNetwork/serviceRanges.ts'
import type { SpaceBudgets } from './spaces/spaceBudgets.ts'
import { SpaceManager } from './spaces/spaceManager.ts'
import { SpaceTree } from './spaces/tree.ts'
import { TypeRegistry } from './types/typeRegistry.ts'

/** Bound on one job. */
export const THREAD_LIMITS = { maxOldGenerationSizeMb: 512 }

export interface Assembly extends AccessParts, FlowParts {
  readonly services: ServerServices
  readonly catalog: Catalog
  readonly tree: SpaceTree
  readonly budgets: SpaceBudgets
  readonly scopes: WatchScopes
  readonly certificates: CertificateSigner
  readonly kubernetesService: KubernetesService
  readonly admission: AdmissionChain
  readonly definitions: DefinitionManager
  readonly spaceManager: SpaceManager
  readonly tokenSecrets: TokenSecrets
  readonly epochs: StoreEpochs
  /** Syncers' reports of their clusters. */
  readonly outcomes: OutcomeInbox
  readonly previews: PreviewInbox
  readonly liveQuestions: LiveQuestions
  /** How what is placed gets on. */
  readonly carry: CarryBoard
  readonly postNotice: PostNotice
  /** Absent where there are no spaces. */
  readonly syncerTokens: SyncerTokens | undefined
}

export interface AssemblyDeps {
  store: Store
  /** Long work of the process, and what goes before it. */
  work: WorkTurns
  /** The store's. */
  budgets: SpaceBudgets
  pki: Pki
  /** Guard for the work queue of each part of the server. */
  guardFor(queue: string): KeyGuard | undefined
  /** As {@link CarryBoard} tells it. Absent over a replica, where nothing is placed. */
  writtenAtMs?: CarryBoard['writtenAtMs']
  /** Where clients reach the server: known once it listens. */
  url: () => string
  draining: AbortSignal
  /** Over a replica: the life of the store that its writer began. */
  follows?: string
}

export async function assemble(options: ApiServerOptions, deps: AssemblyDeps): Promise<Assembly> {
  const { log } = options
  const { store, work, budgets, pki, guardFor, url: externalUrl, draining } = deps
  const network = serviceNetwork(options.serviceClusterIpRange, options.serviceNodePortRange)
  const epochs =
    deps.follows !== undefined
      ? await StoreEpochs.following(store, deps.follows)
      : await StoreEpochs.begin(store, error =>
          log.warn(
            { err: error },
            'the start of this server is not recorded: syncers will read their mailboxes anew after the next',
          ),
        )
  const catalog = loadCatalog()
  const tree = new SpaceTree(store)
  if (options.spaces) budgets.follow(tree, store)
  work.follow(space => tree.tenantOf(space))
  const served = catalog.types.filter(type => options.spaces || type.form !== 'own')
  const types = new TypeRegistry(served, space => tree.typeOf(space))
  const parsed = new ParsedCache()
  const scopes = new WatchScopes()
  const clock = (): Date => new Date()
  const follower = (queue: string): FollowerDeps => ({
    guard: guardFor(queue),
    turns: new WorkTurns({ clock: () => performance.now() }),
    clock: systemClock,
    random: Math.random,
    log,
  })

  const since = timestamp(madeAt(pki.caPem))
  const kubernetesService = new KubernetesService(
    { store, isEnding: space => tree.isDeleting(space), clock, uuid: randomUUID },
    { since, clusterIp: network.kubernetesAddress },
  )
  const outcomes = new OutcomeInbox({
    tree,
    epoch: epochs.current,
    revision: () => store.revision,
    restoredAt: () => epochs.restored?.restoredAt,
    clock: systemClock,
  })
  epochs.onSettled = () => outcomes.settled()
  const access = await accessParts(options, { store, work, tree, types, pki, url: externalUrl })
  const { nature, openAccess, demands, authorizer, issuer, authenticator, getObject } = access

  const threads = new ThreadPool({ start: () => startThread('jobs', { resourceLimits: THREAD_LIMITS }) })
  const share = new LoopShare(() => performance.now())
  const shared = builtinSharedObjects({ types, store, since, ownKinds: options.spaces, kubernetesService, turns: work })
  const webhooks = new WebhookClient({
    routes: new ServiceRoutes({ store, parsed, random: Math.random }),
    hosts: new AllowedHosts(options.webhookAllowedHosts),
    turns: work,
    calls: new WebhookCalls(space => tree.tenantOf(space)),
  })
  const silent = new SilentFailures(log, () => performance.now())
  const definitions = new DefinitionManager({
    store,
    types,
    ...follower('definitions'),
    uuid: randomUUID,
    post: (target, body) => webhooks.post(target, body),
    silent: failure => silent.note(failure),
    callsConversions: space => nature.callsConversions(space),
  })
  const previews = new PreviewInbox()
  const admission = admissionChain({
    store,
    parsed,
    types,
    authorizer,
    nature,
    runExpressions: job => threads.run(EXPRESSIONS, job),
    share,
    webhooks,
    elsewhere: options.elsewhere,
    disabledPlugins: options.disabledAdmissionPlugins ?? [],
    tree,
    externalUrl,
    network,
    kubernetesService,
    turns: work,
    authority: options.spaces
      ? authorityAdmission({ store, parsed, tree, nature, authorizer, demands, types, previews, clock })
      : [],
    clock,
    random: Math.random,
    randomBytes,
    log,
  })
  const registryDeps: RegistryDeps = {
    store,
    parsed,
    strategyFor: type => (isSameResource(type, CRDS) ? definitionStrategy : strategyFor(type)),
    storageType: (space, type) => storageType(types, space, type),
    typeAt: (space, group, version, resource) => types.in(space).find(group, version, resource),
    admission: [...admission.steps, definitions.admission],
    shared,
    clock,
    uuid: uidMaker(),
    random: Math.random,
    turns: work,
    annotateSpace: options.spaces,
    ...(options.spaces && { travel: travelBetween(tree), parameterized: parameterized(tree) }),
    longChecks: new LongChecks({
      run: job => threads.run(CHECK, job),
      runKind: job => threads.run(KIND_CHECK, job),
      share,
    }),
  }
  const registry = new Registry(registryDeps)
  const services: ServerServices = {
    deps: registryDeps,
    registry,
    reader: new Reader({ store, parsed, shared, turns: work }),
    derived: options.spaces ? new DerivedLists({ store, turns: work }) : undefined,
    spaceName: id => tree.pathOf(id) ?? id,
    describes: id => tree.typeOf(id).describes,
    answered: new AnsweredKinds({ clock: systemClock, turns: work }),
    work,
    types,
    frames: new FrameCache(),
    protobuf: protobufCodec(readProtobufFields),
    turns: new WriteTurns(
      () => performance.now(),
      turn => work.soon(turn),
    ),
    blocks: new BlockWriter(),
    compression: new Compression({ deflate: options.deflate }),
    threads,
    forms: new StreamForms(types, registry.provenance),
    authorizer,
    draining,
    openAccess,
    bookmarkIntervalMs: options.bookmarkIntervalMs,
    watchScope: (space, group, resource) => scopes.of(space, group, resource),
  }
  types.onChange((space, group, resource) => {
    for (const each of [space, '*'])
      if (scopes.has(each, group, resource) && types.in(each).versions(group, resource).length === 0)
        scopes.endResource(each, group, resource)
  })
  // what a space's type says may have changed for all that it holds
  const rethink = (space: string): void => {
    authorizer.forget(space)
    admission.rethink(space)
  }
  tree.onKnown(rethink)
  tree.onTyped(space => {
    rethink(space)
    authenticator.forget(space)
  })
  tree.onGone(space => {
    types.forgetSpace(space)
    scopes.endSpace(space)
    admission.forgetSpace(space)
  })
  const flow = flowParts(options, {
    store,
    types,
    tree,
    registryDeps,
    registry,
    follower: follower('flow-control'),
    isReplica: deps.follows !== undefined,
  })
  return {
    services,
    ...access,
    ...flow,
    catalog,
    tree,
    budgets,
    scopes,
    epochs,
    outcomes,
    previews,
    liveQuestions: new LiveQuestions({ tree, clock: systemClock }),
    carry: new CarryBoard(deps.writtenAtMs),
    postNotice: noticePosts(webhooks),
    certificates: new CertificateSigner({ clock: Date.now, ca: { certPem: pki.caPem, keyPem: pki.caKeyPem } }),
    kubernetesService,
    admission,
    definitions,
    spaceManager: new SpaceManager({
      spaces: options.spaces,
      store,
      registry,
      types,
      tree,
      externalUrl,
      ...follower('spaces'),
    }),
    syncerTokens: options.spaces
      ? new SyncerTokens({ store, registry, types, tree, authorizer, issuer, getObject, clock })
      : undefined,
    tokenSecrets: new TokenSecrets({
      store,
      registry,
      types,
      issuer,
      nature,
      caPem: pki.caPem,
      ...follower('token-secrets'),
    }),
  }
}

/** The type at the version that objects are stored in. */
function storageType(types: TypeRegistry, space: string, type: ResourceType): ResourceType {
  if (type.version === type.storageVersion) return type
  return types.in(space).find(type.group, type.storageVersion, type.resource) ?? type
}
