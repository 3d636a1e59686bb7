/** Custom resources between the store and the version of a request, with and without a webhook that converts. */
import t, { type Test } from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { CustomVersions, ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { decodeObject, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import {
  hasStorageVersion,
  objectFor,
  prepareViews,
  toStored,
  toStoredNow,
  viewBytes,
} from '../../../src/apiserver/registry/views.ts'
import type { Stored } from '../../../src/storage/store.ts'
import { versionOf } from '../../../src/storage/texts.ts'
import { heart, SPACE, widget, widgets } from './support.ts'

const SIZE = { size: { type: 'integer', default: 1 } }

/** The types v1, in which objects are stored, and v2. */
async function types(
  t: Test,
  { v1 = SIZE, v2 = SIZE, ...more }: { v1?: object; v2?: object; generation?: number; storage?: string } = {},
  convert?: CustomVersions['convert'],
): Promise<[ResourceType, ResourceType]> {
  const here = await heart(t, { definitions: [widgets({ v1, v2 }, more)], ...(convert && { convert }) })
  return [here.type('example.com/v1/widgets'), here.type('example.com/v2/widgets')]
}

function stored(object: KubeObject, resource = 'widgets', group = 'example.com'): Stored {
  const key = { space: SPACE, group, resource, namespace: 'n', name: object.metadata.name! }
  return versionOf(key, 7, encodeObject(object))
}

const shown = (object: Stored, type: ResourceType) => JSON.parse(viewBytes(object, type).toString()) as KubeObject

t.test('what is stored as it is served is served as it is stored, to the byte', async t => {
  const [v1] = await types(t)
  const one = stored(widget('v1', 'a', { unknown: 1 }))
  t.equal(viewBytes(one, v1), one.bytes)
  t.ok(hasStorageVersion(one, v1))
})

t.test('another version is a copy under its name, with what its schema knows', async t => {
  const [v1, v2] = await types(t, { v1: { ...SIZE, old: { type: 'string' } } })
  const one = stored(widget('v1', 'a', { size: 2, old: 'x' }, { labels: { a: 'b' } }))
  t.strictSame(shown(one, v2), {
    apiVersion: 'example.com/v2',
    kind: 'Widget',
    metadata: { name: 'a', labels: { a: 'b' }, resourceVersion: '7' },
    size: 2,
  })
  t.match(shown(one, v1), { apiVersion: 'example.com/v1', old: 'x' }, 'the stored one is as it was')
  const mine = objectFor(one, v2)
  mine.size = 9
  t.equal(objectFor(one, v2).size, 2, 'a copy for each')
  const [versionV1, versionV1alpha1] = [widget('v1', 'a'), widget('v1alpha1', 'a')].map(each => stored(each))
  t.ok(hasStorageVersion(versionV1!, v1))
  t.notOk(hasStorageVersion(versionV1alpha1!, v1), 'one version may begin as another one does')
})

t.test('what an older schema let in goes, and what it did not know is filled in, once the CRD has changed', async t => {
  const old = stored(widget('v1', 'a', { gone: 'x' }))
  const fine = stored(widget('v1', 'b', { size: 3 }))
  const [first] = await types(t, { generation: 1 })
  t.equal(viewBytes(old, first), old.bytes, 'nobody looks where nothing can be old')
  const [v1, v2] = await types(t, { generation: 2 })
  t.match(shown(old, v1), { size: 1, gone: undefined })
  t.equal(viewBytes(old, v1), viewBytes(old, v1), 'worked out once')
  t.equal(viewBytes(fine, v1), fine.bytes)
  t.match(shown(old, v2), { apiVersion: 'example.com/v2', size: 1, gone: undefined })
})

t.test('defaults of a version that is not stored wait for its writers', async t => {
  const [, v2] = await types(t, { v1: { size: { type: 'integer' } }, v2: SIZE, generation: 2 })
  t.notOk('size' in shown(stored(widget('v1', 'a')), v2))
})

t.test('what goes into the store is in the version of the store, pruned by its schema', async t => {
  const [v1, v2] = await types(t, { v2: { ...SIZE, recent: { type: 'string' } } })
  const asked = widget('v2', 'a', { size: 2, recent: 'x' })
  const kept = toStoredNow(asked, v2)
  t.strictSame(kept, widget('v1', 'a', { size: 2 }))
  t.equal(asked.recent, 'x', 'the answer to the writer is their own')
  const own = widget('v1', 'a')
  t.equal(toStoredNow(own, v1), own, 'nothing to do, nothing is copied')
})

t.test('built-in kinds are served in other versions than that of the store', async t => {
  const here = await heart(t)
  const v1 = here.type('autoscaling/v1/horizontalpodautoscalers')
  const v2 = here.type('autoscaling/v2/horizontalpodautoscalers')
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
  ]
  const one = stored(
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, metrics },
    },
    'horizontalpodautoscalers',
    'autoscaling',
  )
  t.equal(viewBytes(one, v2), one.bytes)
  t.match(shown(one, v1), { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 60 } })
  t.match(decodeObject(one), { apiVersion: 'autoscaling/v2', spec: { metrics } })
})

t.test('with a webhook', async t => {
  const asked: string[] = []
  let broken: StatusError | undefined
  const convert: CustomVersions['convert'] = async (objects, apiVersion) => {
    asked.push(`${objects.map(({ metadata }) => metadata.name).join()} to ${apiVersion}`)
    if (broken) throw broken
    return objects.map(object => ({ ...structuredClone(object), apiVersion, by: 'webhook', unknown: 1 }))
  }
  const schema = { ...SIZE, by: { type: 'string' } }

  await t.test('those that need it are converted in one request, once', async t => {
    const [v1, v2] = await types(t, { v1: schema, v2: schema }, convert)
    const [a, b] = ['a', 'b'].map(name => stored(widget('v1', name, { size: 2 })))
    const c = stored(widget('v2', 'c'))
    await prepareViews([a!, c], v2)
    await prepareViews([a!, b!, c], v2)
    t.strictSame(asked.splice(0), ['a to example.com/v2', 'b to example.com/v2'])
    t.equal(prepareViews([a!, b!, c], v2), undefined, 'then there is nothing to wait for')
    t.equal(prepareViews([a!, b!], v1), undefined)
    t.match(shown(b!, v2), { apiVersion: 'example.com/v2', by: 'webhook', size: 2, unknown: undefined })
    t.equal(viewBytes(c, v2), c.bytes)
    t.match(objectFor(a!, v2), { by: 'webhook' })
  })

  await t.test('of many, and of large ones, some are converted at a time', async t => {
    const [, v2] = await types(t, { v1: schema, v2: schema }, convert)
    const many = Array.from({ length: 450 }, (_, i) => stored(widget('v1', `w${i}`)))
    await prepareViews(many, v2)
    t.strictSame(
      asked.splice(0).map(words => words.split(',').length),
      [200, 200, 50],
    )
    const large = ['a', 'b', 'c'].map(name => stored(widget('v1', name, { by: 'x'.repeat(300 * 1024) })))
    await prepareViews(large, v2)
    t.strictSame(
      asked.splice(0),
      ['a', 'b', 'c'].map(name => `${name} to example.com/v2`),
    )
    for (const each of [...many, ...large]) t.match(shown(each, v2), { by: 'webhook' })
  })

  await t.test('it gets what the schema of the stored version says today', async t => {
    const seen: KubeObject[] = []
    const [, v2] = await types(t, { generation: 2, v2: schema }, async (objects, apiVersion) => {
      seen.push(...structuredClone(objects))
      return objects.map(object => ({ ...object, apiVersion }))
    })
    await prepareViews([stored(widget('v1', 'a', { gone: 'x' }))], v2)
    t.match(seen, [{ size: 1, gone: undefined }])
  })

  await t.test('nothing unconverted is shown as if it were', async t => {
    const [, v2] = await types(t, { v1: schema, v2: schema }, convert)
    const a = stored(widget('v1', 'a'))
    t.throws(() => viewBytes(a, v2), { message: 'Widget a was not converted to example.com/v2 beforehand' })
    broken = new StatusError('InternalError', 'the webhook is away')
    await t.rejects(async () => await prepareViews([a], v2), { message: 'the webhook is away' })
    broken = undefined
    asked.splice(0)
    await prepareViews([a], v2)
    t.strictSame(asked.splice(0), ['a to example.com/v2'], 'a failure is not remembered')
  })

  await t.test('it converts what goes into the store', async t => {
    const [v1, v2] = await types(t, { v1: schema, v2: schema }, convert)
    const asking = toStored(widget('v2', 'a', { size: 2 }), v2)
    t.ok(asking instanceof Promise)
    t.strictSame(await asking, widget('v1', 'a', { size: 2, by: 'webhook' }), 'pruned as the store has it')
    t.strictSame(asked.splice(0), ['a to example.com/v1'])
    const own = widget('v1', 'a')
    t.equal(toStored(own, v1), own)
    t.throws(() => toStoredNow(widget('v2', 'a'), v2), { message: /must be converted by its webhook/ })
    asked.splice(0)
  })
})
