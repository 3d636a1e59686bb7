/** The objects of a host cluster by which its kube-apiserver leads to this server, and those that lead elsewhere. */
import { at, str } from '../../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'

interface ServiceRef {
  readonly namespace: string
  readonly name: string
}

export interface Registration {
  readonly service: ServiceRef
  readonly port: number
  readonly caPem: string
  /** The host name of a server outside. Absent: the Service is somebody else's to make. */
  readonly externalName?: string | undefined
  /** The user of the host that the server is. Absent: the ServiceAccount with the name of the Service. */
  readonly hostUser?: string | undefined
}

/** An object of the host, and where it is. */
export interface Placed {
  readonly resource: GroupVersionResource
  readonly object: KubeObject
}

const RBAC = 'rbac.authorization.k8s.io'
const LABELS = { 'app.kubernetes.io/managed-by': 'orrery' }
export const API_SERVICES: GroupVersionResource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  resource: 'apiservices',
}
const SERVICES: GroupVersionResource = { group: '', version: 'v1', resource: 'services' }
const rbac = (resource: string): GroupVersionResource => ({ group: RBAC, version: 'v1', resource })

/** A CustomResourceDefinition of the host has an APIService with this label, which one without it would take over. */
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged'

/** Behind what the host serves itself. */
const PRIORITY = { groupPriorityMinimum: 100, versionPriority: 100 }
const GROUP_VERSIONS = [
  { group: 'edge.kubestellar.io', version: 'v2alpha1' },
  { group: 'tenancy.kcp.io', version: 'v1alpha1' },
]

export const API_SERVICE_NAMES: readonly string[] = GROUP_VERSIONS.map(({ group, version }) => `${version}.${group}`)
/** The role that users of spaces need in the host; nobody has it by that alone. */
export const USERS_ROLE = 'orrery-spaces'

/** In the order in which they come. They go in reverse, APIServices first: else namespaces of the host wait for a server that is gone. */
export function registration({ service, port, caPem, externalName, hostUser }: Registration): Placed[] {
  const { namespace } = service
  const name = `orrery-${namespace}-${service.name}`
  const subject =
    hostUser === undefined
      ? { kind: 'ServiceAccount', name: service.name, namespace }
      : { kind: 'User', apiGroup: RBAC, name: hostUser }
  const binding = (role: object): object => ({ roleRef: { apiGroup: RBAC, ...role }, subjects: [subject] })
  return [
    ...(externalName === undefined
      ? []
      : [
          placed(
            SERVICES,
            'v1',
            'Service',
            { namespace, name: service.name },
            {
              spec: { type: 'ExternalName', externalName, ports: [{ name: 'https', port }] },
            },
          ),
        ]),
    placed(
      rbac('rolebindings'),
      `${RBAC}/v1`,
      'RoleBinding',
      { namespace: 'kube-system', name },
      binding({ kind: 'Role', name: 'extension-apiserver-authentication-reader' }),
    ),
    placed(
      rbac('clusterrolebindings'),
      `${RBAC}/v1`,
      'ClusterRoleBinding',
      { name },
      binding({ kind: 'ClusterRole', name: 'system:auth-delegator' }),
    ),
    placed(
      rbac('clusterroles'),
      `${RBAC}/v1`,
      'ClusterRole',
      { name: USERS_ROLE },
      {
        rules: [
          { apiGroups: ['tenancy.kcp.io'], resources: ['spaces'], verbs: ['get', 'list'] },
          {
            apiGroups: ['tenancy.kcp.io'],
            resources: ['spaces/proxy'],
            verbs: ['get', 'create', 'update', 'patch', 'delete'],
          },
        ],
      },
    ),
    ...GROUP_VERSIONS.map(({ group, version }) =>
      placed(
        API_SERVICES,
        'apiregistration.k8s.io/v1',
        'APIService',
        { name: `${version}.${group}` },
        {
          spec: {
            group,
            version,
            ...PRIORITY,
            service: { namespace, name: service.name, port },
            caBundle: Buffer.from(caPem).toString('base64'),
          },
        },
      ),
    ),
  ]
}

function placed(
  resource: GroupVersionResource,
  apiVersion: string,
  kind: string,
  metadata: { name: string; namespace?: string },
  content: object,
): Placed {
  return {
    resource,
    object: { apiVersion, kind, metadata: { ...metadata, labels: LABELS }, ...content } as unknown as KubeObject,
  }
}

/** Whether `orrery aggregation print` made an object, so that `remove` may delete it. */
export function isOurs(object: KubeObject): boolean {
  return Object.entries(LABELS).every(([label, value]) => object.metadata.labels?.[label] === value)
}

/** Where an APIService of one of our names leads instead of to the Service; `undefined`: to the Service. */
export function leadsElsewhere(apiService: KubeObject, { namespace, name }: ServiceRef): string | undefined {
  if (str(apiService, 'metadata', 'labels', AUTOMANAGED) !== '')
    return 'a CustomResourceDefinition of the host serves this group version'
  if (at(apiService, 'spec', 'service') === undefined) return 'the host serves this group version itself'
  const to = `${str(apiService, 'spec', 'service', 'namespace')}/${str(apiService, 'spec', 'service', 'name')}`
  return to === `${namespace}/${name}` ? undefined : `it leads to Service ${to}`
}
