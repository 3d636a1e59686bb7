/** Strategic merge patches that make a wrong type: what the converter from JSON to structs says, and what it reads past. */
import { post, type Rest, type Script, type Step, strategic } from '../script.ts'
import { CM, configMap, DEPLOYMENTS, deployment, NS, of } from './bodies.ts'

const D = `${DEPLOYMENTS}/d`
const SHOWN: Rest = { only: ['kind', 'reason', 'message', 'details'] }

const spec = (rest: unknown): object => ({ spec: rest })
const pod = (rest: unknown): object => ({ spec: { template: { spec: rest } } })
const container = (rest: object): object => pod({ containers: [{ name: 'c', ...rest }] })
const meta = (rest: unknown): object => ({ metadata: rest })
/** Why 1.20 answers a patch otherwise. */
function unlike(body: string): Rest {
  const shown = 'it shows what its merge left of the patch'
  if (/\$(?:retainKeys|setElementOrder)/.test(body))
    return { unlike120: { 'body.message': shown, 'body.details.causes': shown } }
  const isMixed = /"(?:containers|ports)":\["x"\]/.test(body) && !body.includes('"name":"c"')
  return isMixed ? { unlike120: { code: 'it says 500', 'body.reason': 'it says 500' } } : {}
}
const each = (path: string, bodies: readonly object[]): Step[] =>
  bodies.map(body => strategic(path, body, { ...SHOWN, ...unlike(JSON.stringify(body)) }))

/** Values of every sort that JSON has. */
const VALUES = ['x', '', 5, 1.5, true, [], ['x'], [5], {}, { a: 'x' }, { a: 5 }]
const but = (...left: unknown[]): unknown[] =>
  VALUES.filter(value => !left.some(one => JSON.stringify(one) === JSON.stringify(value)))

const ON_DEPLOYMENT: readonly object[] = [
  ...but({}, { a: 'x' }, { a: 5 }).map(spec),
  ...but(5).map(replicas => spec({ replicas })),
  ...['3', 2.0, 1e2, -1.5, 1e-7].map(replicas => spec({ replicas })),
  ...but(true).map(paused => spec({ paused })),
  ...but({}, { a: 'x' }, { a: 5 }).map(template => spec({ template })),
  ...but([], ['x'], [5], {}, { a: 'x' }, { a: 5 }).map(strategy => spec({ strategy })),
  ...[5, true, {}].map(type => spec({ strategy: { type } })),
  ...[true, 1.5, [], {}, [1]].map(maxSurge => spec({ strategy: { rollingUpdate: { maxSurge } } })),
  ...but()
    .map(containers => pod({ containers }))
    .filter(body => !JSON.stringify(body).includes('[5]')),
  ...[5, true, [], {}].map(image => container({ image })),
  ...[5, true].map(imagePullPolicy => container({ imagePullPolicy })),
  ...['x', 5, {}, [5], [true], [{}], [['x']], [1.5]].map(command => container({ command })),
  ...['x', 5, {}, [{ name: 'A', value: 5 }], [{ name: 'A', value: {} }]].map(env => container({ env })),
  ...[['x'], [{ containerPort: 'x' }], [{ containerPort: 80, protocol: 5 }]].map(ports => container({ ports })),
  ...['x', 5, [], { limits: 'x' }, { limits: [] }, { limits: { cpu: 'x' } }, { limits: { cpu: {} } }].map(resources =>
    container({ resources }),
  ),
  container({ resources: { limits: { cpu: true } } }),
  ...[true, 1.5, [], {}].map(port => container({ livenessProbe: { httpGet: { port } } })),
  ...['x', 1, {}].map(tty => container({ tty })),
  ...[
    'x',
    [],
    { runAsUser: 'x' },
    { runAsUser: 1.5 },
    { capabilities: { add: 'x' } },
    { capabilities: { add: [5] } },
  ].map(securityContext => container({ securityContext })),
  ...['x', 5, [], { a: 5 }, { a: true }, { a: [] }, { a: {} }, { a: 1.5 }].map(nodeSelector => pod({ nodeSelector })),
  ...['x', {}, [5], ['x'], [{ key: 5 }], [{ tolerationSeconds: 'x' }]].map(tolerations => pod({ tolerations })),
  ...['x', [], { nodeAffinity: 'x' }, { nodeAffinity: [] }].map(affinity => pod({ affinity })),
  pod({ terminationGracePeriodSeconds: 'x' }),
  pod({ dnsPolicy: 5 }),
  pod({ volumes: [{ name: 'v', emptyDir: 'x' }] }),
  pod({ volumes: [{ name: 'v', emptyDir: { sizeLimit: 'x' } }] }),
  pod({ volumes: [{ name: 'v', configMap: { defaultMode: '420' } }] }),
  pod({ volumes: [{ name: 5 }] }),
  ...['x', [], { matchLabels: 'x' }, { matchLabels: [] }, { matchLabels: { a: 5 } }, { matchExpressions: {} }].map(
    selector => spec({ selector }),
  ),
  spec({ selector: { matchExpressions: [{ key: 'a', operator: 5 }] } }),
  ...['x', 5, 1.5, true, [], ['x']].map(meta),
  ...but({}, { a: 'x' }).map(labels => meta({ labels })),
  ...[true, 1.5, [], ['x'], {}, { b: 'c' }].map(a => meta({ labels: { a } })),
  meta({ annotations: { a: 5 } }),
  meta({ annotations: { a: { 'ü "q"': 'line\nnext\\', n: null, f: 0.00001, big: 1e21, no: false } } }),
  ...['x', 5, {}, [5], [true], [{}]].map(finalizers => meta({ finalizers })),
  ...['x', 5, {}, ['x'], [{ uid: 5 }], [{ uid: 'u', controller: 'x' }]].map(ownerReferences =>
    meta({ ownerReferences }),
  ),
  meta({ name: 5 }),
  meta({ namespace: true }),
  meta({ uid: 5 }),
  meta({ resourceVersion: 5 }),
  meta({ generation: 'x' }),
  meta({ creationTimestamp: 5 }),
  meta({ creationTimestamp: 'x' }),
  meta({ managedFields: 'x' }),
  meta({ managedFields: ['x'] }),
  meta({ managedFields: [{ time: 'x' }] }),
  { status: 'x' },
  { status: { conditions: {} } },
  // the first of them in the order of the structs
  { spec: { replicas: 'x' }, metadata: { labels: 'x' } },
  { spec: { template: 'x', replicas: 'x' } },
  // directives
  pod({ $retainKeys: ['containers'], containers: 'x' }),
  pod({ nodeSelector: { $patch: 'replace', a: 5 } }),
  pod({ containers: [{ $patch: 'replace' }, { name: 'c', image: 5 }] }),
  pod({ '$setElementOrder/containers': [{ name: 'c' }], containers: [{ name: 'c', image: 5 }] }),
]

export const patchTypes: Script = {
  name: 'patch-types',
  steps: [
    post(DEPLOYMENTS, deployment('d'), { only: ['kind'] }),
    ...each(D, ON_DEPLOYMENT),
    ...each(`${D}/status`, [
      { status: 'x' },
      { status: [] },
      { status: { replicas: 'x' } },
      { status: { replicas: 1.5 } },
      { status: { conditions: 'x' } },
      { status: { conditions: [{ type: 5 }] } },
      { status: { conditions: [{ type: 'A', lastUpdateTime: 'x' }] } },
      { status: { conditions: [{ type: 'A', lastUpdateTime: 5 }] } },
      { spec: 'x' },
    ]),
    ...each(`${D}/scale`, [
      ...['x', [], 5].map(spec),
      ...['x', '3', true, {}, [], 1.5].map(replicas => spec({ replicas })),
      ...['x', []].map(meta),
      meta({ labels: 'x' }),
      { status: 'x' },
      { status: { selector: 5 } },
    ]),
    post(CM, configMap('c', { k: 'v' }), { only: ['kind'] }),
    ...each(`${CM}/c`, [
      ...but({}, { a: 'x' }).map(data => ({ data })),
      ...[true, 1.5, [], {}].map(k => ({ data: { k } })),
      ...['x', 5, [], { k: 5 }, { k: '!!!' }, { k: 'YQ' }, { k: {} }].map(binaryData => ({ binaryData })),
      ...['x', 1, {}].map(immutable => ({ immutable })),
    ]),
    post(`${NS}/secrets`, of('v1', 'Secret', 's', { data: { k: 'YQ==' } }), { only: ['kind'] }),
    ...each(`${NS}/secrets/s`, [
      { data: 'x' },
      { data: { k: 5 } },
      { data: { k: '!!!' } },
      { data: { k: true } },
      { data: { k: {} } },
      { stringData: { k: 5 } },
      { type: 5 },
    ]),
    post(`${NS}/services`, of('v1', 'Service', 's', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }), {
      only: ['kind'],
    }),
    ...each(`${NS}/services/s`, [
      spec({ ports: {} }),
      spec({ ports: ['x'] }),
      spec({ ports: [{ port: 80, targetPort: {} }] }),
      spec({ ports: [{ port: 80, targetPort: true }] }),
      spec({ ports: [{ port: 80, name: 5 }] }),
      spec({ ports: [{ port: '80' }] }),
      spec({ selector: { a: 5 } }),
      spec({ selector: 'x' }),
      spec({ type: 5 }),
      spec({ externalIPs: 'x' }),
      spec({ externalIPs: [5] }),
      spec({ sessionAffinityConfig: { clientIP: 'x' } }),
    ]),
  ],
}
