/** Addresses and ports of Services: allocations, valid requests, and releases. */
import { del, get, merge, post, put, type Rest, type Script } from '../script.ts'
import { NS, of } from './bodies.ts'

const S = `${NS}/services`
const PORT = [{ port: 80 }]
const service = (name: string, spec: object): object => of('v1', 'Service', name, { spec })
const OUTSIDE = { type: 'NodePort', ports: PORT }
const BALANCED = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30_112 }] }
const BOTH = [
  { name: 'a', port: 53, protocol: 'UDP' },
  { name: 'b', port: 53, nodePort: 30_099 },
]
const FRESH: Rest = { only: ['code', 'spec.type', 'spec.clusterIP', 'spec.ports', 'spec.healthCheckNodePort'] }
/** It is the caller's mistake. */
const NOT_500: Rest = { unlike120: { '': 'it answers 500' } }
const ELDER_WORDS: Rest = { unlike120: { 'body.details.causes': '1.22: other words' } }
const LEFT_OUT: Rest = { since: '1.21: an update may leave out what was given' }
const NOTHING_GIVEN: Rest = { unlike120: { 'body.spec.ports.*.nodePort': 'it makes one up that is in no range' } }

export const services: Script = {
  name: 'services',
  managedFields: true,
  steps: [
    // addresses
    post(S, service('one', { ports: PORT })),
    get(`${S}/one`, { save: { ip: 'spec.clusterIP' } }),
    post(S, service('two', { ports: PORT, clusterIP: '{ip}' }), { only: ['code', 'reason'] }),
    post(S, service('two', { ports: PORT, clusterIP: '10.9.0.1' }), ELDER_WORDS),
    ...['10.0.0.0', '10.0.255.255', '9.255.255.255', '10.1.0.0'].map(clusterIP =>
      post(S, service('two', { ports: PORT, clusterIP }), ELDER_WORDS),
    ),
    post(S, service('two', { ports: PORT, clusterIP: '10.0.0.1' }), ELDER_WORDS),
    post(S, service('two', { ports: PORT, clusterIP: '10.0.0.77' }), FRESH),
    post(S, service('three', { ports: PORT, clusterIP: '10.0.0.77' }), ELDER_WORDS),
    merge(`${S}/two`, { spec: { clusterIP: '10.0.0.78', clusterIPs: ['10.0.0.78'] } }),
    put(`${S}/two`, service('two', { ports: [{ port: 81 }] }), LEFT_OUT),
    del(`${S}/two`, undefined, { unlike120: { body: 'it answers a Status' } }),
    post(S, service('three', { ports: PORT, clusterIP: '10.0.0.77' }), FRESH),
    merge(`${S}/three`, {
      spec: { type: 'ExternalName', externalName: 'a.example', clusterIP: null, clusterIPs: null },
    }),
    post(S, service('four', { ports: PORT, clusterIP: '10.0.0.77' }), FRESH),
    merge(
      `${S}/three`,
      { spec: { type: 'ClusterIP', clusterIP: '10.0.0.77' } },
      { unlike120: { ...ELDER_WORDS.unlike120, 'headers.warning': '1.26: it warns' } },
    ),
    merge(`${S}/three`, { spec: { type: 'ClusterIP', externalName: null } }, FRESH),
    post(S, service('headless', { ports: PORT, clusterIP: 'None' })),
    // node ports: 1.20 gives any of the range, so the requested ones come first
    post(S, service('chosen', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] })),
    ...[
      [{ port: 80, nodePort: 30_080 }],
      [{ port: 80, nodePort: 30_080, protocol: 'UDP' }],
      [{ port: 80, nodePort: 80 }],
      [{ port: 80, nodePort: 32_768 }],
      [{ port: 80, nodePort: 70_000 }],
      [{ port: 80, nodePort: -5 }],
      [
        { name: 'a', port: 53, nodePort: 30_098 },
        { name: 'b', port: 54, protocol: 'UDP', nodePort: 30_098 },
      ],
      [
        { name: 'a', port: 53, nodePort: 30_097 },
        { name: 'b', port: 54, nodePort: 80 },
      ],
    ].map(ports => post(S, service('refused', { type: 'NodePort', ports }))),
    post(S, service('after', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_097 }] }), FRESH),
    post(S, service('pair', { type: 'NodePort', ports: BOTH }), FRESH),
    put(`${S}/chosen`, service('chosen', OUTSIDE), LEFT_OUT),
    merge(`${S}/chosen`, { spec: { ports: [{ port: 80, nodePort: 30_097 }] } }),
    merge(`${S}/chosen`, { spec: { ports: [{ port: 80, nodePort: 80 }] } }),
    merge(`${S}/chosen`, { spec: { ports: [{ port: 80, nodePort: 30_081 }] } }, FRESH),
    post(S, service('again', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }), FRESH),
    merge(`${S}/chosen`, { spec: { type: 'ClusterIP' } }, FRESH),
    merge(`${S}/again`, { spec: { ports: [{ port: 80, nodePort: 30_081 }] } }, FRESH),
    // health checks
    post(S, service('health', { ...BALANCED, healthCheckNodePort: 30_111 }), FRESH),
    post(S, service('refused', { ...BALANCED, ports: PORT, healthCheckNodePort: 30_111 }), NOT_500),
    post(S, service('refused', { ...BALANCED, ports: PORT, healthCheckNodePort: 80 }), NOT_500),
    post(S, service('refused', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_111 }] })),
    merge(`${S}/health`, { spec: { externalTrafficPolicy: 'Cluster' } }, FRESH),
    post(S, service('freed', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_111 }] }), FRESH),
    merge(`${S}/health`, { spec: { externalTrafficPolicy: 'Local' } }, FRESH),
    // dry runs
    post(`${S}?dryRun=All`, service('tried', { ports: PORT })),
    post(`${S}?dryRun=All`, service('tried', OUTSIDE), NOTHING_GIVEN),
    post(`${S}?dryRun=All`, service('tried', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_200 }] }), FRESH),
    post(S, service('tried', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_200 }] }), FRESH),
    post(`${S}?dryRun=All`, service('refused', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_200 }] })),
    // given
    post(S, service('outside', OUTSIDE)),
    post(S, service('balanced', { ...BALANCED, ports: PORT }), {
      unlike120: {
        'body.spec.allocateLoadBalancerNodePorts': '1.22: the field is new',
        'body.metadata.managedFields': '1.22: the field is new',
      },
    }),
    post(
      S,
      service('three-ports', {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 53 },
          { name: 'b', port: 53, protocol: 'UDP' },
          { name: 'c', port: 54 },
        ],
      }),
    ),
    merge(`${S}/chosen`, { spec: { type: 'NodePort' } }, FRESH),
    post(S, service('portless', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: PORT }), {
      ...FRESH,
      since: '1.22: the field is new',
    }),
  ],
}
