/** Which strategy handles which built-in kind. One strategy serves all versions of a resource. */
import type { GroupResource } from '../apimachinery/object.ts'
import { certificateStrategies } from './access/certificates.ts'
import { rbacStrategies } from './access/rbac.ts'
import { clusterStrategies } from './cluster.ts'
import { policyStrategies } from './control/admissionPolicies.ts'
import { flowSchemaStrategies } from './control/flowSchemas.ts'
import { priorityLevelStrategies } from './control/priorityLevels.ts'
import { quotaStrategies } from './control/quotas.ts'
import { webhookStrategies } from './control/webhooks.ts'
import { coreStrategies } from './core.ts'
import { resourceClaimStrategies } from './devices/resourceClaims.ts'
import { resourceSliceStrategies } from './devices/resourceSlices.ts'
import type { Strategies } from './kind.ts'
import { endpointSliceStrategies } from './network/endpointSlices.ts'
import { ingressStrategies } from './network/ingresses.ts'
import { networkPolicyStrategies } from './network/networkPolicies.ts'
import { serviceRangeStrategies } from './network/serviceRanges.ts'
import { serviceStrategies } from './network/services.ts'
import { podStrategies } from './pods/pods.ts'
import { warnOfTemplate } from './pods/podWarnings.ts'
import type { Strategy } from './strategy.ts'
import { storageStrategies } from './volumes/storage.ts'
import { volumeStrategies } from './volumes/volumes.ts'
import { appsStrategies } from './workloads/apps.ts'
import { autoscalingStrategies } from './workloads/autoscaling.ts'
import { cronJobStrategies } from './workloads/cronJobs.ts'
import { disruptionStrategies } from './workloads/disruptionBudgets.ts'
import { jobStrategies } from './workloads/jobs.ts'
import { statefulSetStrategies } from './workloads/statefulSets.ts'

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
  // whoever makes a space knows how it is
  'core.kcp.io/logicalclusters': { createdWithStatus: true },
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
/** By group, then resource: each write asks many times. */
const strategies: ReadonlyMap<string, ReadonlyMap<string, Strategy>> = byGroup()

function byGroup(): Map<string, Map<string, Strategy>> {
  const groups = new Map<string, Map<string, Strategy>>()
  for (const [key, strategy] of Object.entries(all)) {
    const [group, resource] = key.split('/') as [string, string]
    const ofGroup = groups.get(group) ?? new Map<string, Strategy>()
    groups.set(group, ofGroup)
    ofGroup.set(resource, {
      ...(TEMPLATES[key] === undefined ? strategy : warnOfTemplate(strategy, TEMPLATES[key])),
      ...(VERSIONED.has(key) && { requireResourceVersion: true }),
      ...(MADE_BY_UPDATE.has(key) && { createOnUpdate: true }),
    })
  }
  return groups
}

/** The strategy of a built-in kind; `undefined` for kinds that need nothing beyond their schema. */
export function strategyFor(gr: GroupResource): Strategy | undefined {
  return strategies.get(gr.group)?.get(gr.resource)
}
