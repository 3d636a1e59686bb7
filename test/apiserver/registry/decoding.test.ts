/** Path of a client's body before it is judged: read, converted, filled in; and the error where that fails. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { UpdateOptions } from '../../../src/apiserver/registry/preparation.ts'
import { asking, claims, configMap, deployment, type Heart, heart, objectOf, widget, widgets } from './support.ts'

const scaler = (version: string, spec: object): KubeObject => ({
  apiVersion: `autoscaling/${version}`,
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'h' },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3, ...spec },
})

t.test('fields that nobody knows', async t => {
  const here = await heart(t)
  const type = here.type('v1/configmaps')
  const sent = (name: string): KubeObject => ({ ...configMap(name, { a: '1' }), colour: 'red', size: 2 })
  const strict = asking({ fieldValidation: 'Strict' })
  await t.rejects(here.registry.create(strict, type, 'n', sent('c')), {
    reason: 'BadRequest',
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "colour", unknown field "size"',
  })
  t.equal(here.store.revision, 0)
  const warn = asking({ fieldValidation: 'Warn' })
  const made = objectOf(await here.registry.create(warn, type, 'n', sent('c')))
  t.strictSame(warn.warnings, ['unknown field "colour"', 'unknown field "size"'])
  t.notOk('colour' in made)
  const ignore = asking({ fieldValidation: 'Ignore' })
  const { colour, data } = objectOf(await here.registry.create(ignore, type, 'n', sent('d')))
  t.strictSame([colour, data, ignore.warnings], [undefined, { a: '1' }, []])
  const replacement = (): KubeObject => sent('c')
  await t.rejects(here.registry.update(strict, type, 'n', 'c', { replacement }), { message: /strict decoding error/ })
  await t.rejects(here.registry.update(strict, type, 'n', 'c', { replacement }, { fromPatch: {} }), {
    reason: 'Invalid',
    message: /patch: Invalid value: strict decoding error: unknown field "colour"/,
  })
})

t.test('what the request says twice is told beside', async t => {
  const { registry, type } = await heart(t)
  const findings = (unknown: readonly string[]): string[] => ['key "a" already set', ...unknown]
  const warn = asking({ fieldValidation: 'Warn', findings })
  await registry.create(warn, type('v1/configmaps'), 'n', configMap('c'))
  t.strictSame(warn.warnings, ['key "a" already set'])
})

t.test('fields of a wrong type', async t => {
  const here: Heart = await heart(t)
  const type = here.type('apps/v1/deployments')
  const sent = (): KubeObject => deployment('d', { replicas: 'three' })
  const wrong = /json: cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32/
  await t.rejects(here.registry.create(asking(), type, 'n', sent()), { reason: 'BadRequest', message: wrong })
  t.equal(here.store.revision, 0)
  await here.registry.create(asking(), type, 'n', deployment('d'))
  const put = (options: UpdateOptions) => here.registry.update(asking(), type, 'n', 'd', { replacement: sent }, options)
  await t.rejects(put({}), { reason: 'BadRequest', message: wrong }, 'a body is a bad request')
  await t.rejects(put({ fromPatch: { shown: () => 'the patch' } }), {
    reason: 'Invalid',
    message: / is invalid: patch: Invalid value: "the patch": json: cannot unmarshal/,
  })
  t.equal(here.store.revision, 1)
})

t.test('null and nothing are as if they were not said', async t => {
  const { registry, type } = await heart(t)
  const sent = { ...configMap('c', { a: '1' }, { labels: {}, annotations: null }), binaryData: null, immutable: null }
  const made = objectOf(await registry.create(asking(), type('v1/configmaps'), 'n', sent))
  t.strictSame(Object.keys(made).sort(), ['apiVersion', 'data', 'kind', 'metadata'])
  t.notOk('labels' in made.metadata || 'annotations' in made.metadata)
})

t.test('defaults are filled in, also of what an update leaves out, and are no change', async t => {
  const { registry, type, store } = await heart(t)
  const deployments = type('apps/v1/deployments')
  const made = objectOf(await registry.create(asking(), deployments, 'n', deployment('d')))
  t.match(made.spec, { replicas: 1, strategy: { type: 'RollingUpdate' } })
  const replacement = (): KubeObject => deployment('d')
  const { stored } = await registry.update(asking(), deployments, 'n', 'd', { replacement })
  t.strictSame([stored.revision, store.revision], [1, 1])
})

t.test('built-in kinds are stored in one version, whatever the request speaks', async t => {
  const here = await heart(t)
  const v1 = here.type('autoscaling/v1/horizontalpodautoscalers')
  const v2 = here.type('autoscaling/v2/horizontalpodautoscalers')
  const made = objectOf(
    await here.registry.create(asking(), v1, 'n', scaler('v1', { targetCPUUtilizationPercentage: 60 })),
  )
  const target = { type: 'Utilization', averageUtilization: 60 }
  t.match(made, {
    apiVersion: 'autoscaling/v2',
    spec: { minReplicas: 1, metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] },
  })
  t.match(claims(made)[0], /autoscaling\/v1: .*\.spec\.targetCPUUtilizationPercentage/)

  let shown: KubeObject | undefined
  const change = (current: KubeObject): KubeObject => {
    shown = structuredClone(current)
    Object.assign(current.spec as object, { targetCPUUtilizationPercentage: 70 })
    return current
  }
  await here.registry.update(asking(), v1, 'n', 'h', change)
  t.match(shown, { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 60 } })
  const now = await here.stored(v2, 'n', 'h')
  t.match(now, { spec: { metrics: [{ resource: { target: { averageUtilization: 70 } } }] } })
  t.notOk('targetCPUUtilizationPercentage' in (now!.spec as object))
  await here.registry.update(asking(), v1, 'n', 'h', current => current)
  t.equal(here.store.revision, 2, 'there and back is no change')
})

t.test('custom resources: the schema of the version of the request reads, fills in and judges', async t => {
  const v1 = { size: { type: 'integer', default: 1, maximum: 9 }, old: { type: 'string' } }
  const v2 = { size: { type: 'integer', default: 2 }, recent: { type: 'string' } }
  const here = await heart(t, { definitions: [widgets({ v1, v2 })] })
  const [one, two] = [here.type('example.com/v1/widgets'), here.type('example.com/v2/widgets')]
  await here.registry.create(asking(), one, 'n', widget('v1', 'a', { old: 'x', recent: 'y' }))
  t.match(await here.stored(one, 'n', 'a'), { apiVersion: 'example.com/v1', size: 1, old: 'x', recent: undefined })
  await here.registry.create(asking(), two, 'n', widget('v2', 'b', { old: 'x', recent: 'y' }))
  const b = await here.stored(one, 'n', 'b')
  t.match(b, { apiVersion: 'example.com/v1', size: 2 }, 'stored in the version of the store')
  t.notOk('recent' in b!, 'which has no such field')
  const big = (version: string) => widget(version, 'c', { size: 10 })
  await t.rejects(here.registry.create(asking(), one, 'n', big('v1')), {
    reason: 'Invalid',
    message: /^Widget\.example\.com "c" is invalid: size: Invalid value: 10: /,
  })
  await here.registry.create(asking(), two, 'n', big('v2'))
})

t.test(
  'a custom resource in an older version of the store is written anew by a write that changes nothing',
  async t => {
    const version = { size: { type: 'integer' } }
    const here = await heart(t, { definitions: [widgets({ v1: version, v2: version })] })
    await here.registry.create(asking(), here.type('example.com/v1/widgets'), 'n', widget('v1', 'a', { size: 1 }))
    here.redefine(widgets({ v1: version, v2: version }, { storage: 'v2', generation: 2 }))
    const type = here.type('example.com/v1/widgets')
    for (let i = 0; i < 2; i++) await here.registry.update(asking(), type, 'n', 'a', current => current)
    t.match(await here.stored(type, 'n', 'a'), { apiVersion: 'example.com/v2', size: 1 })
    t.equal(here.store.revision, 2, 'once')
  },
)

t.test('the space is shown on what it holds, whatever the client says', async t => {
  const { registry, type, store } = await heart(t, { deps: { annotateSpace: true } })
  const configMaps = type('v1/configmaps')
  const annotations = { 'kcp.io/cluster': 'elsewhere', mine: 'yes' }
  const made = objectOf(await registry.create(asking(), configMaps, 'n', configMap('c', { a: '1' }, { annotations })))
  t.strictSame(made.metadata.annotations, { 'kcp.io/cluster': 'root', mine: 'yes' })
  const replacement = (): KubeObject => configMap('c', { a: '1' }, { annotations: { mine: 'yes' } })
  await registry.update(asking(), configMaps, 'n', 'c', { replacement })
  t.equal(store.revision, 1, 'who does not say it takes nothing away')
})
