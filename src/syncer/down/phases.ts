/**
 * Needs between kinds: parts and surroundings of others come first, kinds that interfere with others last, and removal goes the other way
 * round. Pure.
 */
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'

const PHASES: readonly (readonly string[])[] = [
  ['customresourcedefinitions.apiextensions.k8s.io'],
  ['namespaces'],
  [
    'serviceaccounts',
    'roles.rbac.authorization.k8s.io',
    'clusterroles.rbac.authorization.k8s.io',
    'rolebindings.rbac.authorization.k8s.io',
    'clusterrolebindings.rbac.authorization.k8s.io',
  ],
  [
    'configmaps',
    'secrets',
    'services',
    'limitranges',
    'resourcequotas',
    'persistentvolumes',
    'persistentvolumeclaims',
    'priorityclasses.scheduling.k8s.io',
    'runtimeclasses.node.k8s.io',
    'storageclasses.storage.k8s.io',
    'csidrivers.storage.k8s.io',
    'volumeattributesclasses.storage.k8s.io',
    'ingressclasses.networking.k8s.io',
    'networkpolicies.networking.k8s.io',
    'poddisruptionbudgets.policy',
    'deviceclasses.resource.k8s.io',
  ],
]
/** All other kinds of Kubernetes: what runs, and what is about that. */
const WORKLOAD = PHASES.length
/** Their controllers run by then, and still run while they go. */
const CUSTOM = WORKLOAD + 1
/** Webhooks, policies, and APIs that others serve: each may stop everything else until somebody answers. */
export const INTERFERING = CUSTOM + 1
/** How many there are. */
export const PHASE_COUNT = INTERFERING + 1

const BY_NAME = new Map(PHASES.flatMap((names, phase) => names.map(name => [name, phase] as const)))
const INTERFERING_GROUPS: ReadonlySet<string> = new Set(['admissionregistration.k8s.io', 'apiregistration.k8s.io'])
const OWN_GROUPS: ReadonlySet<string> = new Set(['', 'apps', 'batch', 'autoscaling', 'policy'])

/** From 0, in the order of coming. */
export function phaseOf(resource: GroupResource): number {
  const known = BY_NAME.get(groupResourceName(resource))
  if (known !== undefined) return known
  if (INTERFERING_GROUPS.has(resource.group)) return INTERFERING
  return OWN_GROUPS.has(resource.group) || resource.group.endsWith('.k8s.io') ? WORKLOAD : CUSTOM
}
