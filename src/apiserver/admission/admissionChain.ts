/** Every admission step of a server in its order, and the settings behind them. */
import { isInMailbox } from '../../apimachinery/mailbox.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Store } from '../../storage/store.ts'
import type { Authorizer } from '../auth/types.ts'
import type { Admission } from '../registry/admission.ts'
import type { ParsedCache } from '../registry/codec.ts'
import type { Registry } from '../registry/registry.ts'
import type { Logger } from '../request/logger.ts'
import { AllocationLog } from '../serviceNetwork/allocationLog.ts'
import { serviceAdmission } from '../serviceNetwork/serviceAdmission.ts'
import type { ServiceNetwork } from '../serviceNetwork/serviceRanges.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { AdmissionCel } from './admissionCel.ts'
import { ConfigurationLog } from './configurationLog.ts'
import { defaultClasses, INGRESS_CLASSES, STORAGE_CLASSES } from './defaultClasses.ts'
import { expressionCheck } from './expressionCheck.ts'
import { LIMIT_RANGES, limitRanger } from './limitRanger.ts'
import { mutatingPolicies } from './mutatingPolicies.ts'
import { namespaceLifecycle } from './namespaceLifecycle.ts'
import { NamespaceReader } from './namespaces.ts'
import { ownerReferences } from './ownerReferences.ts'
import { defaultTolerations, priorityAdmission, serviceAccountAdmission } from './podAdmission.ts'
import { LabelledNamespaces } from './podSecurity/labelledNamespaces.ts'
import { podSecurity } from './podSecurity/podSecurity.ts'
import { PolicyConfigurations } from './policyConfigurations.ts'
import { PolicyParams } from './policyParams.ts'
import { PolicyStatus } from './policyStatus.ts'
import { QUOTAS, resourceQuota } from './resourceQuota.ts'
import { runtimeClassAdmission } from './runtimeClassAdmission.ts'
import { PRIORITY_CLASSES } from './systemPriorityClasses.ts'
import { validatingPolicies } from './validatingPolicies.ts'
import type { WebhookClient } from './webhookClient.ts'
import { ADMISSION_GROUP, WebhookConfigurations } from './webhookConfigurations.ts'
import { mutatingWebhooks, validatingWebhooks } from './webhooks.ts'

export interface AdmissionChainDeps {
  store: Store
  parsed: ParsedCache
  types: TypeRegistry
  authorizer: Authorizer
  webhooks: WebhookClient
  /** Names of plug-ins, as of kube-apiserver's `--disable-admission-plugins`; `ServiceAccount` can be left out. */
  disabledPlugins?: readonly string[]
  /** Whether copies that wait for a cluster may be among the objects: those steer nothing here. */
  spaces: boolean
  /** The path of a space from the root. */
  pathOf(space: string): string | undefined
  network: ServiceNetwork
  /** From 0 to 1. */
  random: () => number
  log: Logger
}

export interface AdmissionChain {
  readonly steps: readonly Admission[]
  /** From now on policies get their status, through `registry`. */
  start(registry: Registry): void
  stop(): Promise<void>
  /** A space is gone. */
  forgetSpace(space: string): void
}

const PROJECTED = 'edge.kubestellar.io/projected'
/** The server's own components that carry objects to other places: what holds at the destination does not bind them. */
const CARRIERS =
  /^system:orrery:(?:placement-translator|mailbox-controller|where-resolver|definitions|spaces|token-secrets|bootstrap)$/

export function admissionChain(deps: AdmissionChainDeps): AdmissionChain {
  const { store, parsed, types, log } = deps
  const settings = (group: string, ...resources: string[]) => resources.map(resource => ({ group, resource }))
  const configurations = new ConfigurationLog({
    store,
    resources: [
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
    ],
    ...(deps.spaces && { ignores: isCopy }),
  })
  const labelled = new LabelledNamespaces({ store, ...(deps.spaces && { ignores: isCopy }) })
  const cel = new AdmissionCel()
  const policyStatus = new PolicyStatus({ settings: configurations, types, log })
  const namespaces = new NamespaceReader({ store, parsed })
  const webhooks = (resource: string) => ({
    configurations: new WebhookConfigurations(configurations, cel, resource),
    client: deps.webhooks,
    types,
    namespaces,
    authorizer: deps.authorizer,
    log,
  })
  const params = new PolicyParams({ store, parsed, types })
  const policies = (kind: 'mutating' | 'validating') => ({
    configurations: new PolicyConfigurations(configurations, cel, kind),
    params,
    types,
    namespaces,
    authorizer: deps.authorizer,
  })
  const pods = { store, parsed, settings: configurations, random: deps.random }
  const [limitDefaults, limitBounds] = limitRanger(configurations)
  const allocations = new AllocationLog({ store, kept: deps.network.kubernetesAddress })
  const disabled = new Set(deps.disabledPlugins ?? [])
  return {
    steps: [
      namespaceLifecycle({ store, parsed }),
      ...[
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
        ownerReferences({ authorizer: deps.authorizer, types }),
        validatingPolicies(policies('validating')),
        validatingWebhooks(webhooks('validatingwebhookconfigurations')),
        resourceQuota({ settings: configurations, store, parsed }),
        serviceAdmission({ network: deps.network, log: allocations, random: deps.random }),
      ].map(step => unlessElsewhere(step, deps.pathOf)),
    ],
    start: registry => policyStatus.start(registry),
    stop: () => policyStatus.stop(),
    forgetSpace: space => allocations.forget(space),
  }
}

function isCopy(object: KubeObject): boolean {
  return object.metadata.labels?.[PROJECTED] === 'yes'
}

/** What is decided at another place is not decided here. Mailboxes hold pictures of what lives in a cluster: it judges them. */
function unlessElsewhere(step: Admission, pathOf: AdmissionChainDeps['pathOf']): Admission {
  return {
    ...step,
    handles: (type, operation, target) =>
      step.handles(type, operation, target) &&
      !CARRIERS.test(target.user.name) &&
      !isInMailbox(pathOf(target.space) ?? ''),
  }
}
