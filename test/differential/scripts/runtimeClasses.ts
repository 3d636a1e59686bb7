/** Admission of Pods with a RuntimeClass: its nodes, its tolerations, its overhead. */
import { get, post, put, type Rest, type Script, type Step, strategic, unlike } from '../script.ts'
import { of, PODS, pod } from './bodies.ts'

const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses'
const SHOWN: Rest = {
  only: [
    ...['kind', 'reason', 'message', 'details'],
    ...['spec.runtimeClassName', 'spec.nodeSelector', 'spec.tolerations', 'spec.overhead'],
  ],
}
const defined = (name: string, rest: object = {}): Step =>
  post(CLASSES, of('node.k8s.io/v1', 'RuntimeClass', name, { handler: 'h', ...rest }), { only: ['kind', 'message'] })
const OVERHEAD = { podFixed: { cpu: '250m', memory: '120Mi' } }
const tolerations = (...list: object[]): object => ({ scheduling: { tolerations: list } })

const key = { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }
/** Pairs of a class's toleration and a Pod's. */
const TOLERATED: readonly (readonly [object, object])[] = [
  [key, key],
  [key, { ...key, value: 'w' }],
  [key, { key: 'k', value: 'v', effect: 'NoSchedule' }],
  [{ key: 'k', value: 'v', effect: 'NoSchedule' }, key],
  [key, { key: 'k', operator: 'Exists' }],
  [{ key: 'k', operator: 'Exists' }, key],
  [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }, key],
  [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }, key],
  [{ operator: 'Exists' }, key],
  [key, { operator: 'Exists' }],
  [key, { key: 'k', operator: 'Equal', value: 'v' }],
  [{ key: 'k', operator: 'Equal', value: 'v' }, key],
  [
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 },
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20 },
  ],
  [
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20 },
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 },
  ],
  [
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20 },
    { key: 'k', operator: 'Exists', effect: 'NoExecute' },
  ],
  [
    { key: 'k', operator: 'Exists', effect: 'NoExecute' },
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20 },
  ],
  [
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20 },
    { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20 },
  ],
  [
    { key: 'k', operator: 'Exists', tolerationSeconds: 20, effect: 'NoExecute' },
    { key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 20 },
  ],
]

let count = 0
/** A Pod that is not kept. */
const asks = (spec: object, rest: Rest = {}): Step =>
  post(`${PODS}?dryRun=All`, pod(`p${count++}`, spec), { ...SHOWN, ...rest })
const EMPTY = unlike('an empty overhead is one there')

export const runtimeClasses: Script = {
  name: 'runtime-classes',
  steps: [
    defined('plain'),
    defined('heavy', { overhead: OVERHEAD }),
    defined('weightless', { overhead: {} }),
    defined('placed', { scheduling: { nodeSelector: { a: '1', b: '2' } } }),
    defined('anywhere', { scheduling: {} }),
    defined('all', { overhead: OVERHEAD, scheduling: { nodeSelector: { a: '1' }, tolerations: [key] } }),
    defined('several', tolerations(key, { key: 'l', operator: 'Exists' })),
    ...TOLERATED.map(([ofClass], i) => defined(`tolerant${i}`, tolerations(ofClass))),
    asks({ runtimeClassName: 'missing' }),
    asks({ runtimeClassName: '' }, unlike('it says 500')),
    asks({ runtimeClassName: 'plain' }),
    asks({ runtimeClassName: 'anywhere', nodeSelector: { z: '1' } }),
    // overhead
    asks({ overhead: { cpu: '250m' } }),
    asks({ overhead: {} }, EMPTY),
    asks({ runtimeClassName: 'plain', overhead: { cpu: '250m' } }),
    asks({ runtimeClassName: 'plain', overhead: {} }, EMPTY),
    asks({ runtimeClassName: 'weightless' }),
    asks({ runtimeClassName: 'weightless', overhead: { cpu: '250m' } }),
    asks({ runtimeClassName: 'heavy' }),
    ...[
      OVERHEAD.podFixed,
      { cpu: '0.25', memory: '122880Ki' },
      { cpu: '250m' },
      { cpu: '251m', memory: '120Mi' },
      { cpu: '250m', memory: '120Mi', 'ephemeral-storage': '1' },
    ].map(overhead => asks({ runtimeClassName: 'heavy', overhead })),
    asks({ runtimeClassName: 'heavy', overhead: {} }, EMPTY),
    // nodes
    ...[undefined, {}, { z: '1' }, { a: '1' }, { a: '1', b: '2', z: '3' }, { a: '9' }, { a: '' }].map(nodeSelector =>
      asks({ runtimeClassName: 'placed', ...(nodeSelector && { nodeSelector }) }),
    ),
    // tolerations
    ...TOLERATED.map(([, ofPod], i) => asks({ runtimeClassName: `tolerant${i}`, tolerations: [ofPod] })),
    asks({ runtimeClassName: 'several' }),
    asks({ runtimeClassName: 'several', tolerations: [{ key: 'm', operator: 'Exists' }, key, key] }),
    // all of it, and what becomes of it later
    post(PODS, pod('kept', { runtimeClassName: 'all', nodeSelector: { z: '1' } }), SHOWN),
    get(`${PODS}/kept`, SHOWN),
    put(`${CLASSES}/all`, of('node.k8s.io/v1', 'RuntimeClass', 'all', { handler: 'h' }), { only: ['kind', 'reason'] }),
    strategic(`${PODS}/kept`, { metadata: { labels: { a: 'b' } } }, SHOWN),
    strategic(`${PODS}/kept`, { spec: { overhead: { cpu: '1' } } }, { only: ['code', 'reason'] }),
  ],
}
