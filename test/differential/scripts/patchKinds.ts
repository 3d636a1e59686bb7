/** Patches that say another kind or version than the URL: what is read past, what is refused. */
import { json, merge, post, type Rest, type Script, type Step, strategic } from '../script.ts'
import { CM, configMap, DEPLOYMENTS, deployment, NS, of, TEMPLATE } from './bodies.ts'
import { made, pathOf } from './gadgets.ts'

const RCS = `${NS}/replicationcontrollers`
const GADGETS = pathOf('kinded')
const SHOWN = ['kind', 'apiVersion', 'spec.replicas', 'metadata.labels', 'reason', 'message', 'details']
/** Its refusals show the whole object that the patch made; and a release has no version of its code in its words. */
const UNWORDED = ['kind', 'apiVersion', 'spec.replicas', 'metadata.labels', 'reason']

const OTHERS: readonly object[] = [
  { kind: 'Deployment', apiVersion: 'apps/v1' },
  { kind: 'Deployment' },
  { kind: 'Nothing' },
  { kind: 'Nothing', apiVersion: 'example.com/v1' },
  { apiVersion: 'v2' },
  { apiVersion: 'example.com/v1' },
  { kind: 'Scale', apiVersion: 'autoscaling/v1' },
  { kind: 'ConfigMap', apiVersion: 'v1' },
  { apiVersion: 'a/b/c' },
  { kind: 'Dep loyment' },
  { kind: '' },
  { apiVersion: '' },
  { kind: '', apiVersion: '' },
  { kind: null },
  { apiVersion: null },
  { kind: null, apiVersion: null },
  { kind: 5 },
  { apiVersion: 5 },
  { kind: ['Deployment'] },
  { apiVersion: {} },
]

const asJson = (body: object): object[] =>
  Object.entries(body).map(([name, value]) =>
    value === null ? { op: 'remove', path: `/${name}` } : { op: 'add', path: `/${name}`, value },
  )

function all(path: string, rest: object): Step[] {
  const worded = { only: UNWORDED }
  return [
    ...OTHERS.map(body => strategic(path, { ...body, ...rest }, { only: SHOWN })),
    ...OTHERS.map(body => merge(path, { ...body, ...rest }, worded)),
    ...OTHERS.map(body => json(path, asJson(body), worded)),
  ]
}

export const patchKinds: Script = {
  name: 'patch-kinds',
  steps: [
    post(DEPLOYMENTS, deployment('d'), { only: ['kind'] }),
    post(CM, configMap('c'), { only: ['kind'] }),
    post(RCS, of('v1', 'ReplicationController', 'r', { spec: { template: TEMPLATE } }), { only: ['kind'] }),
    ...all(`${DEPLOYMENTS}/d`, { spec: { replicas: 2 } }),
    ...all(`${DEPLOYMENTS}/d/status`, { metadata: { labels: { a: 'b' } } }),
    ...all(`${DEPLOYMENTS}/d/scale`, { spec: { replicas: 3 } }),
    ...all(`${CM}/c`, { metadata: { labels: { a: 'b' } } }),
    ...all(`${RCS}/r/scale`, { spec: { replicas: 3 } }),
  ],
}

const VERSION = {
  subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } },
}

/** Without a version, its decoder finds nothing to say but that something went wrong. */
const isVersionless = ({ apiVersion = 'v1', kind = 'k' }: { apiVersion?: unknown; kind?: unknown }): boolean =>
  (apiVersion === '' || apiVersion === null) && kind !== '' && kind !== null
const FAULT = { code: 'it says 500', 'body.reason': 'it says 500' }
const NOT_FAULTY: Rest = { unlike120: FAULT, unlikeToday: FAULT }

function ofCustom(path: string, rest: object): Step[] {
  return OTHERS.flatMap(body => {
    const { kind, apiVersion } = body as { kind?: unknown; apiVersion?: unknown }
    // what can be read at all is refused in the words of validation
    const isRead = [kind ?? 'k', apiVersion ?? 'v1'].every(text => typeof text === 'string' && text !== '')
    const isWorded = isRead && kind !== null && apiVersion !== null && apiVersion !== 'a/b/c'
    const shown: Rest = {
      only: isWorded ? SHOWN : UNWORDED,
      ...(isVersionless(body) && !path.endsWith('/scale') && NOT_FAULTY),
    }
    const shownOf = path.endsWith('/scale') ? { only: UNWORDED } : shown
    return [merge(path, { ...body, ...rest }, shownOf), json(path, asJson(body), shownOf)]
  })
}

export const customPatchKinds: Script = {
  name: 'custom-patch-kinds',
  peers: ['kube-apiserver', 'apiextensions'],
  steps: [
    ...made('kinded', 'Kinded', VERSION),
    post(GADGETS, of('kinded.example.com/v1', 'Kinded', 'k', { spec: { size: 1 } }), { only: ['kind'] }),
    strategic(`${GADGETS}/k`, { kind: 'Nothing' }, { only: SHOWN }),
    ...ofCustom(`${GADGETS}/k`, { spec: { size: 2 } }),
    ...ofCustom(`${GADGETS}/k/status`, { status: { phase: 'x' } }),
    ...ofCustom(`${GADGETS}/k/scale`, { spec: { replicas: 3 } }),
  ],
}
