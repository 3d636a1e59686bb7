/** Deployments and their like, jobs: defaults, refusals, generations, status and scale. */
import { del, get, merge, post, put, type Rest, type Script, strategic, table } from '../script.ts'
import { APPS, deployment, of, SELECTOR, TEMPLATE } from './bodies.ts'
import { life } from './core.ts'

const spec = (rest: object = {}): object => ({ spec: { selector: SELECTOR, template: TEMPLATE, ...rest } })
const BATCH = '/apis/batch/v1/namespaces/{ns}'
const D = `${APPS}/deployments`
const OWN: Rest = { unlike120: { 'body.metadata.managedFields': 'entries name their sub-resource since 1.22' } }
const scale = (name: string, replicas: unknown, metadata: object = {}): object => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name, namespace: '{ns}', ...metadata },
  spec: { replicas },
})

export const workloads: Script = {
  name: 'workloads',
  managedFields: true,
  steps: [
    ...life(D, 'd', deployment('d', { minReadySeconds: 0, paused: false }), {
      change: { spec: { replicas: 2 } },
      bad: [
        { spec: { replicas: -1 } },
        { spec: { strategy: { type: 'Nope' } } },
        { spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
        { spec: { strategy: { rollingUpdate: { maxUnavailable: '200%' } } } },
        { spec: { strategy: { type: 'Recreate' } } },
        { spec: { progressDeadlineSeconds: 1, minReadySeconds: 5 } },
        { spec: { template: { metadata: { labels: { app: 'y' } } } } },
        { spec: { template: { spec: { restartPolicy: 'Never' } } } },
        { spec: { revisionHistoryLimit: -1 } },
      ],
    }),
    post(D, of('apps/v1', 'Deployment', 'empty')),
    post(D, of('apps/v1', 'Deployment', 'no-selector', { spec: { template: TEMPLATE } })),
    post(D, deployment('Upper')),
    get(`${D}/d/status`),
    get(`${D}/d/scale`),
    table(`${D}/d/scale`, { unlike120: { '': '1.24: tables of scales' } }),
    put(`${D}/d/scale`, scale('d', 5)),
    put(`${D}/d/scale`, scale('d', -5)),
    put(`${D}/d/scale`, scale('d', 5, { resourceVersion: '1' })),
    put(`${D}/d/scale`, scale('other', 5), { only: ['code', 'reason'] }),
    put(`${D}/none/scale`, scale('none', 5)),
    merge(`${D}/d/scale`, { spec: { replicas: 7 } }),
    strategic(`${D}/d/scale`, { spec: { replicas: 8 } }, { only: ['spec', 'kind'] }),
    merge(`${D}/d/scale`, { spec: { replicas: 'x' } }, { only: ['code', 'reason'] }),
    get(`${D}/d`),
    merge(
      `${D}/d/status`,
      { status: { replicas: 3, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 3, observedGeneration: 2 } },
      OWN,
    ),
    merge(`${D}/d/status`, { status: { replicas: -3 } }),
    merge(`${D}/d/status`, { status: { availableReplicas: 9 } }),
    merge(
      `${D}/d/status`,
      { metadata: { labels: { from: 'status' } }, spec: { replicas: 1 } },
      { only: ['spec.replicas', 'metadata.labels', 'status.replicas'] },
    ),
    merge(`${D}/d`, { status: { replicas: 9 } }, { only: ['status', 'metadata.generation'] }),
    table(`${D}/d`, { only: ['columnDefinitions', 'rows.*.cells'] }),
    table(D, { only: ['rows.*.cells'] }),
    { method: 'POST', path: `${D}/d/scale`, body: {} },
    del(`${D}/d/status`),
    del(`${D}/d?propagationPolicy=Orphan`, undefined, OWN),
    get(`${D}/d`, OWN),
    ...life(`${APPS}/replicasets`, 'r', of('apps/v1', 'ReplicaSet', 'r', spec()), {
      change: { spec: { replicas: 0 } },
      bad: [{ spec: { selector: { matchLabels: { app: 'y' } } } }, { spec: { replicas: -2 } }],
    }),
    get(`${APPS}/replicasets/r/scale`),
    get(`${APPS}/replicasets?fieldSelector=status.replicas%3D0`, {
      only: ['items.*.metadata.name'],
      unlike120: { '': 'it refuses, against its documentation' },
    }),
    ...life(`${APPS}/statefulsets`, 's', of('apps/v1', 'StatefulSet', 's', spec({ serviceName: 'x' })), {
      change: { spec: { replicas: 4 } },
      bad: [[{ spec: { serviceName: 'y' } }, { unlike120: { body: 'fewer fields could be changed' } }]],
    }),
    post(
      `${APPS}/statefulsets`,
      of(
        'apps/v1',
        'StatefulSet',
        'claims',
        spec({
          serviceName: 'x',
          volumeClaimTemplates: [
            {
              metadata: { name: 'v' },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          ],
        }),
      ),
    ),
    post(
      `${APPS}/statefulsets`,
      of('apps/v1', 'StatefulSet', 'bad', spec({ podManagementPolicy: 'Nope', updateStrategy: { type: 'Nope' } })),
    ),
    get(`${APPS}/statefulsets/s/scale`),
    ...life(`${APPS}/daemonsets`, 'ds', of('apps/v1', 'DaemonSet', 'ds', spec()), {
      look: {
        unlike120: { 'body.rows.0.object.metadata.annotations': 'its tables show what it holds, not what it serves' },
      },
      change: { spec: { template: { metadata: { labels: { app: 'x', more: 'y' } } } } },
      bad: [{ spec: { updateStrategy: { type: 'Nope' } } }, { spec: { selector: { matchLabels: { app: 'y' } } } }],
    }),
    get(`${APPS}/daemonsets/ds/scale`),
    ...life(
      `${APPS}/controllerrevisions`,
      'cr',
      of('apps/v1', 'ControllerRevision', 'cr', { data: { a: 'b' }, revision: 3 }),
      {
        change: { revision: 4 },
        look: { only: ['rows.*.cells'] },
        rest: { only: ['code', 'message', 'data', 'revision', 'metadata.generation'] },
        bad: [{ data: { a: 'c' } }],
      },
    ),
    ...life(
      `${BATCH}/jobs`,
      'j',
      of('batch/v1', 'Job', 'j', {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
      }),
      {
        look: { only: ['rows.*.cells'], unlike120: { 'body.rows': 'other columns' } },
        change: { spec: { parallelism: 2 } },
        bad: [{ spec: { parallelism: -1 } }, { spec: { completions: 5 } }],
      },
    ),
    post(
      `${BATCH}/jobs`,
      of('batch/v1', 'Job', 'bad', { spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } } }),
    ),
    post(
      `${BATCH}/jobs`,
      of('batch/v1', 'Job', 'own', {
        spec: {
          manualSelector: true,
          selector: SELECTOR,
          template: { metadata: TEMPLATE.metadata, spec: { ...TEMPLATE.spec, restartPolicy: 'OnFailure' } },
        },
      }),
    ),
    get(`${BATCH}/jobs?fieldSelector=status.successful%3D0`, { only: ['items.*.metadata.name'] }),
  ],
}
