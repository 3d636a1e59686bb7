/** Live values of fields that are left to the cluster: named by the placement, or set in the cluster alone. Never another, never a secret. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { threadTimeBound } from '../../../src/apimachinery/threadTime.ts'
import { LEFT_FIELDS_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { liveFields } from '../../../src/syncer/objects/liveFields.ts'

const DEPLOYMENTS = { group: 'apps', resource: 'deployments' }
const deployment = (spec: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', ...metadata },
  spec,
})
const left = (...pointers: string[]) => ({ annotations: { [LEFT_FIELDS_ANNOTATION]: JSON.stringify(pointers) } })
const by = (manager: string, fieldsV1: object, subresource?: string) => ({
  manager,
  operation: 'Update',
  fieldsV1,
  subresource,
})
const REPLICAS = { 'f:spec': { 'f:replicas': {} } }
const scaled = (replicas: number, ...managedFields: object[]) => deployment({ replicas }, { managedFields })
const of = (copy: KubeObject, live: KubeObject, resource = DEPLOYMENTS) => liveFields(resource, copy, live)

t.test('replicas that an autoscaler sets, where the author does not', async t => {
  const hpa = by('kube-controller-manager', REPLICAS, 'scale')
  t.same(of(deployment({}), scaled(5, hpa)), [{ path: 'spec.replicas', live: '5' }])
  t.equal(of(deployment({ replicas: 3 }), scaled(5, hpa)), undefined, 'the author sets them')
  t.equal(of(deployment({}), scaled(1)), undefined, 'a default is nobody’s value')
  t.equal(of(deployment({}), scaled(1, by('kubestellar-syncer', REPLICAS))), undefined)
  t.equal(of(deployment({}), scaled(1, by('kubelet', { 'f:status': {}, ...REPLICAS }, 'status'))), undefined)
  t.equal(of(deployment({}), deployment({}, { managedFields: [hpa] })), undefined, 'what is gone has no value')
})

t.test('fields that the placement leaves, by their pointers', async t => {
  const containers = (image: string) => ({
    template: {
      spec: {
        containers: [
          { name: 'a', image },
          { name: 'b', image: 'b:1' },
        ],
      },
    },
  })
  const copy = (...pointers: string[]) => deployment({ replicas: 3, ...containers('a:1') }, left(...pointers))
  const live = deployment({ replicas: 5, paused: true, ...containers('a:2') })
  const values = (...pointers: string[]) => of(copy(...pointers), live)?.map(({ path, live }) => `${path} ${live}`)
  const at = (which: string) => `/spec/template/spec/containers/${which}/image`
  t.same(values('/spec/replicas'), ['spec.replicas 5'])
  const claimed = { ...live, metadata: { ...live.metadata, managedFields: [by('m', REPLICAS)] } } as KubeObject
  const asWished = deployment({ replicas: 5 }, left('/spec/replicas'))
  t.equal(of(asWished, claimed), undefined, 'whoever set what the author wishes')
  t.same(values(at('[name=a]')), ['spec.template.spec.containers[name=a].image "a:2"'])
  t.same(values(at('[*]')), ['spec.template.spec.containers[name=a].image "a:2"'], 'what is as it was sent is no news')
  t.equal(values(at('[name=c]')), undefined)
  t.equal(values('/spec/template/spec/none/x'), undefined)
  t.equal(values(), undefined, 'nor is another told')
})

t.test('bounds', async t => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, 'x'.repeat(500)]))
  const owned = { 'f:spec': Object.fromEntries(Object.keys(many).map(key => [`f:${key}`, {}])) }
  const told = of(deployment({}), deployment(many, { managedFields: [by('m', owned)] }))
  t.equal(told?.length, 8)
  t.ok(told?.every(({ live }) => live.length <= 80))
})

t.test('what may be secret stays in the cluster, and so does what somebody adds beside the spec', async t => {
  const fields = {
    'f:spec': { 'f:password': {}, 'f:env': { 'k:{"name":"x"}': { 'f:value': {} } }, 'f:note': {}, 'f:odd': {} },
    'f:data': { 'f:x': {} },
    'f:metadata': { 'f:labels': { 'f:x': {} } },
  }
  const env = [{ name: 'x', value: 'y' }]
  const spec = { password: 'a', env, note: 'my token', odd: { toString: 'x' } }
  const live = { ...deployment(spec, { managedFields: [by('m', fields)], labels: { x: 'y' } }), data: { x: 'y' } }
  t.same(of(deployment({}), live), [{ path: 'spec.odd', live: '{"toString":"x"}' }])
  const secret = { ...live, kind: 'Secret', metadata: { ...live.metadata, ...left('/data') } }
  t.equal(of(secret, secret, { group: '', resource: 'secrets' }), undefined)
})

t.test('long lists and many pointers take no longer than their length', async t => {
  const items = Array.from({ length: 20_000 }, (_, i) => ({ name: String(i) }))
  const pointers = Array.from({ length: 100 }, (_, i) => `/spec/items/[*]/v${i}`)
  const wished = [...items, Object.fromEntries([['name', 'last'], ...pointers.map((_, i) => [`v${i}`, 1])])]
  const owned = Object.fromEntries(items.map(({ name }) => [`k:{"name":"${name}"}`, { 'f:name': {} }]))
  const live = deployment({ items: wished }, { managedFields: [by('m', { 'f:spec': { 'f:items': owned } })] })
  const isSlow = threadTimeBound(5_000)
  t.notOk(isSlow())
  t.equal(of(deployment({ items: wished }, left(...pointers)), live), undefined)
  t.notOk(isSlow())
})

t.test('an entry of managedFields without fields sets none', async t => {
  const { fieldsV1: _, ...bare } = by('old', {})
  t.equal(of(deployment({}), scaled(5, bare)), undefined)
})
