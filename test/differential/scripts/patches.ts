/** Strategic merge and server-side apply of built-in kinds: lists by key, directives, owners, conflicts. */
import { apply, del, get, merge, post, put, type Script, strategic } from '../script.ts'
import { APPS, CM, configMap, DEPLOYMENTS, deployment, of, PODS, pod } from './bodies.ts'

const template = (spec: object): object => ({ spec: { template: { spec } } })
const containers = (...list: object[]): object => template({ containers: list })
const D = `${DEPLOYMENTS}/d`
const TIMES = { lastUpdateTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z' }
const NO_STATUS = [
  'code',
  'reason',
  'message',
  'details',
  'metadata.generation',
  'metadata.labels',
  'spec.replicas',
  'spec.template.spec',
]

export const strategicMerge: Script = {
  name: 'strategic-merge',
  steps: [
    post(DEPLOYMENTS, deployment('d')),
    ...[
      containers({ name: 'c', image: 'j:2' }),
      containers({ name: 'e', image: 'e:1', env: [{ name: 'A', value: '1' }] }),
      containers({ name: 'e', env: [{ name: 'B', value: '2' }] }),
      containers({ name: 'e', env: [{ name: 'A', value: '3' }] }),
      containers({ name: 'e', env: [{ $patch: 'delete', name: 'A' }] }),
      containers({ name: 'e', env: [{ $patch: 'replace' }, { name: 'Z', value: '9' }] }),
      containers({ name: 'e', ports: [{ containerPort: 80 }, { containerPort: 81, protocol: 'UDP' }] }),
      containers({ name: 'e', ports: [{ containerPort: 80, name: 'http' }] }),
      containers({ name: 'e', args: ['a', 'b'] }),
      containers({ name: 'e', args: ['c'] }),
      template({ $retainKeys: ['a'] }),
      template({ '$setElementOrder/containers': [{ name: 'e' }, { name: 'c' }] }),
      template({
        '$setElementOrder/containers': [{ name: 'e' }, { name: 'c' }],
        containers: [{ name: 'c', image: 'k:3' }],
      }),
      containers({ name: 'c', $patch: 'delete' }),
      containers({ name: 'c', image: 'back:1' }),
      template({ volumes: [{ name: 'v', emptyDir: {} }] }),
      template({ volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'm' } }] }),
      template({ volumes: [{ name: 'v', emptyDir: {} }] }),
      template({ volumes: null }),
      template({ nodeSelector: { a: 'b' } }),
      template({ nodeSelector: { $patch: 'replace', c: 'd' } }),
      template({ nodeSelector: { $patch: 'delete' } }),
      template({ tolerations: [{ key: 'x', operator: 'Exists' }] }),
      template({ imagePullSecrets: [{ name: 'one' }] }),
      template({ imagePullSecrets: [{ name: 'two' }] }),
      template({ '$deleteFromPrimitiveList/x': ['a'] }),
      template({ securityContext: { runAsUser: 5 } }),
      template({ securityContext: null }),
      { spec: { strategy: { type: 'Recreate' } } },
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      { spec: { strategy: { $patch: 'replace', type: 'RollingUpdate' } } },
      { metadata: { labels: { a: 'b' } } },
      { metadata: { finalizers: ['example.com/a'] } },
      { metadata: { finalizers: ['example.com/b'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/b'] } },
      { spec: { replicas: 3 } },
      { spec: { replicas: null } },
      {},
      { status: { replicas: 5 } },
    ].map(body => strategic(D, body, { only: [...NO_STATUS, 'spec.strategy', 'metadata.finalizers', 'status'] })),
    strategic(D, { spec: { selector: { matchLabels: { other: 'y' } } } }, {}),
    strategic(
      `${D}/status`,
      { status: { replicas: 5, observedGeneration: 1 } },
      { only: ['status', 'metadata.generation'] },
    ),
    strategic(
      `${D}/status`,
      { status: { conditions: [{ type: 'Available', status: 'True', ...TIMES }] } },
      { only: ['status'] },
    ),
    strategic(
      `${D}/status`,
      { status: { conditions: [{ type: 'Progressing', status: 'True', ...TIMES }] } },
      { only: ['status'] },
    ),
    strategic(`${D}/status`, { spec: { replicas: 9 } }, { only: ['spec.replicas', 'metadata.generation'] }),
    post(
      '/api/v1/namespaces/{ns}/services',
      of('v1', 'Service', 's', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
      { only: ['spec.ports'] },
    ),
    strategic(
      '/api/v1/namespaces/{ns}/services/s',
      { spec: { ports: [{ port: 81, name: 'b' }] } },
      { only: ['code', 'message', 'spec.ports'] },
    ),
    strategic(
      '/api/v1/namespaces/{ns}/services/s',
      {
        spec: {
          ports: [
            { port: 80, name: 'a' },
            { port: 81, name: 'b' },
          ],
        },
      },
      { only: ['spec.ports'] },
    ),
    strategic(
      '/api/v1/namespaces/{ns}/services/s',
      { spec: { ports: [{ port: 80, $patch: 'delete' }] } },
      { only: ['spec.ports'] },
    ),
    strategic(
      `${D}`,
      { metadata: { ownerReferences: [{ uid: 'u', apiVersion: 'v1', kind: 'X', name: 'x' }] } },
      { only: ['metadata.ownerReferences'] },
    ),
    strategic(
      `${D}`,
      { metadata: { ownerReferences: [{ uid: 'u', $patch: 'delete' }] } },
      { only: ['metadata.ownerReferences'] },
    ),
  ],
}

const A = `${CM}/a?fieldManager=`
const DA = `${DEPLOYMENTS}/a?fieldManager=`
const applied = (name: string, spec: object): object =>
  of('apps/v1', 'Deployment', name, { spec: { selector: { matchLabels: { app: 'x' } }, ...spec } })
const podTemplate = (...list: object[]): object => ({
  template: { metadata: { labels: { app: 'x' } }, spec: { containers: list } },
})
const SUBRESOURCE = 'entries name their sub-resource since 1.22'

const TIMELESS = 'who applies what is there already has no time of their own since'

export const serverSideApply: Script = {
  name: 'apply',
  managedFields: true,
  steps: [
    apply(`${A}one`, configMap('a', { k: '1', l: '1' })),
    apply(`${A}one`, configMap('a', { k: '1', l: '1' })),
    apply(`${A}two`, configMap('a', { k: '2' })),
    apply(`${A}two`, configMap('a', { k: '1' }), {
      unlike120: { 'body.metadata.managedFields': TIMELESS },
    }),
    apply(`${A}two&force=true`, configMap('a', { k: '2', m: '2' })),
    apply(`${A}one`, configMap('a', { k: '1', l: '1' })),
    apply(`${A}one`, configMap('a', { l: '1' })),
    apply(`${A}two`, of('v1', 'ConfigMap', 'a')),
    apply(`${A}empty&dryRun=All`, configMap('a'), {
      unlike120: { 'body.metadata.managedFields': '1.21: an empty map has an owner' },
    }),
    apply(`${A}three&dryRun=All`, configMap('a', { z: '1' })),
    merge(`${CM}/a`, { data: { u: 'updated' } }),
    apply(`${A}one`, configMap('a', { l: '1', u: 'applied' })),
    apply(`${A}one&force=true`, configMap('a', { l: '1', u: 'applied' })),
    put(`${CM}/a`, configMap('a', { all: 'new' })),
    apply(`${A}one`, configMap('a', { l: '1' })),
    merge(`${CM}/a`, { metadata: { managedFields: [{}] } }),
    merge(`${CM}/a?fieldManager=kept`, { metadata: { labels: { x: 'y' } } }),
    merge(`${CM}/a`, { metadata: { managedFields: [] } }),
    apply(`${A}one`, configMap('a', { l: '1' }, { labels: { x: 'y' } }), {
      unlike120: { 'body.metadata.managedFields': TIMELESS },
    }),
    apply(`${CM}/fresh?fieldManager=one`, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fresh\ndata:\n  a: b\n'),
    apply(`${CM}/fresh?fieldManager=one`, configMap('fresh', {}, { uid: 'x' })),
    apply(`${DA}one`, applied('a', { replicas: 1, ...podTemplate({ name: 'c', image: 'c:1' }) })),
    apply(`${DA}one`, applied('a', { ...podTemplate({ name: 'c', image: 'c:1' }) })),
    apply(`${DA}two`, applied('a', podTemplate({ name: 'side', image: 's:1', env: [{ name: 'A', value: 'B' }] }))),
    apply(`${DA}two`, applied('a', podTemplate({ name: 'c', image: 'c:2' }))),
    apply(
      `${DA}one`,
      applied(
        'a',
        podTemplate({
          name: 'c',
          image: 'c:1',
          ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }],
        }),
      ),
    ),
    apply(`${DA}two`, applied('a', {})),
    put(`${DEPLOYMENTS}/a/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a', namespace: '{ns}' },
      spec: { replicas: 4 },
    }),
    get(`${DEPLOYMENTS}/a`, { unlike120: { 'body.metadata.managedFields': SUBRESOURCE } }),
    apply(`${DA}one&force=true`, applied('a', { replicas: 2, ...podTemplate({ name: 'c', image: 'c:1' }) })),
    merge(
      `${DEPLOYMENTS}/a/status`,
      { status: { observedGeneration: 1 } },
      { unlike120: { 'body.metadata.managedFields': SUBRESOURCE } },
    ),
    apply(`${DEPLOYMENTS}/none/status?fieldManager=one`, applied('none', {})),
    del(`${DEPLOYMENTS}/a`),
    // finalizers are a set, owner references go by uid
    apply(`${A}one`, configMap('a', { l: '1' }, { finalizers: ['example.com/a'] })),
    apply(`${A}two`, of('v1', 'ConfigMap', 'a', {}, { finalizers: ['example.com/b'] })),
    apply(`${A}one`, configMap('a', { l: '1' })),
    apply(
      `${A}two`,
      of('v1', 'ConfigMap', 'a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u1' }] }),
    ),
    post(PODS, pod('p')),
    apply(
      `${PODS}/p?fieldManager=one`,
      of('v1', 'Pod', 'p', { spec: { containers: [{ name: 'c', image: 'other:1' }] } }),
    ),
    apply(`${APPS}/statefulsets/p?fieldManager=one`, of('apps/v1', 'StatefulSet', 'p', { spec: { nonsense: 1 } }), {
      unlike120: { '': 'it says 500' },
    }),
  ],
}
