/** Facts of upstream's API source about groups, resources and sub-resources that its generated client lacks. */

export interface GroupFact {
  group: string
  /** Discovery lists groups by falling priority. @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/api-service-v1/ */
  priority: number
  /** The class of `@kubernetes/client-node` per served version; first the preferred version, which the store holds too. */
  versions: Record<string, string>
}

/** The built-in groups that every space serves: stable versions only. */
export const GROUP_FACTS: readonly GroupFact[] = [
  { group: '', priority: 18000, versions: { v1: 'CoreV1Api' } },
  { group: 'apiregistration.k8s.io', priority: 18000, versions: { v1: 'ApiregistrationV1Api' } },
  { group: 'apps', priority: 17800, versions: { v1: 'AppsV1Api' } },
  { group: 'events.k8s.io', priority: 17750, versions: { v1: 'EventsV1Api' } },
  { group: 'authentication.k8s.io', priority: 17700, versions: { v1: 'AuthenticationV1Api' } },
  { group: 'authorization.k8s.io', priority: 17600, versions: { v1: 'AuthorizationV1Api' } },
  { group: 'autoscaling', priority: 17500, versions: { v2: 'AutoscalingV2Api', v1: 'AutoscalingV1Api' } },
  { group: 'batch', priority: 17400, versions: { v1: 'BatchV1Api' } },
  { group: 'certificates.k8s.io', priority: 17300, versions: { v1: 'CertificatesV1Api' } },
  { group: 'networking.k8s.io', priority: 17200, versions: { v1: 'NetworkingV1Api' } },
  { group: 'policy', priority: 17100, versions: { v1: 'PolicyV1Api' } },
  { group: 'rbac.authorization.k8s.io', priority: 17000, versions: { v1: 'RbacAuthorizationV1Api' } },
  { group: 'storage.k8s.io', priority: 16800, versions: { v1: 'StorageV1Api' } },
  { group: 'admissionregistration.k8s.io', priority: 16700, versions: { v1: 'AdmissionregistrationV1Api' } },
  { group: 'apiextensions.k8s.io', priority: 16700, versions: { v1: 'ApiextensionsV1Api' } },
  { group: 'scheduling.k8s.io', priority: 16600, versions: { v1: 'SchedulingV1Api' } },
  { group: 'coordination.k8s.io', priority: 16500, versions: { v1: 'CoordinationV1Api' } },
  { group: 'node.k8s.io', priority: 16300, versions: { v1: 'NodeV1Api' } },
  { group: 'discovery.k8s.io', priority: 16200, versions: { v1: 'DiscoveryV1Api' } },
  { group: 'flowcontrol.apiserver.k8s.io', priority: 16100, versions: { v1: 'FlowcontrolApiserverV1Api' } },
  { group: 'resource.k8s.io', priority: 15900, versions: { v1: 'ResourceV1Api' } },
]

/** The priority of every group that is not built in. */
export const DEFAULT_GROUP_PRIORITY = 1000

export const SHORT_NAMES: Readonly<Record<string, readonly string[]>> = {
  componentstatuses: ['cs'],
  configmaps: ['cm'],
  endpoints: ['ep'],
  events: ['ev'],
  'events.events.k8s.io': ['ev'],
  limitranges: ['limits'],
  namespaces: ['ns'],
  nodes: ['no'],
  persistentvolumeclaims: ['pvc'],
  persistentvolumes: ['pv'],
  pods: ['po'],
  replicationcontrollers: ['rc'],
  resourcequotas: ['quota'],
  serviceaccounts: ['sa'],
  services: ['svc'],
  'daemonsets.apps': ['ds'],
  'deployments.apps': ['deploy'],
  'replicasets.apps': ['rs'],
  'statefulsets.apps': ['sts'],
  'horizontalpodautoscalers.autoscaling': ['hpa'],
  'cronjobs.batch': ['cj'],
  'certificatesigningrequests.certificates.k8s.io': ['csr'],
  'customresourcedefinitions.apiextensions.k8s.io': ['crd', 'crds'],
  'ingresses.networking.k8s.io': ['ing'],
  'networkpolicies.networking.k8s.io': ['netpol'],
  'ipaddresses.networking.k8s.io': ['ip'],
  'poddisruptionbudgets.policy': ['pdb'],
  'priorityclasses.scheduling.k8s.io': ['pc'],
  'storageclasses.storage.k8s.io': ['sc'],
  'volumeattributesclasses.storage.k8s.io': ['vac'],
}

export const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  all: [
    'pods',
    'replicationcontrollers',
    'services',
    'daemonsets.apps',
    'deployments.apps',
    'replicasets.apps',
    'statefulsets.apps',
    'horizontalpodautoscalers.autoscaling',
    'cronjobs.batch',
    'jobs.batch',
  ],
  'api-extensions': [
    'customresourcedefinitions.apiextensions.k8s.io',
    'apiservices.apiregistration.k8s.io',
    'mutatingadmissionpolicies.admissionregistration.k8s.io',
    'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
    'mutatingwebhookconfigurations.admissionregistration.k8s.io',
    'validatingadmissionpolicies.admissionregistration.k8s.io',
    'validatingadmissionpolicybindings.admissionregistration.k8s.io',
    'validatingwebhookconfigurations.admissionregistration.k8s.io',
  ],
}

/** The group that the store holds, where it is not the served one: both APIs of Event show the same objects. */
export const STORAGE_GROUPS: Readonly<Record<string, string>> = { 'events.events.k8s.io': '' }

/** Where `/scale` of the built-in kinds finds its numbers. Their selector is a LabelSelector (or a map), not a string. */
export const WORKLOAD_SCALE = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
}

export interface SubresourceFact {
  group: string
  version: string
  kind: string
  verbs: readonly string[]
}

/** Sub-resources that do not simply read and write the kind itself, by `<resource>/<name>` or by name alone. */
export const SUBRESOURCE_FACTS: Readonly<Record<string, SubresourceFact>> = {
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
  'namespaces/finalize': { group: '', version: 'v1', kind: 'Namespace', verbs: ['update'] },
  'pods/binding': { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
  'pods/eviction': { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  'syncerconfigs/outcome': {
    group: 'edge.kubestellar.io',
    version: 'v2alpha1',
    kind: 'SyncerOutcome',
    verbs: ['update'],
  },
  'serviceaccounts/token': { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
}

/** Tunnels to a kubelet. Behind a space there is none, so discovery does not promise them. */
export const KUBELET_SUBRESOURCES: readonly string[] = ['attach', 'exec', 'log', 'portforward', 'proxy']

/** Body of the sub-resource `name` of `resource`; `undefined` when it is the kind itself. */
export function subresourceFact(resource: string, name: string): SubresourceFact | undefined {
  return SUBRESOURCE_FACTS[`${resource}/${name}`] ?? SUBRESOURCE_FACTS[name]
}
