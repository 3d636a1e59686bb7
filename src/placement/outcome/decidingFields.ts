/**
 * Fields that decide whether or how something runs: an object of which a cluster drops or changes one is `Altered` there, and not
 * applied. The one table of them, which docs/reference/states.md shows. Pure.
 */
import { type GroupResource, groupResourceName, isRecord } from '../../apimachinery/object.ts'

interface DecidingRow {
  readonly what: string
  /** Names of kinds, as `resource.group`; absent: of any kind, at any depth. */
  readonly of?: readonly string[]
  /** Names of fields; with `of`, first fields of the object or of its spec. */
  readonly fields: readonly string[]
}

export const DECIDING_FIELDS: readonly DecidingRow[] = [
  {
    what: 'whether it runs, when, and how often',
    fields:
      'suspend suspended paused replicas minReplicas maxReplicas parallelism completions completionMode schedule timeZone concurrencyPolicy startingDeadlineSeconds activeDeadlineSeconds backoffLimit podFailurePolicy successPolicy strategy updateStrategy minAvailable maxUnavailable'.split(
        ' ',
      ),
  },
  {
    what: 'what runs',
    fields:
      'containers initContainers image command args env envFrom workingDir restartPolicy lifecycle livenessProbe readinessProbe startupProbe terminationGracePeriodSeconds volumes volumeMounts volumeDevices volumeClaimTemplates'.split(
        ' ',
      ),
  },
  {
    what: 'with which rights',
    fields:
      'securityContext hostNetwork hostPID hostIPC hostUsers hostPath hostPort hostIP hostAliases hostname runtimeClassName serviceAccountName serviceAccount automountServiceAccountToken shareProcessNamespace'.split(
        ' ',
      ),
  },
  {
    what: 'where it runs',
    fields:
      'nodeName nodeSelector affinity tolerations topologySpreadConstraints priorityClassName schedulerName schedulingGates dnsPolicy dnsConfig'.split(
        ' ',
      ),
  },
  {
    what: 'who reaches it, and whom it reaches',
    fields:
      'ports endPort selector podSelector namespaceSelector ingress egress policyTypes externalTrafficPolicy internalTrafficPolicy trafficDistribution loadBalancerSourceRanges ingressClassName tls'.split(
        ' ',
      ),
  },
  { what: 'who may do what', fields: ['rules', 'roleRef', 'subjects', 'aggregationRule'] },
  {
    what: 'what admission does',
    of: [
      'validatingwebhookconfigurations.admissionregistration.k8s.io',
      'mutatingwebhookconfigurations.admissionregistration.k8s.io',
      'validatingadmissionpolicies.admissionregistration.k8s.io',
      'validatingadmissionpolicybindings.admissionregistration.k8s.io',
      'mutatingadmissionpolicies.admissionregistration.k8s.io',
      'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
    ],
    fields: ['webhooks', 'spec'],
  },
  { what: 'what it holds', of: ['configmaps', 'secrets'], fields: ['data', 'binaryData', 'stringData'] },
  {
    what: 'where data is kept',
    of: ['persistentvolumeclaims', 'persistentvolumes', 'storageclasses.storage.k8s.io'],
    fields: ['spec', 'provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'],
  },
  {
    what: 'which limits hold',
    of: [
      'resourcequotas',
      'limitranges',
      'priorityclasses.scheduling.k8s.io',
      'runtimeclasses.node.k8s.io',
      'poddisruptionbudgets.policy',
      'horizontalpodautoscalers.autoscaling',
    ],
    fields: ['spec', 'value', 'globalDefault', 'preemptionPolicy', 'handler', 'overhead'],
  },
  {
    what: 'what is served',
    of: ['customresourcedefinitions.apiextensions.k8s.io'],
    fields: ['group', 'names', 'scope', 'conversion'],
  },
]

const ANYWHERE = new Set(DECIDING_FIELDS.flatMap(({ of, fields }) => (of ? [] : fields)))
const BY_KIND = new Map(
  DECIDING_FIELDS.flatMap(({ of = [], fields }) => of.map(name => [name, new Set(fields)] as const)),
)
/** Below these, names are anybody's and mean nothing. */
const FREE = new Set(['metadata', 'labels', 'annotations', 'matchLabels', 'openAPIV3Schema', 'data', 'stringData'])
const DEEPEST = 64

/**
 * Whether a difference there decides.
 *
 * @param members names of the fields that lead there, without the elements of lists
 * @param value what is not there as it was sent: of what is gone as a whole, all counts that is in it
 */
export function isDeciding(resource: GroupResource, members: readonly string[], value: unknown): boolean {
  const own = BY_KIND.get(groupResourceName(resource))
  const [first = '', second = ''] = members
  if (own && (own.has(first) || (first === 'spec' && own.has(second)))) return true
  for (const member of members) {
    if (ANYWHERE.has(member)) return true
    if (FREE.has(member)) return false
  }
  return holdsDeciding(value, 0)
}

function holdsDeciding(value: unknown, depth: number): boolean {
  if (depth > DEEPEST) return false
  if (Array.isArray(value)) return value.some(item => holdsDeciding(item, depth + 1))
  if (!isRecord(value)) return false
  return Object.entries(value).some(
    ([name, below]) => ANYWHERE.has(name) || (!FREE.has(name) && holdsDeciding(below, depth + 1)),
  )
}
