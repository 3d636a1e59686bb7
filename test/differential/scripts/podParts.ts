/** Changes of a pod: by a plain update, by a kubelet's report, and through the sub-resources that change a part of it. */
import { get, merge, post, type Rest, type Script, type Step, strategic, unlikeWords } from '../script.ts'
import { PODS, pod } from './bodies.ts'

/** How Go shows two structs side by side is another way today. */
const DIFF: Rest = { unlike120: { 'body.message': '1.34: the diff', 'body.details.causes': '1.34: the diff' } }
const NULL: Rest = { unlike120: { 'body.message': 'null is text', 'body.details.causes': 'null is text' } }
const WRONG = ['code', 'message', 'details.causes'] as const
const spec = (change: object, rest: Rest = {}): Step => merge(`${PODS}/u`, { spec: change }, rest)
const annotated = (annotations: object): Step => merge(`${PODS}/u`, { metadata: { annotations } }, { only: WRONG })
const MIRROR = 'kubernetes.io/config.mirror'
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/c'
const tolerations = (...keys: string[]): object => ({
  tolerations: ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable', ...keys].map(key => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
})

export const podUpdates: Script = {
  name: 'pod-updates',
  steps: [
    post(PODS, pod('u', { nodeName: 'n1', initContainers: [{ name: 'i', image: 'i' }] }), { only: ['metadata.name'] }),
    strategic(
      `${PODS}/u`,
      { spec: { initContainers: [{ name: 'i', image: 'i:2' }] } },
      { only: ['spec.initContainers'] },
    ),
    strategic(`${PODS}/u`, {
      spec: { initContainers: [{ name: 'j', image: 'i:2' }], containers: [{ name: 'd', image: 'i' }] },
    }),
    spec({ activeDeadlineSeconds: 50 }, { only: ['spec.activeDeadlineSeconds'] }),
    spec({ activeDeadlineSeconds: 60 }),
    spec({ activeDeadlineSeconds: null }, NULL),
    spec({ activeDeadlineSeconds: 40 }, { only: ['spec.activeDeadlineSeconds'] }),
    spec(tolerations('x'), { only: ['spec.tolerations'] }),
    spec(tolerations()),
    spec({ dnsPolicy: 'Default' }, DIFF),
    spec({ nodeName: 'n2' }, DIFF),
    spec({ nodeSelector: { a: 'b' } }, DIFF),
    spec({ terminationGracePeriodSeconds: 1 }, DIFF),
    annotated({ [MIRROR]: 'x' }),
    annotated({ [APP_ARMOR]: 'runtime/default' }),
    merge(`${PODS}/u`, { metadata: { annotations: { a: 'b' }, labels: { c: 'd' } } }, { only: ['metadata.labels'] }),
  ],
}

const S = `${PODS}/s/status`
const N = `${PODS}/never/status`
const state = (name: string, of: object): object => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: of,
})
const status = (path: string, fields: object, rest: Rest = {}): Step => merge(path, { status: fields }, rest)
const ended = (exitCode: number): object => ({ terminated: { exitCode } })
const ONLY_STATUS: Rest = { only: ['code', 'message', 'details.causes', 'status'] }

export const podStatuses: Script = {
  name: 'pod-statuses',
  steps: [
    post(PODS, pod('s', { nodeName: 'n1' }), { only: ['status'] }),
    post(PODS, pod('never', { restartPolicy: 'Never', initContainers: [{ name: 'i', image: 'i' }] }), {
      only: ['status'],
    }),
    status(S, { phase: 'Running', podIP: '10.0.0.1' }, ONLY_STATUS),
    status(S, { podIP: 'x' }, ONLY_STATUS),
    status(S, { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }, ONLY_STATUS),
    status(S, { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }, ONLY_STATUS),
    status(S, { nominatedNodeName: 'A_b' }, ONLY_STATUS),
    status(S, { qosClass: 'Guaranteed' }, { ...ONLY_STATUS, since: '1.22: it is immutable' }),
    status(S, { qosClass: null }, { ...ONLY_STATUS, since: '1.22: it is immutable' }),
    status(
      S,
      { conditions: [{ type: 'a b', status: 'True' }] },
      {
        ...ONLY_STATUS,
        ...unlikeWords('a slip of its paths'),
      },
    ),
    status(S, { conditions: [{ type: 'example.com/x', status: 'True' }] }, { only: ['status.conditions'] }),
    status(S, { hostIPs: [{ ip: '10.0.0.1' }], hostIP: '10.0.0.2' }, { ...ONLY_STATUS, since: '1.28: hostIPs' }),
    status(S, { containerStatuses: [state('c', ended(0))] }, ONLY_STATUS),
    status(S, { containerStatuses: [{ name: 'c', image: 'i', state: { running: {} } }] }, ONLY_STATUS),
    status(
      N,
      { containerStatuses: [state('c', ended(1))], initContainerStatuses: [state('i', ended(0))] },
      { only: ['code'] },
    ),
    status(N, { containerStatuses: [state('c', { running: {} })] }, { only: WRONG }),
    status(N, { initContainerStatuses: [state('i', { waiting: {} })] }, { only: WRONG }),
    merge(
      `${PODS}/s/status`,
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }] } },
      {
        only: ['code', 'metadata.ownerReferences', 'message'],
      },
    ),
  ],
}

const debug = (...containers: object[]): object => ({ spec: { ephemeralContainers: containers } })
const E = `${PODS}/e/ephemeralcontainers`
const EPHEMERAL: Rest = { since: '1.23: beta', only: ['code', 'message', 'details', 'spec.ephemeralContainers'] }
const R = `${PODS}/r/resize`
const RESIZE: Rest = { since: '1.33: beta', only: ['code', 'message', 'details', 'spec.containers.*.resources'] }
const amounts = (cpu: string): object => ({ requests: { cpu }, limits: { cpu: '3', memory: '1Gi' } })
const sized = (resources: object): object => ({ spec: { containers: [{ name: 'c', resources }] } })
const gated = (name: string, more: object = {}): Step =>
  post(PODS, pod(name, { schedulingGates: [{ name: 'example.com/g' }, { name: 'example.com/h' }], ...more }), {
    since: '1.27: gates',
    only: ['code', 'spec.schedulingGates', 'message'],
  })
const GATES: Rest = {
  since: '1.27: gates',
  only: ['code', 'message', 'details', 'spec.schedulingGates', 'spec.nodeSelector'],
}
const place = (values: string[]): object => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: values.map(key => ({ key, operator: 'Exists' })) }],
      },
    },
  },
})

export const podParts: Script = {
  name: 'pod-parts',
  steps: [
    post(PODS, pod('e'), { only: ['metadata.name'] }),
    strategic(E, debug({ name: 'd', image: 'busybox', targetContainerName: 'c' }), EPHEMERAL),
    strategic(E, debug({ name: 'd', image: 'other' }), EPHEMERAL),
    strategic(
      E,
      debug({ name: 'x', image: 'i', ports: [{ containerPort: 1 }], targetContainerName: 'none' }),
      EPHEMERAL,
    ),
    merge(E, debug(), EPHEMERAL),
    get(E, EPHEMERAL),
    post(PODS, pod('early', { ephemeralContainers: [{ name: 'd', image: 'i' }] }), EPHEMERAL),
    post(PODS, pod('r', { containers: [{ name: 'c', image: 'i', resources: amounts('1') }] }), {
      only: ['metadata.name'],
    }),
    strategic(R, sized(amounts('2')), RESIZE),
    strategic(R, sized(amounts('4')), RESIZE),
    strategic(R, sized({ limits: { memory: null } }), RESIZE),
    strategic(R, { spec: { containers: [{ name: 'z', image: 'i' }] } }, RESIZE),
    get(R, RESIZE),
    strategic(`${PODS}/r`, sized(amounts('1')), RESIZE),
    gated('g', place(['a'])),
    gated('h', { nodeName: 'n1' }),
    merge(`${PODS}/g`, { spec: { nodeSelector: { a: 'b' } } }, GATES),
    merge(`${PODS}/g`, { spec: { nodeSelector: { a: 'c' } } }, GATES),
    merge(`${PODS}/g`, { spec: place(['a', 'b']) }, GATES),
    merge(`${PODS}/g`, { spec: place(['b']) }, GATES),
    merge(`${PODS}/g`, { spec: { schedulingGates: [{ name: 'example.com/g' }, { name: 'example.com/i' }] } }, GATES),
    merge(`${PODS}/g`, { spec: { schedulingGates: [{ name: 'example.com/g' }] } }, GATES),
    merge(`${PODS}/g`, { spec: { schedulingGates: null } }, GATES),
    merge(`${PODS}/g`, { spec: { nodeSelector: { z: 'z' } } }, GATES),
  ],
}
