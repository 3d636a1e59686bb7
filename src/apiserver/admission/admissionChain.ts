/** Every admission step of a server in its order, and the settings behind them. */

import { idleClock, systemClock } from '../../client/clock.ts'
import { CrowdLog } from '../../client/crowdLog.ts'
import type { Nature } from '../../placement/spaces/nature.ts'
import type { LoopShare } from '../../program/loopShare.ts'
import type { Job } from '../../program/threadPool.ts'
import { WorkTurns } from '../../program/workTurns.ts'
import type { Store } from '../../storage/store.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import type { UserInfo } from '../auth/types.ts'
import { flowsElsewhere } from '../flowcontrol/flowsElsewhere.ts'
import type { KubernetesService } from '../kubernetesService/kubernetesService.ts'
import type { Admission } from '../registry/admission.ts'
import type { ParsedCache } from '../registry/codec.ts'
import { systemUser, trustedName } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { Logger } from '../request/logger.ts'
import { AllocationLog } from '../serviceNetwork/allocationLog.ts'
import { serviceAdmission } from '../serviceNetwork/serviceAdmission.ts'
import type { ServiceNetwork } from '../serviceNetwork/serviceRanges.ts'
import { ROOT, type SpaceTree } from '../spaces/tree.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { AdmissionCel } from './admissionCel.ts'
import { certificateAdmission, certificateSubjects } from './certificateAdmission.ts'
import { ConfigurationLog } from './configurationLog.ts'
import { defaultClasses, INGRESS_CLASSES, STORAGE_CLASSES } from './defaultClasses.ts'
import { type Elsewhere, unlessElsewhere } from './elsewhere.ts'
import { expressionCheck } from './expressionCheck.ts'
import { type ExpressionJob, type ExpressionResult, ExpressionRunner } from './expressionRunner.ts'
import { LIMIT_RANGES, limitRanger } from './limitRanger.ts'
import { mutatingPolicies } from './mutatingPolicies.ts'
import { namespaceLifecycle, namespaceState } from './namespaceLifecycle.ts'
import { NamespaceReader } from './namespaces.ts'
import { ownerReferences } from './ownerReferences.ts'
import { defaultTolerations, priorityAdmission, serviceAccountAdmission } from './podAdmission.ts'
import { LabelledNamespaces } from './podSecurity/labelledNamespaces.ts'
import { podSecurity } from './podSecurity/podSecurity.ts'
import { PolicyConfigurations } from './policyConfigurations.ts'
import { PolicyParams } from './policyParams.ts'
import { PolicyStatus } from './policyStatus.ts'
import { rbacAdmission } from './rbacEscalation.ts'
import { QUOTAS, resourceQuota } from './resourceQuota.ts'
import { runtimeClassAdmission } from './runtimeClassAdmission.ts'
import { settingsLimit } from './settingsLimit.ts'
import { spaceBudgetAdmission } from './spaceBudgetAdmission.ts'
import { spaceLifecycle } from './spaceLifecycle.ts'
import { PRIORITY_CLASSES } from './systemPriorityClasses.ts'
import { validatingPolicies } from './validatingPolicies.ts'
import type { WebhookClient } from './webhookClient.ts'
import { ADMISSION_GROUP, WebhookConfigurations } from './webhookConfigurations.ts'
import { mutatingWebhooks, validatingWebhooks } from './webhooks.ts'
import { workspaceAdmission } from './workspaces.ts'

interface AdmissionChainDeps {
  store: Store
  parsed: ParsedCache
  types: TypeRegistry
  authorizer: RbacAuthorizer
  /** In a thread. @throws JobError */
  runExpressions: (job: Job<ExpressionJob>) => Promise<ExpressionResult>
  /** For what is tried on the loop. */
  share: LoopShare
  nature: Nature
  webhooks: WebhookClient
  /** Names of plug-ins, as of kube-apiserver's `--disable-admission-plugins`; `ServiceAccount` can be left out. */
  disabledPlugins?: readonly string[]
  /** Objects that are judged elsewhere. Absent: none. */
  elsewhere?: Elsewhere | undefined
  tree: SpaceTree
  externalUrl: () => string
  network: ServiceNetwork
  /** Long work of the process. */
  turns: WorkTurns
  kubernetesService: KubernetesService
  /** Rights on placement; the last step. */
  authority: readonly Admission[]
  clock: () => Date
  randomBytes: (size: number) => Buffer
  /** From 0 to 1. */
  random: () => number
  log: Logger
}

export interface AdmissionChain {
  readonly steps: readonly Admission[]
  /** From now on policies get their status, through `registry`. */
  start(registry: Registry): void
  stop(): Promise<void>
  /** The acting objects of a space have changed. */
  rethink(space: string): void
  /** A space is gone. */
  forgetSpace(space: string): void
}

/** The server's own components that make spaces what they are: no setting inside of a space binds them. */
const MAKERS: ReadonlySet<string> = new Set(
  ['definitions', 'spaces', 'token-secrets', 'bootstrap', 'flow-control'].map(systemUser),
)

export function admissionChain(deps: AdmissionChainDeps): AdmissionChain {
  const { store, parsed, types, elsewhere, nature, tree, log } = deps
  const settings = (group: string, ...resources: string[]) => resources.map(resource => ({ group, resource }))
  const kinds = [
    ...settings(
      ADMISSION_GROUP,
      'mutatingwebhookconfigurations',
      'validatingwebhookconfigurations',
      'mutatingadmissionpolicies',
      'mutatingadmissionpolicybindings',
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
    ),
    QUOTAS,
    LIMIT_RANGES,
    PRIORITY_CLASSES,
    STORAGE_CLASSES,
    INGRESS_CLASSES,
  ]
  const configurations = new ConfigurationLog({ store, resources: kinds, nature })
  const labelled = new LabelledNamespaces({ store, nature })
  const cel = new AdmissionCel()
  const { authorizer, runExpressions: run, share, turns } = deps
  const expressions = new ExpressionRunner({ authorizer, run, share, turns })
  const policyStatus = new PolicyStatus({
    settings: configurations,
    types,
    log,
    turns: new WorkTurns({ clock: () => performance.now() }),
    clock: systemClock,
    random: Math.random,
  })
  const namespaces = new NamespaceReader({ store, parsed })
  const passedOver = new CrowdLog(log, idleClock)
  const webhooks = (resource: string) => ({
    configurations: new WebhookConfigurations(configurations, cel, resource),
    client: deps.webhooks,
    types,
    namespaces,
    expressions,
    turns: deps.turns,
    log: passedOver,
  })
  const params = new PolicyParams({ store, parsed, types })
  const policies = (kind: 'mutating' | 'validating') => ({
    configurations: new PolicyConfigurations(configurations, cel, kind),
    params,
    types,
    namespaces,
    expressions,
    turns: deps.turns,
  })
  const pods = { store, parsed, settings: configurations, nature, random: deps.random }
  const [limitDefaults, limitBounds] = limitRanger(configurations, deps.turns)
  const allocations = new AllocationLog({ store, kept: deps.network.kubernetesAddress })
  const stateOf = namespaceState({ store, parsed })
  const disabled = new Set(deps.disabledPlugins ?? [])
  const isMaker = (user: UserInfo): boolean => MAKERS.has(trustedName(user))
  const isElsewhere = (user: UserInfo, space: string): boolean =>
    isMaker(user) ||
    (elsewhere !== undefined &&
      (elsewhere.users.has(trustedName(user)) || elsewhere.paths.test(tree.pathOf(space) ?? '')))
  const judgedHere = (...steps: Admission[]): Admission[] => unlessElsewhere(steps, isElsewhere, elsewhere?.kinds)
  return {
    steps: [
      namespaceLifecycle(stateOf),
      ...judgedHere(
        limitDefaults!,
        ...(disabled.has('ServiceAccount') ? [] : [serviceAccountAdmission(pods)]),
        ...priorityAdmission(pods),
        defaultTolerations(),
        ...runtimeClassAdmission(pods),
        ...defaultClasses(configurations),
        mutatingPolicies(policies('mutating')),
        mutatingWebhooks(webhooks('mutatingwebhookconfigurations')),
        limitBounds!,
        ...podSecurity({ store, parsed, namespaces: labelled }),
        expressionCheck(cel),
        settingsLimit(configurations, kinds),
        ownerReferences({ authorizer: deps.authorizer, types }),
      ),
      certificateSubjects,
      ...judgedHere(
        validatingPolicies(policies('validating')),
        validatingWebhooks(webhooks('validatingwebhookconfigurations')),
        resourceQuota({ settings: configurations, store, parsed, turns: deps.turns }),
        serviceAdmission({ network: deps.network, log: allocations, random: deps.random }),
      ),
      deps.kubernetesService.admission(),
      workspaceAdmission({ tree, externalUrl: deps.externalUrl, randomBytes: deps.randomBytes }),
      spaceBudgetAdmission(deps.authorizer),
      rbacAdmission(deps.authorizer, nature),
      certificateAdmission(deps.authorizer, deps.clock),
      ...deps.authority,
      flowsElsewhere(nature, ROOT),
      spaceLifecycle(tree, isMaker),
    ],
    start: registry => policyStatus.start(registry),
    stop: () => policyStatus.stop(),
    rethink(space) {
      configurations.rethink(space)
      labelled.rethink(space)
    },
    forgetSpace: space => allocations.forget(space),
  }
}
