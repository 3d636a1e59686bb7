/** Kinds that run something: the whole round of operations, their status and their scale. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'
import { pod, podTemplate } from './cluster.ts'
import { type Kind, playRound, roundOf } from './operations.ts'

const { api, faults } = await startTestServer(t)

const namespace = 'default'
const app = { app: 'round' }
const selected = { selector: { matchLabels: app }, template: podTemplate(app) }
const condition = (type: string) => ({ type, status: 'True', reason: 'Round', message: 'told by the round' })
const jobTemplate = (spec: object = {}) => ({
  spec: { template: { spec: { ...podSpec(), restartPolicy: 'Never' } }, ...spec },
})
const podSpec = () => (podTemplate({}) as { spec: object }).spec
const { spec: plainPod } = pod('any') as { spec: object }

const kinds: Kind[] = [
  // Deployment should run the lifecycle of a Deployment; should validate Deployment Status endpoints
  {
    group: 'apps',
    kind: 'Deployment',
    resource: 'deployments',
    namespace,
    body: () => ({ spec: { replicas: 1, ...selected } }),
    patches: [{ spec: { replicas: 3, paused: true } }],
    status: { conditions: [condition('StatusUpdate')] },
    subresources: ['scale'],
  },
  // ReplicaSet should list and delete a collection of ReplicaSets; should validate Replicaset Status endpoints
  {
    group: 'apps',
    kind: 'ReplicaSet',
    resource: 'replicasets',
    namespace,
    body: () => ({ spec: { replicas: 1, ...selected } }),
    patches: [{ spec: { replicas: 3 } }],
    status: { conditions: [condition('StatusUpdate')], replicas: 0 },
    subresources: ['scale'],
  },
  // StatefulSet should list, patch and delete a collection of StatefulSets; should validate Statefulset Status endpoints
  {
    group: 'apps',
    kind: 'StatefulSet',
    resource: 'statefulsets',
    namespace,
    body: () => ({ spec: { replicas: 1, serviceName: 'round', ...selected } }),
    patches: [{ spec: { replicas: 2 } }],
    status: { conditions: [condition('StatusUpdate')], replicas: 0 },
    subresources: ['scale'],
  },
  // Daemon set should list and delete a collection of DaemonSets; should verify changes to a daemon set status
  {
    group: 'apps',
    kind: 'DaemonSet',
    resource: 'daemonsets',
    namespace,
    body: () => ({ spec: selected }),
    patches: [{ spec: { minReadySeconds: 5 } }],
    status: {
      conditions: [condition('StatusUpdate')],
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    },
  },
  // ControllerRevision should manage the lifecycle of a ControllerRevision
  {
    group: 'apps',
    kind: 'ControllerRevision',
    resource: 'controllerrevisions',
    namespace,
    body: n => ({ revision: n + 1, data: { spec: { template: podTemplate(app) } } }),
    patches: [{ revision: 7 }],
  },
  // ReplicationController should test the lifecycle of a ReplicationController
  {
    group: '',
    kind: 'ReplicationController',
    resource: 'replicationcontrollers',
    namespace,
    body: () => ({ spec: { replicas: 1, selector: app, template: podTemplate(app) } }),
    patches: [{ spec: { replicas: 2 } }],
    status: { replicas: 0 },
    subresources: ['scale'],
  },
  // Job should manage the lifecycle of a job; should apply changes to a job status
  {
    group: 'batch',
    kind: 'Job',
    resource: 'jobs',
    namespace,
    body: () => jobTemplate({ suspend: true, parallelism: 2, completions: 4, backoffLimit: 6 }),
    patches: [{ spec: { parallelism: 3 } }],
    status: { conditions: [condition('Round')] },
  },
  // CronJob should support CronJob API operations
  {
    group: 'batch',
    kind: 'CronJob',
    resource: 'cronjobs',
    namespace,
    body: () => ({ spec: { schedule: '* */1 * * ?', concurrencyPolicy: 'Allow', jobTemplate: jobTemplate() } }),
    patches: [{ spec: { suspend: true } }],
    status: { lastScheduleTime: '2024-01-01T00:00:00Z' },
  },
  // PodTemplates should run the lifecycle of PodTemplates; should delete a collection; should replace a pod template
  {
    group: '',
    kind: 'PodTemplate',
    resource: 'podtemplates',
    namespace,
    body: () => ({ template: podTemplate(app) }),
    patches: [{ template: { metadata: { labels: { app: 'other' } } } }],
  },
  // Pods should delete a collection of pods; should be updated; should patch a pod status
  {
    group: '',
    kind: 'Pod',
    resource: 'pods',
    namespace,
    body: () => ({ spec: { ...plainPod, terminationGracePeriodSeconds: 1 } }),
    patches: [{ spec: { activeDeadlineSeconds: 5 } }],
    status: { conditions: [condition('Round')], message: 'told by the round' },
  },
  // DisruptionController should create a PodDisruptionBudget; list and delete a collection; update/patch status
  {
    group: 'policy',
    kind: 'PodDisruptionBudget',
    resource: 'poddisruptionbudgets',
    namespace,
    body: () => ({ spec: { minAvailable: 1, selector: { matchLabels: app } } }),
    patches: [{ spec: { minAvailable: 2 } }],
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 3, observedGeneration: 1 },
  },
  // HorizontalPodAutoscaler: served as every other kind
  {
    group: 'autoscaling',
    version: 'v2',
    kind: 'HorizontalPodAutoscaler',
    resource: 'horizontalpodautoscalers',
    namespace,
    body: () => ({
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'round' } },
    }),
    patches: [{ spec: { maxReplicas: 5 } }],
    status: { desiredReplicas: 2, currentReplicas: 1 },
  },
]

for (const kind of kinds) t.test(`${kind.kind}: every operation does its part`, t => playRound(t, api, kind))

// Deployment, ReplicaSet, StatefulSet should have a working scale subresource; ReplicationController get and update scale
const scalable = kinds.filter(({ subresources }) => subresources?.includes('scale'))
for (const kind of scalable) {
  t.test(`${kind.kind}: scale can be read, replaced and patched, and is the object's replicas`, async t => {
    const { collection, at, apiVersion } = roundOf(kind)
    const labels = { metadata: { name: 'scaled' } }
    await api.ok(api.post(collection, { apiVersion, kind: kind.kind, ...labels, ...kind.body(0) }))
    const scale = await api.ok(api.get(`${at('scaled')}/scale`))
    t.match(scale, { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 1 }, status: { replicas: 0 } })
    t.equal((scale.status as { selector?: string }).selector, 'app=round', 'the selector is for autoscalers')
    const put = await api.ok(api.put(`${at('scaled')}/scale`, { ...scale, spec: { replicas: 2 } }))
    t.match(put.spec, { replicas: 2 }, 'update')
    t.not(put.metadata.resourceVersion, scale.metadata.resourceVersion, 'a new version')
    t.match(await api.ok(api.get(at('scaled'))), { spec: { replicas: 2 } }, 'the object says so too')
    const patched = await api.ok(api.patch(`${at('scaled')}/scale`, 'merge', { spec: { replicas: 4 } }))
    t.match(patched.spec, { replicas: 4 }, 'patch')
    t.match(await api.ok(api.get(at('scaled'))), { spec: { replicas: 4 } })
    await api.ok(api.delete(at('scaled')))
  })
}

t.test('nothing was logged as an error', async t => t.same(faults, []))
