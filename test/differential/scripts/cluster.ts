/** Cluster-wide and policy kinds: networks, storage, classes, webhooks, leases. */
import { del, get, merge, post, put, type Rest, type Script, table } from '../script.ts'
import { of } from './bodies.ts'
import { life } from './core.ts'

const NET = '/apis/networking.k8s.io/v1'
const STORAGE = '/apis/storage.k8s.io/v1'
const RULE = {
  host: 'a.example.com',
  http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }] },
}
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases'
const HOOKS = '/apis/admissionregistration.k8s.io/v1'
const hook = (more: object = {}): object => ({
  name: 'h.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/x' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  rules: [{ apiGroups: ['nothing.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] }],
  ...more,
})

/** 1.20 serves these kinds in a second group, and names that one. */
const EXTENSIONS: Rest = { unlike120: { 'body.details.group': 'extensions', 'body.message': 'extensions' } }
export const cluster: Script = {
  name: 'cluster',
  managedFields: true,
  steps: [
    ...life(
      `${NET}/namespaces/{ns}/ingresses`,
      'i',
      of('networking.k8s.io/v1', 'Ingress', 'i', { spec: { rules: [RULE] } }),
      {
        change: { spec: { ingressClassName: 'x' } },
        bad: [
          [{ spec: { rules: [] } }, { unlike120: { 'body.details.group': 'extensions' } }],
          [{ spec: { rules: [{ host: 'a b' }] } }, EXTENSIONS],
          [{ spec: { rules: [{ http: { paths: [{ path: 'x', pathType: 'Exact', backend: {} }] } }] } }, EXTENSIONS],
          [{ spec: { tls: [{ hosts: ['*'] }] } }, EXTENSIONS],
        ],
      },
    ),
    ...life(
      `${NET}/ingressclasses`,
      'ic',
      of('networking.k8s.io/v1', 'IngressClass', 'ic', { spec: { controller: 'example.com/c' } }),
      {
        bad: [{ spec: { controller: 'example.com/d' } }],
      },
    ),
    ...life(
      `${NET}/namespaces/{ns}/networkpolicies`,
      'np',
      of('networking.k8s.io/v1', 'NetworkPolicy', 'np', {
        spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }, {}] },
      }),
      {
        change: { spec: { policyTypes: ['Ingress', 'Egress'] } },
        bad: [
          [{ spec: { policyTypes: ['Nope'] } }, EXTENSIONS],
          [{ spec: { ingress: [{ from: [{}] }] } }, EXTENSIONS],
          [
            { spec: { ingress: [{ from: [{ ipBlock: { cidr: 'x' } }] }] } },
            { unlike120: { body: 'extensions, and another wording' } },
          ],
        ],
      },
    ),
    ...life(
      `${STORAGE}/storageclasses`,
      'sc',
      of('storage.k8s.io/v1', 'StorageClass', 'sc', { provisioner: 'example.com/p' }),
      {
        bad: [{ provisioner: 'other' }, { reclaimPolicy: 'Retain' }, { volumeBindingMode: 'WaitForFirstConsumer' }],
      },
    ),
    post(`${STORAGE}/storageclasses`, of('storage.k8s.io/v1', 'StorageClass', 'sc2')),
    ...life(
      `${STORAGE}/csidrivers`,
      'cd.example.com',
      of('storage.k8s.io/v1', 'CSIDriver', 'cd.example.com', { spec: {} }),
      {
        look: { only: ['kind'] },
        rest: { only: ['code', 'message', 'spec.attachRequired'] },
      },
    ),
    ...life(
      `${STORAGE}/csinodes`,
      'cn',
      of('storage.k8s.io/v1', 'CSINode', 'cn', {
        spec: { drivers: [{ name: 'x', nodeID: 'n', topologyKeys: ['z'] }] },
      }),
    ),
    ...life(
      `${STORAGE}/volumeattachments`,
      'va',
      of('storage.k8s.io/v1', 'VolumeAttachment', 'va', {
        spec: { attacher: 'x', nodeName: 'n', source: { persistentVolumeName: 'p' } },
      }),
      {
        bad: [{ spec: { nodeName: 'm' } }],
      },
    ),
    merge(`${STORAGE}/volumeattachments/va/status`, { status: { attached: true } }, { only: ['status', 'spec'] }),
    ...life(
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      'pc',
      of('scheduling.k8s.io/v1', 'PriorityClass', 'pc', { value: 10 }),
      {
        look: {
          unlike120: { 'body.columnDefinitions': '1.25: a column more', 'body.rows.0.cells': '1.25: a column more' },
        },
        change: { description: 'x' },
        bad: [[{ value: 11 }, { unlike120: { body: 'another case of the field' } }], { preemptionPolicy: 'Never' }],
      },
    ),
    post(
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      of('scheduling.k8s.io/v1', 'PriorityClass', 'big', { value: 2_000_000_000 }),
    ),
    post(
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      of('scheduling.k8s.io/v1', 'PriorityClass', 'system-x', { value: 2 }),
    ),
    ...life(
      '/apis/node.k8s.io/v1/runtimeclasses',
      'rc',
      of('node.k8s.io/v1', 'RuntimeClass', 'rc', { handler: 'runc' }),
      { bad: [{ handler: 'x' }] },
    ),
    put('/apis/node.k8s.io/v1/runtimeclasses/rc', of('node.k8s.io/v1', 'RuntimeClass', 'rc', { handler: 'runc' })),
    ...life(
      LEASES,
      'l',
      of('coordination.k8s.io/v1', 'Lease', 'l', {
        spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
      }),
      {
        change: { spec: { holderIdentity: 'you', leaseTransitions: 1 } },
        bad: [
          { spec: { leaseDurationSeconds: 0 } },
          [{ spec: { leaseTransitions: -1 } }, { unlike120: { body: 'a slip of its words' } }],
        ],
      },
    ),
    put(`${LEASES}/l`, of('coordination.k8s.io/v1', 'Lease', 'l', { spec: { holderIdentity: 'they' } })),
    put(`${LEASES}/made`, of('coordination.k8s.io/v1', 'Lease', 'made', { spec: { holderIdentity: 'they' } })),
    post(LEASES, of('coordination.k8s.io/v1', 'Lease', 'empty')),
    ...['Validating', 'Mutating'].flatMap(kind => [
      ...life(
        `${HOOKS}/${kind.toLowerCase()}webhookconfigurations`,
        'w',
        of('admissionregistration.k8s.io/v1', `${kind}WebhookConfiguration`, 'w', { webhooks: [hook()] }),
        {
          change: { webhooks: [hook({ failurePolicy: 'Ignore' })] },
          bad: [
            { webhooks: [hook({ name: 'x' })] },
            { webhooks: [hook({ sideEffects: 'Some' })] },
            { webhooks: [hook({ admissionReviewVersions: [] })] },
            { webhooks: [hook({ clientConfig: {} })] },
            { webhooks: [hook({ timeoutSeconds: 60 })] },
            { webhooks: [hook(), hook()] },
          ],
        },
      ),
      put(
        `${HOOKS}/${kind.toLowerCase()}webhookconfigurations/w`,
        of('admissionregistration.k8s.io/v1', `${kind}WebhookConfiguration`, 'w'),
      ),
      del(`${HOOKS}/${kind.toLowerCase()}webhookconfigurations/w`),
    ]),
    ...life(
      '/api/v1/nodes',
      'n1',
      of('v1', 'Node', 'n1', {
        spec: { podCIDR: '10.1.0.0/24' },
        status: { capacity: { cpu: '4', memory: '1024Mi' } },
      }),
      {
        change: { spec: { unschedulable: true } },
        bad: [
          [
            { spec: { podCIDR: '10.2.0.0/24' } },
            { unlike120: { 'body.details.causes': 'it adds what may change at all', 'body.message': 'as above' } },
          ],
        ],
      },
    ),
    get('/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue', { only: ['items.*.metadata.name'] }),
    table('/api/v1/nodes', { only: ['columnDefinitions.*.name', 'rows.*.cells'] }),
    merge('/api/v1/nodes/n1/status', { status: { phase: 'Running' } }, { only: ['status.phase', 'spec'] }),
    del('/api/v1/nodes/n1'),
    get('/api/v1/componentstatuses', { only: ['kind', 'apiVersion'] }),
  ],
}
