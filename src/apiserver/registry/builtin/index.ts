/** Which strategy handles which built-in kind. One strategy serves all versions of a resource. */
import type { GroupResource } from '../../../apimachinery/object.ts'
import type { Strategy } from '../strategy.ts'
import { appsStrategies } from './apps.ts'
import { batchStrategies } from './batch.ts'
import { clusterStrategies } from './cluster.ts'
import { coreStrategies } from './core.ts'
import type { Strategies } from './kind.ts'
import { networkingStrategies } from './networking.ts'
import { podStrategies } from './pods.ts'
import { quotaStrategies } from './quotas.ts'
import { rbacStrategies } from './rbac.ts'
import { scalingStrategies } from './scaling.ts'
import { serviceStrategies } from './services.ts'
import { volumeStrategies } from './volumes.ts'
import { webhookStrategies } from './webhooks.ts'

const all: Strategies = {
  ...podStrategies,
  ...coreStrategies,
  ...quotaStrategies,
  ...serviceStrategies,
  ...volumeStrategies,
  ...appsStrategies,
  ...batchStrategies,
  ...scalingStrategies,
  ...networkingStrategies,
  ...rbacStrategies,
  ...webhookStrategies,
  ...clusterStrategies,
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
const strategies: ReadonlyMap<string, Strategy> = new Map(
  Object.entries(all).map(([key, strategy]) => [
    key,
    VERSIONED.has(key) ? { ...strategy, requireResourceVersion: true } : strategy,
  ]),
)

/** The strategy of a built-in kind; `undefined` for kinds that need nothing beyond their schema. */
export function strategyFor(gr: GroupResource): Strategy | undefined {
  return strategies.get(`${gr.group}/${gr.resource}`)
}
