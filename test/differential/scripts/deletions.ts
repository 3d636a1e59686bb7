/** Fate of dependents: kinds whose deletion leaves them behind by default, and repeated deletions. */
import { del, get, merge, post, type Rest, type Script, type Step } from '../script.ts'
import { APPS, CM, configMap, DEPLOYMENTS, deployment, NS, of, TEMPLATE } from './bodies.ts'

const RCS = `${NS}/replicationcontrollers`
const JOBS = '/apis/batch/v1/namespaces/{ns}/jobs'
const rc = (name: string, metadata: object = {}): object =>
  of('v1', 'ReplicationController', name, { spec: { replicas: 0, template: TEMPLATE } }, metadata)
const job = (name: string, metadata: object = {}): object =>
  of(
    'batch/v1',
    'Job',
    name,
    {
      spec: {
        parallelism: 0,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'registry.example/i:1' }] } },
      },
    },
    metadata,
  )
const policy = (propagationPolicy: string): object => ({ kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy })
/** Held by somebody else too, so that every step finds it. */
const HELD = { finalizers: ['example.com/held'] }

const SHOWN = [
  'kind',
  'status',
  'message',
  'details.name',
  'metadata.finalizers',
  'metadata.deletionTimestamp',
  'metadata.deletionGracePeriodSeconds',
]
const shown: Rest = { only: SHOWN }

/** All that a deletion can say, of a kind that `make` makes. */
function ways(path: string, make: (name: string, metadata?: object) => object, unasked: Rest): Step[] {
  return [
    post(path, make('plain'), { only: ['metadata.finalizers'] }),
    del(`${path}/plain?dryRun=All`, undefined, { ...shown, ...unasked }),
    get(`${path}/plain`, shown),
    del(`${path}/plain`, undefined, { ...shown, ...unasked }),
    get(`${path}/plain`, shown),
    del(`${path}/plain`, policy('Background'), shown),
    get(`${path}/plain`, shown),
    post(path, make('asked'), { only: ['metadata.finalizers'] }),
    del(`${path}/asked?orphanDependents=false`, undefined, shown),
    get(`${path}/asked`, shown),
    post(path, make('empty'), { only: ['metadata.finalizers'] }),
    del(`${path}/empty`, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 }, { ...shown, ...unasked }),
    del(`${path}/empty`, { orphanDependents: true }, shown),
    del(`${path}/empty`, policy('Foreground'), shown),
    del(`${path}/empty`, undefined, { ...shown, ...unasked }),
    del(`${path}/empty`, { orphanDependents: false }, shown),
    post(path, make('held', HELD), { only: ['metadata.finalizers'] }),
    del(`${path}/held`, policy('Background'), shown),
    del(`${path}/held`, undefined, { ...shown, ...unasked }),
    del(`${path}/held`, policy('Foreground'), shown),
    del(`${path}/held`, undefined, { ...shown, ...unasked }),
    del(`${path}/held`, policy('Orphan'), shown),
    merge(`${path}/held`, { metadata: { finalizers: null } }, { only: ['kind', 'metadata.finalizers'] }),
    post(path, make('said', { finalizers: ['foregroundDeletion'] }), { only: ['metadata.finalizers'] }),
    del(`${path}/said`, undefined, { ...shown, ...unasked }),
    merge(`${path}/said`, { metadata: { finalizers: null } }, { only: ['kind', 'metadata.finalizers'] }),
    del(`${path}/missing`, undefined, { ...shown, ...unasked }),
    post(path, make('one', { labels: { all: 'yes' } }), { only: ['metadata.finalizers'] }),
    post(path, make('two', { labels: { all: 'yes' } }), { only: ['metadata.finalizers'] }),
    del(`${path}?labelSelector=all`, undefined, { only: ['kind', 'items.*.metadata.name'], ...unasked }),
    get(`${path}?labelSelector=all`, { only: ['items.*.metadata.name', 'items.*.metadata.finalizers'] }),
    del(`${path}?labelSelector=all&propagationPolicy=Background`, undefined, {
      only: ['kind', 'items.*.metadata.name'],
    }),
    get(`${path}?labelSelector=all`, { only: ['items.*.metadata.name', 'items.*.metadata.finalizers'] }),
    del(`${path}?labelSelector=none`, undefined, { only: ['kind', 'items'], ...unasked }),
  ]
}

const WARNED: Rest = { unlike120: { 'headers.warning': '1.21: who leaves it to the default is told' } }

export const deletions: Script = {
  name: 'deletions',
  steps: [
    ...ways(RCS, rc, {}),
    ...ways(JOBS, job, WARNED),
    ...ways(DEPLOYMENTS, (name, metadata) => deployment(name, { replicas: 0 }, metadata), {}),
    ...ways(CM, (name, metadata) => configMap(name, {}, metadata), {}),
    post(
      `${APPS}/replicasets`,
      of('apps/v1', 'ReplicaSet', 'r', {
        spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template: TEMPLATE },
      }),
      {
        only: ['kind'],
      },
    ),
    del(`${APPS}/replicasets/r`, undefined, shown),
  ],
}
