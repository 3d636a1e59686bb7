/** Which strategy handles which built-in kind. One strategy serves all versions of a resource. */
import type { GroupResource } from '../../../apimachinery/object.ts'
import type { Strategy } from '../strategy.ts'
import { policyStrategies } from './admissionPolicies.ts'
import { appsStrategies } from './apps.ts'
import { autoscalingStrategies } from './autoscaling.ts'
import { certificateStrategies } from './certificates.ts'
import { clusterStrategies } from './cluster.ts'
import { coreStrategies } from './core.ts'
import { cronJobStrategies } from './cronJobs.ts'
import { disruptionStrategies } from './disruptionBudgets.ts'
import { endpointSliceStrategies } from './endpointSlices.ts'
import { flowSchemaStrategies } from './flowSchemas.ts'
import { ingressStrategies } from './ingresses.ts'
import { jobStrategies } from './jobs.ts'
import type { Strategies } from './kind.ts'
import { networkPolicyStrategies } from './networkPolicies.ts'
import { podStrategies } from './pods.ts'
import { warnOfTemplate } from './podWarnings.ts'
import { priorityLevelStrategies } from './priorityLevels.ts'
import { quotaStrategies } from './quotas.ts'
import { rbacStrategies } from './rbac.ts'
import { resourceClaimStrategies } from './resourceClaims.ts'
import { resourceSliceStrategies } from './resourceSlices.ts'
import { serviceRangeStrategies } from './serviceRanges.ts'
import { serviceStrategies } from './services.ts'
import { statefulSetStrategies } from './statefulSets.ts'
import { storageStrategies } from './storage.ts'
import { volumeStrategies } from './volumes.ts'
import { webhookStrategies } from './webhooks.ts'

const all: Strategies = {
  ...podStrategies,
  ...coreStrategies,
  ...quotaStrategies,
  ...serviceStrategies,
  ...volumeStrategies,
  ...appsStrategies,
  ...statefulSetStrategies,
  ...jobStrategies,
  ...cronJobStrategies,
  ...autoscalingStrategies,
  ...disruptionStrategies,
  ...ingressStrategies,
  ...networkPolicyStrategies,
  ...serviceRangeStrategies,
  ...endpointSliceStrategies,
  ...rbacStrategies,
  ...webhookStrategies,
  ...policyStrategies,
  ...storageStrategies,
  ...flowSchemaStrategies,
  ...priorityLevelStrategies,
  ...certificateStrategies,
  ...resourceClaimStrategies,
  ...resourceSliceStrategies,
  ...clusterStrategies,
}
/** Where kinds keep the template of their pods. */
const TEMPLATES: Readonly<Record<string, string>> = {
  '/podtemplates': 'template',
  '/replicationcontrollers': 'spec.template',
  'apps/daemonsets': 'spec.template',
  'apps/deployments': 'spec.template',
  'apps/replicasets': 'spec.template',
  'apps/statefulsets': 'spec.template',
  'batch/cronjobs': 'spec.jobTemplate.spec.template',
  'batch/jobs': 'spec.template',
}
/** Kinds whose updates must say which version they are made of. */
const VERSIONED: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/mutatingadmissionpolicies',
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiregistration.k8s.io/apiservices',
  'coordination.k8s.io/leases',
  'node.k8s.io/runtimeclasses',
  'policy/poddisruptionbudgets',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/volumeattachments',
])
/** Kinds that an update makes where there is none, beside those whose strategies say so. */
const MADE_BY_UPDATE: ReadonlySet<string> = new Set([
  '/limitranges',
  'node.k8s.io/runtimeclasses',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
])
const strategies: ReadonlyMap<string, Strategy> = new Map(
  Object.entries(all).map(([key, strategy]) => [
    key,
    {
      ...(TEMPLATES[key] === undefined ? strategy : warnOfTemplate(strategy, TEMPLATES[key])),
      ...(VERSIONED.has(key) && { requireResourceVersion: true }),
      ...(MADE_BY_UPDATE.has(key) && { createOnUpdate: true }),
    },
  ]),
)

/** The strategy of a built-in kind; `undefined` for kinds that need nothing beyond their schema. */
export function strategyFor(gr: GroupResource): Strategy | undefined {
  return strategies.get(`${gr.group}/${gr.resource}`)
}
