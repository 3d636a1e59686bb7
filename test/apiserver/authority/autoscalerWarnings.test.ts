/** An autoscaler beside a workload that sets its replicas gets a warning, whichever comes last. */
import t from 'tap'
import { BOB, createSpace, startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
const wds = api.in(await createSpace(api, 'scaled', 'workload'))
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const AUTOSCALERS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
const labels = { app: 'web' }
const deployment = (name: string, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
})
const autoscaler = (name: string, target: object = {}) => ({
  metadata: { name },
  spec: { maxReplicas: 5, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name, ...target } },
})
const warned = async (sent: Promise<{ code: number; headers: Record<string, unknown> }>): Promise<string> => {
  const { code, headers } = await sent
  t.ok(code === 200 || code === 201, `${code}`)
  return String(headers.warning ?? '').replaceAll('\\"', '"')
}

t.test('an autoscaler of a workload that sets its replicas', async t => {
  t.equal(await warned(wds.post(DEPLOYMENTS, deployment('web', { replicas: 3 }))), '', 'nothing scales it yet')
  t.match(
    await warned(wds.post(AUTOSCALERS, autoscaler('web'))),
    'HorizontalPodAutoscaler "web" scales Deployment "web", and its spec.replicas: 3 undoes that in every cluster; leave spec.replicas out, or name it in spec.ignoreDifferences of the EdgePlacement: { group: "apps", kind: Deployment, jsonPointers: [/spec/replicas] }',
  )
  const change = (spec: object) => warned(wds.patch(`${AUTOSCALERS}/web`, 'merge', { spec }))
  t.equal(await change({ maxReplicas: 7 }), '', 'not again')
  t.equal(await change({ scaleTargetRef: { name: 'nobody' } }), '')
  t.match(await change({ scaleTargetRef: { name: 'web' } }), 'scales Deployment "web"')
  const others = [{ kind: 'Crane' }, { apiVersion: 'v1' }, { apiVersion: 'extensions/v1beta1' }, { name: 'none' }]
  for (const [i, target] of others.entries()) {
    const { spec } = autoscaler('web', target)
    t.equal(await warned(wds.post(AUTOSCALERS, { metadata: { name: `other-${i}` }, spec })), '', JSON.stringify(target))
  }
})

t.test('a workload that an autoscaler scales already', async t => {
  t.equal(await warned(wds.post(AUTOSCALERS, autoscaler('later'))), '')
  t.match(await warned(wds.post(DEPLOYMENTS, deployment('later', { replicas: 2 }))), 'its spec.replicas: 2 undoes that')
  const change = (body: object) => warned(wds.patch(`${DEPLOYMENTS}/later`, 'merge', body))
  t.match(await change({ spec: { replicas: 4 } }), 'its spec.replicas: 4 undoes that')
  t.equal(await change({ metadata: { labels } }), '', 'not again')
})

t.test('what nobody set is the clusters own already', async t => {
  await warned(wds.post(DEPLOYMENTS, deployment('quiet')))
  t.equal(await warned(wds.post(AUTOSCALERS, autoscaler('quiet'))), '')
  await warned(wds.post(AUTOSCALERS, autoscaler('one')))
  t.match(
    await warned(
      wds.patch(`${DEPLOYMENTS}/one?fieldManager=a&force=true`, 'apply', deployment('one', { replicas: 1 })),
    ),
    'its spec.replicas: 1 undoes that',
    'who applies 1 means it',
  )
})

t.test(
  'nobody is warned where the field is left, where nothing is described, or of what they may not read',
  async t => {
    await warned(
      wds.post('/apis/edge.kubestellar.io/v2alpha1/edgeplacements', {
        metadata: { name: 'p' },
        spec: {
          ignoreDifferences: [{ group: 'apps', kind: 'Deployment', name: 'left', jsonPointers: ['/spec/replicas'] }],
        },
      }),
    )
    await warned(wds.post(DEPLOYMENTS, deployment('left', { replicas: 3 })))
    t.equal(await warned(wds.post(AUTOSCALERS, autoscaler('left'))), '')

    const plain = api.in(await createSpace(api, 'plain', 'universal'))
    await warned(plain.post(DEPLOYMENTS, deployment('web', { replicas: 3 })))
    t.equal(await warned(plain.post(AUTOSCALERS, autoscaler('web'))), '')

    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    const acting = (name: string) => ({ name, labels: { 'edge.kubestellar.io/natured': 'true' } })
    const scalers = { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'], verbs: ['*'] }
    await wds.ok(wds.post(`${rbac}/clusterroles`, { metadata: acting('scalers'), rules: [scalers] }))
    for (const name of ['system:kcp:workspace:access', 'scalers'])
      await wds.ok(
        wds.post(`${rbac}/clusterrolebindings`, {
          metadata: acting(name.replaceAll(':', '-')),
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
        }),
      )
    t.equal(
      await warned(wds.as(BOB).post(`${AUTOSCALERS}?dryRun=All`, { ...autoscaler('web'), metadata: { name: 'x' } })),
      '',
    )
  },
)
