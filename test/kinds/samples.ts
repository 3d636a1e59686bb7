/** Small objects of built-in kinds, and how a server takes them in: shared by the tests of this folder. */
import { type FieldError, formatFieldError } from '../../src/apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { strategyFor } from '../../src/kinds/strategyFor.ts'

type Fields = Record<string, unknown>

export const podSpec = (more: object = {}): Fields => ({ containers: [{ name: 'c', image: 'nginx' }], ...more })
export const template = (more: object = {}): Fields => ({ metadata: { labels: { app: 'x' } }, spec: podSpec(more) })
export const selected = (more: object = {}): Fields => ({
  spec: { selector: { matchLabels: { app: 'x' } }, template: template(), ...more },
})
const role = { kind: 'Role', name: 'r' }
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const request = { name: 'a', exactly: { deviceClassName: 'c' } }
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
/** PEM in base64, for CN=x. */
const CERTIFICATE_REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTm1lTk9kYXd0WGpDWGtNdnRCdjVZSXJDMEVjcHJoY2srTHRpNVpuWWRsRHhJbzFtaElDUmwzTTJ2U2NwcU80CmhjaUowTU41RWsvVjc4QUl4V0ZrenNDZ0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpQnN2TEFDNzY5S2hkdXkKczFybW83aDdReFdSdGYva083ZStCamFPM1dpUnB3SWhBTzdhbzNTeHZmTGNYOGk3SENVNHhjQmdyM05CRDB3aQplY1JqdjgwY0doazcKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='

/** One valid object of a kind, by `apiVersion resource`. */
export const samples: Record<string, Fields> = {
  'v1 pods': { spec: podSpec() },
  'v1 podtemplates': { template: template() },
  'v1 replicationcontrollers': { spec: { template: template() } },
  'v1 services': { spec: { ports: [{ port: 80 }] } },
  'v1 endpoints': { subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 80 }] }] },
  'v1 configmaps': { data: { a: 'b' } },
  'v1 secrets': { stringData: { a: 'b' } },
  'v1 namespaces': {},
  'v1 nodes': {},
  'v1 serviceaccounts': {},
  'v1 limitranges': { spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } },
  'v1 resourcequotas': { spec: { hard: { pods: '10' } } },
  'v1 events': { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' } },
  'v1 persistentvolumes': {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
  },
  'v1 persistentvolumeclaims': { spec: claim },
  'apps/v1 deployments': selected(),
  'apps/v1 replicasets': selected(),
  'apps/v1 daemonsets': selected(),
  'apps/v1 statefulsets': selected({
    serviceName: 's',
    volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: claim }],
  }),
  'apps/v1 controllerrevisions': { data: { a: 1 }, revision: 1 },
  'batch/v1 jobs': { spec: { template: { spec: podSpec({ restartPolicy: 'Never' }) } } },
  'batch/v1 cronjobs': {
    spec: {
      schedule: '*/5 * * * *',
      jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: 'OnFailure' }) } } },
    },
  },
  'autoscaling/v1 horizontalpodautoscalers': {
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
  },
  'autoscaling/v2 horizontalpodautoscalers': {
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, behavior: {} },
  },
  'policy/v1 poddisruptionbudgets': { spec: { minAvailable: 1 } },
  'networking.k8s.io/v1 ingresses': {
    spec: {
      rules: [
        {
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        },
      ],
    },
  },
  'networking.k8s.io/v1 ingressclasses': { spec: { controller: 'a.b/c' } },
  'networking.k8s.io/v1 networkpolicies': { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
  'discovery.k8s.io/v1 endpointslices': {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['1.2.3.4'] }],
    ports: [{ port: 80 }],
  },
  'rbac.authorization.k8s.io/v1 roles': { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  'rbac.authorization.k8s.io/v1 clusterroles': { rules: [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }] },
  'rbac.authorization.k8s.io/v1 rolebindings': { roleRef: role, subjects: [{ kind: 'User', name: 'u' }] },
  'rbac.authorization.k8s.io/v1 clusterrolebindings': { roleRef: { kind: 'ClusterRole', name: 'r' } },
  'networking.k8s.io/v1 ipaddresses': {
    metadata: { name: '10.0.0.1' },
    spec: { parentRef: { resource: 'services', name: 's' } },
  },
  'networking.k8s.io/v1 servicecidrs': { spec: { cidrs: ['10.0.0.0/24', '2001:db8::/64'] } },
  'storage.k8s.io/v1 storageclasses': { provisioner: 'a/b' },
  'storage.k8s.io/v1 volumeattributesclasses': { driverName: 'a.b', parameters: { a: 'b' } },
  'storage.k8s.io/v1 csistoragecapacities': { storageClassName: 's', capacity: '1Gi' },
  'storage.k8s.io/v1 csidrivers': { spec: {} },
  'storage.k8s.io/v1 csinodes': { spec: { drivers: [] } },
  'storage.k8s.io/v1 volumeattachments': {
    spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'x' } },
  },
  'scheduling.k8s.io/v1 priorityclasses': { value: 5 },
  'node.k8s.io/v1 runtimeclasses': { handler: 'h' },
  'coordination.k8s.io/v1 leases': { spec: {} },
  'admissionregistration.k8s.io/v1 mutatingwebhookconfigurations': {
    webhooks: [
      {
        name: 'a.b.c',
        clientConfig: { service: { name: 's', namespace: 'n' } },
        rules: [rule],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  },
  'admissionregistration.k8s.io/v1 validatingadmissionpolicies': {
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] },
  },
  'admissionregistration.k8s.io/v1 validatingadmissionpolicybindings': {
    spec: { policyName: 'p', validationActions: ['Deny'], paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } },
  },
  'admissionregistration.k8s.io/v1 mutatingadmissionpolicies': {
    spec: {
      matchConstraints: { resourceRules: [rule] },
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }],
      reinvocationPolicy: 'Never',
    },
  },
  'admissionregistration.k8s.io/v1 mutatingadmissionpolicybindings': { spec: { policyName: 'p' } },
  'certificates.k8s.io/v1 certificatesigningrequests': {
    spec: {
      request: CERTIFICATE_REQUEST,
      signerName: 'a.b/c',
      usages: ['client auth'],
    },
  },
  'resource.k8s.io/v1 resourceclaims': { spec: { devices: { requests: [request] } } },
  'resource.k8s.io/v1 resourceclaimtemplates': { spec: { spec: { devices: { requests: [request] } } } },
  'resource.k8s.io/v1 deviceclasses': { spec: { selectors: [{ cel: { expression: 'true' } }] } },
  'resource.k8s.io/v1 resourceslices': {
    spec: {
      driver: 'a.b',
      pool: { name: 'p', resourceSliceCount: 1, generation: 0 },
      nodeName: 'n',
      devices: [{ name: 'd', attributes: { 'a.b/model': { string: 'x' } }, capacity: { memory: { value: '1Gi' } } }],
    },
  },
  'apiregistration.k8s.io/v1 apiservices': {
    metadata: { name: 'v1.a.b' },
    spec: { group: 'a.b', version: 'v1', groupPriorityMinimum: 10, versionPriority: 10 },
  },
  'flowcontrol.apiserver.k8s.io/v1 flowschemas': { spec: { priorityLevelConfiguration: { name: 'x' } } },
  'flowcontrol.apiserver.k8s.io/v1 prioritylevelconfigurations': {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  },
}

export function strategyOf(kind: string) {
  const [apiVersion = '', resource = ''] = kind.split(' ')
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  const strategy = strategyFor({ group, resource })
  if (strategy === undefined) throw new Error(`no strategy for ${kind}`)
  return strategy
}

/** An object as a client sends it. */
export function sent(kind: string, fields: Fields = samples[kind] ?? {}): KubeObject {
  const metadata = { name: 'o', namespace: 'default', uid: 'U', ...(fields.metadata as object) }
  return structuredClone({ ...fields, apiVersion: kind.split(' ')[0]!, kind: 'Kind', metadata })
}

/** An object as the registry creates it. */
export function created(kind: string, fields?: Fields): KubeObject {
  const object = sent(kind, fields)
  strategyOf(kind).applyDefaults?.(object)
  strategyOf(kind).prepareForCreate?.(object)
  return object
}

export const messages = (errors: readonly FieldError[] = []): string[] => errors.map(formatFieldError)

/** Faults of a new object. */
export const createErrors = (kind: string, fields?: Fields): string[] =>
  messages(strategyOf(kind).validate?.(created(kind, fields)))

/** Faults of such a change of a sample object. */
export function updateErrors(kind: string, change: (object: KubeObject) => void, fields?: Fields): string[] {
  const old = created(kind, fields)
  const object = structuredClone(old)
  change(object)
  const strategy = strategyOf(kind)
  strategy.applyDefaults?.(object)
  strategy.prepareForUpdate?.(object, old)
  return messages([...(strategy.validate?.(object, old) ?? []), ...(strategy.validateUpdate?.(object, old) ?? [])])
}
