/** Sub-resources with a life of their own, namespaces, events, autoscalers, certificate requests. */
import { del, get, merge, post, put, type Rest, type Script, table } from '../script.ts'
import { configMap, NS, of, PODS, pod } from './bodies.ts'
import { life } from './core.ts'

const evict = (name: string, rest: object = {}): object =>
  of('policy/v1beta1', 'Eviction', name, rest, { namespace: '{ns}' })
const bind = (name: string, target: object, metadata: object = {}): object =>
  of('v1', 'Binding', name, { target }, metadata)
const PLACE: Rest = {
  only: ['spec.nodeName', 'metadata.annotations', 'status.conditions.0.type', 'status.conditions.0.status'],
}
const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
const PDBS = '/apis/policy/v1beta1/namespaces/{ns}/poddisruptionbudgets'
const ONLY_V1 = 'its budgets are v1beta1, which newer servers do not serve'

export const podLife: Script = {
  name: 'pod-life',
  steps: [
    ...['a', 'b', 'c', 'd'].map(name =>
      post(PODS, pod(name, {}, { labels: { app: name } }), { only: ['metadata.name'] }),
    ),
    post(`${PODS}/a/binding`, bind('a', { kind: 'Node', name: 'n1' }, { annotations: { x: 'y' } })),
    get(`${PODS}/a`, PLACE),
    post(`${PODS}/a/binding`, bind('a', { kind: 'Node', name: 'n2' })),
    post(`${PODS}/b/binding`, bind('b', { kind: 'Pod', name: 'n2' }), { unlike120: { '': 'it says 500' } }),
    post(`${PODS}/b/binding`, bind('b', { kind: 'Node' }), { unlike120: { '': 'it says 500' } }),
    post(`${PODS}/b/binding`, bind('other', { kind: 'Node', name: 'n' }), { only: ['code', 'reason'] }),
    post(`${PODS}/none/binding`, bind('none', { kind: 'Node', name: 'n1' })),
    post(`${NS}/bindings`, bind('b', { kind: 'Node', name: 'n1' })),
    get(`${PODS}/b`, PLACE),
    get(`${PODS}/a/binding`),
    put(`${PODS}/a`, pod('a', { nodeName: 'elsewhere' }), { only: ['code', 'reason', 'details.causes.*.field'] }),
    post(`${PODS}/none/eviction`, evict('none')),
    post(`${PODS}/c/eviction`, evict('wrong')),
    post(`${PODS}/c/eviction?dryRun=All`, evict('c')),
    get(`${PODS}/c`, { only: ['metadata.name', 'metadata.deletionTimestamp'] }),
    post(`${PODS}/c/eviction`, evict('c', { deleteOptions: { preconditions: { uid: 'x' } } }), {
      only: ['code', 'reason'],
    }),
    post(`${PODS}/c/eviction`, evict('c')),
    get(`${PODS}/c`),
    merge(`${PODS}/a/status`, running, { only: ['status.phase'] }),
    post(
      PDBS.replace('v1beta1', 'v1'),
      of('policy/v1', 'PodDisruptionBudget', 'one', {
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
      }),
      { since: ONLY_V1 },
    ),
    post(`${PODS}/a/eviction`, evict('a'), { since: ONLY_V1 }),
    merge(
      `${PDBS.replace('v1beta1', 'v1')}/one/status`,
      { status: { observedGeneration: 1, desiredHealthy: 1, currentHealthy: 1 } },
      { since: ONLY_V1 },
    ),
    post(`${PODS}/a/eviction`, evict('a'), { since: ONLY_V1 }),
    merge(`${PDBS.replace('v1beta1', 'v1')}/one/status`, { status: { disruptionsAllowed: 1 } }, { since: ONLY_V1 }),
    post(`${PODS}/a/eviction`, of('policy/v1', 'Eviction', 'a'), { since: ONLY_V1 }),
    get(`${PODS}/a`, { since: ONLY_V1, only: ['metadata.deletionTimestamp', 'metadata.deletionGracePeriodSeconds'] }),
    get(`${PDBS.replace('v1beta1', 'v1')}/one`, { since: ONLY_V1 }),
    post(
      `${NS}/serviceaccounts/default/token`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['x'] } },
      { only: ['kind', 'apiVersion', 'spec.audiences', 'spec.expirationSeconds'] },
    ),
    post(`${NS}/serviceaccounts/none/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    }),
    post(
      `${NS}/serviceaccounts/default/token`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 5 } },
      { only: ['code', 'reason', 'details.causes'] },
    ),
    get(`${NS}/serviceaccounts/default/token`),
  ],
}

const N = '/api/v1/namespaces'
export const namespaces: Script = {
  name: 'namespaces',
  steps: [
    post(N, of('v1', 'Namespace', 'n-diff', {}, { labels: { a: 'b' } })),
    post(N, of('v1', 'Namespace', 'Upper')),
    post(N, of('v1', 'Namespace', 'dots.not-allowed'), { unlike120: { body: 'another wording' } }),
    get(`${N}/n-diff`),
    table(`${N}/n-diff`),
    get(`${N}/n-diff/status`),
    merge(`${N}/n-diff`, { metadata: { labels: { c: 'd' } } }),
    merge(`${N}/n-diff`, { spec: { finalizers: [] } }),
    merge(`${N}/n-diff/status`, { status: { phase: 'Nope' } }, { only: ['code', 'status', 'reason'] }),
    get(`${N}?fieldSelector=status.phase%3DActive,metadata.name%3Dn-diff`, { only: ['items.*.metadata.name'] }),
    post(`${N}/n-diff/configmaps`, configMap('held', {}, { finalizers: ['example.com/x'] })),
    put(
      `${N}/n-diff/finalize`,
      of('v1', 'Namespace', 'n-diff', { spec: { finalizers: ['kubernetes', 'example.com/y'] } }),
    ),
    put(`${N}/n-diff/finalize`, of('v1', 'Namespace', 'other', { spec: {} })),
    del(`${N}/n-diff`, undefined, { only: ['kind', 'spec', 'status.phase', 'metadata.deletionTimestamp'] }),
    del(`${N}/n-diff`, undefined, { only: ['code', 'kind', 'reason', 'spec', 'status.phase'] }),
    post(`${N}/n-diff/configmaps`, configMap('late')),
    del(`${N}/kube-system`),
    del(`${N}/nope`),
    put(`${N}/n-diff/finalize`, of('v1', 'Namespace', 'n-diff', { spec: {} }), {
      only: ['kind', 'metadata.name', 'spec', 'status.phase'],
    }),
    get(`${N}/n-diff`),
  ],
}

const EV = `${NS}/events`
const EVV1 = '/apis/events.k8s.io/v1/namespaces/{ns}/events'
const event = (name: string, rest: object = {}): object =>
  of('v1', 'Event', name, {
    involvedObject: { kind: 'Pod', namespace: '{ns}', name: 'p', uid: 'u' },
    reason: 'Because',
    message: 'it was so',
    source: { component: 'tester', host: 'h' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-02T00:00:00Z',
    count: 3,
    type: 'Normal',
    ...rest,
  })
const newer = (name: string, rest: object = {}): object =>
  of('events.k8s.io/v1', 'Event', name, {
    regarding: { kind: 'Pod', namespace: '{ns}', name: 'p' },
    reason: 'Because',
    note: 'it was so',
    action: 'Doing',
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'example.com/tester',
    reportingInstance: 'tester-1',
    type: 'Normal',
    ...rest,
  })

/** It names the core group, whatever the requested group. */
const CORE: Rest = { unlike120: { 'body.details.group': 'none', 'body.message': 'no group' } }

export const events: Script = {
  name: 'events',
  steps: [
    post(EV, event('e1')),
    get(`${EV}/e1`),
    get(`${EVV1}/e1`),
    table(`${EV}/e1`, { only: ['columnDefinitions.*.name', 'rows.*.cells'] }),
    post(EVV1, newer('e2')),
    get(`${EVV1}/e2`),
    get(`${EV}/e2`),
    get(EV, { only: ['items.*.metadata.name'] }),
    get(EVV1, { only: ['items.*.metadata.name', 'kind', 'apiVersion'] }),
    get(`${EV}?fieldSelector=involvedObject.name%3Dp,reason%3DBecause`, { only: ['items.*.metadata.name'] }),
    get(`${EV}?fieldSelector=source%3Dtester`, { only: ['items.*.metadata.name'] }),
    get(`${EV}?fieldSelector=nope%3Dx`),
    get(`${EVV1}?fieldSelector=regarding.name%3Dp`, { only: ['items.*.metadata.name', 'message'] }),
    post(EV, event('bad', { involvedObject: { kind: 'Pod', namespace: 'other', name: 'p' } })),
    post(EVV1, newer('bad', { reportingController: '' }), CORE),
    post(EVV1, newer('bad', { action: '' }), CORE),
    post(EVV1, newer('bad', { type: 'Strange' }), CORE),
    merge(`${EV}/e1`, { count: 4, message: 'again' }),
    merge(`${EVV1}/e2`, { series: { count: 2, lastObservedTime: '2026-01-03T00:00:00.000000Z' } }),
    merge(`${EVV1}/e2`, { note: 'changed' }, { only: ['kind', 'code', 'reason'], since: 'it changes what nobody may' }),
    put(`${EV}/made`, event('made'), { only: ['metadata.name', 'code', 'reason'] }),
    del(`${EV}/e1`),
    get(`${EVV1}/e1`),
  ],
}

const HPA = '/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers'
const hpa = (name: string, spec: object = {}, metadata: object = {}): object =>
  of(
    'autoscaling/v1',
    'HorizontalPodAutoscaler',
    name,
    { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 5, ...spec } },
    metadata,
  )
const CSR = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

export const scaling: Script = {
  name: 'scaling',
  steps: [
    ...life(HPA, 'h', hpa('h', { targetCPUUtilizationPercentage: 50 }), {
      look: { unlike120: { 'body.rows.0.cells': '1.31: cells name what they measure' } },
      change: { spec: { maxReplicas: 6 } },
      bad: [
        { spec: { maxReplicas: 0 } },
        { spec: { minReplicas: 9 } },
        { spec: { scaleTargetRef: { kind: '', name: '' } } },
        { spec: { targetCPUUtilizationPercentage: 0 } },
      ],
    }),
    post(HPA, hpa('defaults')),
    get(`${HPA.replace('v1', 'v2')}/h`, { since: '1.23: v2' }),
    get(`${HPA.replace('v1', 'v2')}/defaults`, { since: '1.23: v2' }),
    post(
      HPA.replace('v1', 'v2'),
      of('autoscaling/v2', 'HorizontalPodAutoscaler', 'two', {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          maxReplicas: 3,
          behavior: { scaleDown: { stabilizationWindowSeconds: 5 } },
          metrics: [
            { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 10 } } },
          ],
        },
      }),
      { since: '1.23: v2' },
    ),
    get(`${HPA}/two`, { since: '1.23: v2' }),
    merge(`${HPA}/h/status`, { status: { currentReplicas: 2, desiredReplicas: 3 } }),
    merge(`${HPA}/h/status`, { status: { currentReplicas: -2 } }),
    post(
      CSR,
      of('certificates.k8s.io/v1', 'CertificateSigningRequest', 'c', {
        spec: { request: 'YQ==', signerName: 'example.com/s', usages: ['client auth'] },
      }),
    ),
    post(
      CSR,
      of('certificates.k8s.io/v1', 'CertificateSigningRequest', 'c', {
        spec: { request: 'YQ==', signerName: 'nope', usages: [] },
      }),
      { only: ['code', 'details.causes.*.field'] },
    ),
    post(
      CSR,
      of('certificates.k8s.io/v1', 'CertificateSigningRequest', 'ok', {
        spec: { request: REQUEST(), signerName: 'example.com/s', usages: ['client auth'] },
      }),
      {
        unlike120: { 'body.spec': 'the administrator is another person' },
      },
    ),
    get(`${CSR}/ok/approval`, { only: ['kind', 'status'] }),
    put(
      `${CSR}/ok/approval`,
      of('certificates.k8s.io/v1', 'CertificateSigningRequest', 'ok', {
        status: { conditions: [{ type: 'Approved', status: 'True', reason: 'R', message: 'm' }] },
      }),
      { only: ['code', 'message', 'status.conditions.*.type', 'spec.signerName'] },
    ),
    merge(`${CSR}/ok`, { spec: { signerName: 'example.com/t' } }, { only: ['code', 'spec.signerName', 'message'] }),
    table(`${CSR}/ok`, { only: ['rows.*.cells.0', 'rows.*.cells.2'] }),
    get(`${CSR}?fieldSelector=spec.signerName%3Dexample.com/s`, { only: ['items.*.metadata.name'] }),
  ],
}

/** A certificate request for CN=tester, made once. */
function REQUEST(): string {
  return 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ITUNBUUF3RVRFUE1BMEdBMVVFQXd3R2RHVnpkR1Z5TUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowRApBUWNEUWdBRXNNZ2wyZkl4WWhONTFRQ2hCOTdXMHZreXQ3dTJxSEYrUXo4cEhiQmNqSnZIYklVYitoUHVKeWt2CkxDSlN0dC9FZGwxTG9qQ0c3eC9VTGkrQzZvRWpVS0FBTUFvR0NDcUdTTTQ5QkFNQ0EwZ0FNRVVDSUhpYktLUUMKa2F4dHhLS1oyT1czZWlyWUljWXBoQmc2blZDSWJlQTdEOERzQWlFQW5kTnFzZXlobEJzVUE1RVZSREFiTnNFdwpibDFyNjl5R2FFK1drd3haS2tRPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K'
}
