/** Autoscalers are written in v1 and v2, which call fields differently: claims keep their version, and meet all the same. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const path = (version: string, name = ''): string =>
  `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers${name && `/${name}`}`
const scaler = (version: string, name: string, spec: object): object => ({
  apiVersion: `autoscaling/${version}`,
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec,
})
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})
/** `manager version: fields of the spec`, sorted. */
const claims = ({ metadata }: KubeObject): string[] =>
  (metadata.managedFields ?? [])
    .map(({ manager, apiVersion, fieldsV1 }) => {
      const spec = ((fieldsV1 ?? {}) as Record<string, object>)['f:spec'] ?? {}
      return `${manager} ${apiVersion}: ${Object.keys(spec).sort().join(' ')}`
    })
    .sort()
const apply = (version: string, name: string, manager: string, spec: object, force = false) =>
  api.patch(`${path(version, name)}?fieldManager=${manager}&force=${force}`, 'apply', scaler(version, name, spec))

t.test('who writes in a version claims its fields, and takes over what others said in another', async t => {
  const made = await api.ok(
    api.post(
      `${path('v2')}?fieldManager=two`,
      scaler('v2', 'a', { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics: [cpu(50)] }),
    ),
  )
  t.strictSame(claims(made), ['two autoscaling/v2: f:maxReplicas f:metrics f:minReplicas f:scaleTargetRef'])
  const spec = { targetCPUUtilizationPercentage: 60, maxReplicas: 4 }
  const changed = await api.ok(api.patch(`${path('v1', 'a')}?fieldManager=one`, 'merge', { spec }))
  t.strictSame(claims(changed), [
    'one autoscaling/v1: f:maxReplicas f:targetCPUUtilizationPercentage',
    'two autoscaling/v2: f:minReplicas f:scaleTargetRef',
  ])
  const back = await api.ok(api.patch(`${path('v2', 'a')}?fieldManager=two`, 'merge', { spec: { metrics: [cpu(70)] } }))
  t.strictSame(claims(back), [
    'one autoscaling/v1: f:maxReplicas',
    'two autoscaling/v2: f:metrics f:minReplicas f:scaleTargetRef',
  ])
})

t.test('an apply in one version meets what was applied in another', async t => {
  await api.ok(apply('v2', 'b', 'two', { scaleTargetRef, maxReplicas: 3, metrics: [cpu(50)] }))
  const refused = await apply('v1', 'b', 'one', { targetCPUUtilizationPercentage: 60 })
  t.match(refused, { code: 409, body: { reason: 'Conflict' } })
  t.match(refused.body.message, /conflict with "two": \.spec\.metrics/)
  t.equal((await apply('v1', 'b', 'one', { targetCPUUtilizationPercentage: 50 })).code, 200, 'the same value is shared')
  const forced = await api.ok(apply('v1', 'b', 'one', { targetCPUUtilizationPercentage: 60, minReplicas: 2 }, true))
  t.strictSame(claims(forced), [
    'one autoscaling/v1: f:minReplicas f:targetCPUUtilizationPercentage',
    'two autoscaling/v2: f:maxReplicas f:scaleTargetRef',
  ])
  t.match((await api.ok(api.get(path('v2', 'b')))).spec, { metrics: [cpu(60)], minReplicas: 2 })
})

t.test(
  'what an applier gives up stays when somebody owns it in another version, and goes when nobody does',
  async t => {
    const all = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 }
    await api.ok(apply('v1', 'c', 'one', { ...all, minReplicas: 2 }))
    await api.ok(apply('v2', 'c', 'two', { metrics: [cpu(50)] }))
    const rest = { scaleTargetRef, maxReplicas: 3 }
    const left = await api.ok(apply('v1', 'c', 'one', rest))
    t.match(left.spec, { targetCPUUtilizationPercentage: 50, minReplicas: 1 }, 'owned in v2; and the default')
    t.strictSame(claims(left), ['one autoscaling/v1: f:maxReplicas f:scaleTargetRef', 'two autoscaling/v2: f:metrics'])
    const gone = await api.ok(apply('v2', 'c', 'two', {}))
    t.notOk(JSON.stringify(gone.spec).includes('"averageUtilization":50'))
  },
)

t.test('claims in a version that nobody serves end with the next write', async t => {
  const fieldsV1 = { 'f:spec': { 'f:maxReplicas': {} } }
  const old = {
    manager: 'old',
    operation: 'Update',
    apiVersion: 'autoscaling/v2beta1',
    fieldsType: 'FieldsV1',
    fieldsV1,
  }
  await api.ok(api.post(path('v2'), scaler('v2', 'd', { scaleTargetRef, maxReplicas: 3 })))
  await api.ok(api.patch(path('v2', 'd'), 'merge', { metadata: { managedFields: [old] } }))
  const changed = await api.ok(api.patch(`${path('v2', 'd')}?fieldManager=new`, 'merge', { spec: { maxReplicas: 4 } }))
  t.strictSame(claims(changed), ['new autoscaling/v2: f:maxReplicas'])
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
