// Pointers to fields that a placement leaves to the clusters: which there are, and what they lead to.
import t from 'tap'
import { fromFieldsV1, toFieldsV1 } from '../../../src/apimachinery/apply/fieldSet.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import {
  leftFieldsOf,
  leftFieldsText,
  leftIn,
  MAX_POINTER_LENGTH,
  MAX_POINTERS,
  parsePointer,
  pointerProblem,
  withoutFields,
} from '../../../src/placement/content/leftFields.ts'

const LEFT = 'edge.kubestellar.io/left-fields'
const web = (): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    labels: { team: 'a', 'edge.kubestellar.io/projected': 'yes' },
    annotations: { 'example.com/x': '1', other: '2' },
  },
  spec: {
    replicas: 3,
    strategy: { rollingUpdate: { maxSurge: 1 }, type: 'RollingUpdate' },
    containers: [
      { name: 'web', image: 'a', ports: [{ containerPort: 80, protocol: 'TCP', hostPort: 1 }] },
      { name: 'side', image: 'b' },
    ],
    args: ['x'],
  },
})
const pointers = (...texts: string[]) => texts.map(text => parsePointer(text)!)
const left = (...texts: string[]) => withoutFields(web(), pointers(...texts))

t.test('what is no pointer to a field that can be left is told with the remedy', async t => {
  const wrong: [string, RegExp][] = [
    ['', /begins with "\/"/],
    ['spec/replicas', /such as \/spec\/replicas/],
    ['.spec.replicas', /begins with "\/"/],
    [`/spec/${'x'.repeat(MAX_POINTER_LENGTH)}`, /longer than 256/],
    ['/spec/a~b', /~0.*~1/],
    ['/spec//a', /empty part/],
    ['/spec/', /empty part/],
    ['/', /empty part/],
    ['/kind', /what the object is/],
    ['/status/replicas', /status/],
    ['/metadata', /only labels and annotations/],
    ['/metadata/name', /only labels and annotations/],
    ['/metadata/ownerReferences', /only labels and annotations/],
    ['/metadata/labels/a/b', /names no label; write "\/" in its name as ~1/],
    ['/metadata/labels/edge.kubestellar.io~1projected', /leave it out/],
    ['/metadata/annotations/internal.kcp.io~1x', /leave it out/],
    ['/spec/containers/0/image', /place in a list.*\[name=web\]/],
    ['/spec/containers/[0]/image', /names no element/],
    ['/spec/containers/[name]/image', /names no element/],
    ['/spec/containers/[name=web]/name', /which element it is/],
    ['/[name=web]', /begin with a field/],
  ]
  for (const [pointer, why] of wrong) {
    t.match(pointerProblem(pointer), why, pointer)
    t.equal(parsePointer(pointer), undefined)
  }
  const right = [
    '/spec',
    '/spec/replicas',
    '/data/8080',
    '/metadata/labels',
    '/metadata/labels/[x=y]',
    '/metadata/annotations/example.com~1x',
    '/webhooks/[*]/clientConfig/caBundle',
    '/spec/ports/[port=80,protocol=TCP]/nodePort',
    '/spec/m~0x',
  ]
  for (const pointer of right) t.equal(pointerProblem(pointer), undefined, pointer)
})

t.test('fields are left out, and nothing else', async t => {
  const before = web()
  const { replicas: _replicas, ...others } = before.spec as Record<string, unknown>
  t.same(left('/spec/replicas').spec, others)
  t.same(before, web(), 'what it is made of stays')
  t.same(left('/spec/nothing/there', '/data/x', '/spec/args/[*]/x', '/spec/replicas/x'), web())
  t.same((left('/spec/strategy/rollingUpdate').spec as { strategy: unknown }).strategy, { type: 'RollingUpdate' })
})

t.test('elements of lists are found by their keys', async t => {
  const containers = (...texts: string[]) => (left(...texts).spec as { containers: unknown[] }).containers
  t.same(containers('/spec/containers/[name=side]'), [(web().spec as { containers: unknown[] }).containers[0]])
  t.match(containers('/spec/containers/[*]/image'), [{ name: 'web', image: undefined }, { name: 'side' }])
  t.same(containers('/spec/containers/[name=web]/ports/[containerPort=80,protocol=TCP]/hostPort'), [
    { name: 'web', image: 'a', ports: [{ containerPort: 80, protocol: 'TCP' }] },
    { name: 'side', image: 'b' },
  ])
})

t.test('labels and annotations can be left, but for what marks the object', async t => {
  const { metadata } = left('/metadata/labels', '/metadata/annotations/example.com~1x')
  t.same(metadata.labels, { 'edge.kubestellar.io/projected': 'yes' })
  t.same(metadata.annotations, { other: '2' })
})

t.test('the paths that a pointer leads to, and those beyond it', async t => {
  const set = fromFieldsV1({
    'f:spec': {
      'f:replicas': {},
      'f:containers': {
        'k:{"name":"side"}': { '.': {}, 'f:image': {}, 'f:name': {} },
        'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:name': {} },
      },
    },
  })
  t.same(toFieldsV1(leftIn(set, pointers('/spec/containers/[name=web]/image', '/spec/none'))), {
    'f:spec': { 'f:containers': { 'k:{"name":"web"}': { 'f:image': {} } } },
  })
  t.same(toFieldsV1(leftIn(set, pointers('/spec'))), toFieldsV1(set))
  t.same(toFieldsV1(leftIn(set, pointers('/spec/containers/[*]/image'))), {
    'f:spec': {
      'f:containers': { 'k:{"name":"side"}': { 'f:image': {} }, 'k:{"name":"web"}': { 'f:image': {} } },
    },
  })
})

t.test('a copy says it in one order, each once, and not more than is looked at', async t => {
  t.equal(leftFieldsText([]), undefined)
  t.equal(leftFieldsText(['/b', '/a', '/b']), '["/a","/b"]')
  const many = Array.from({ length: MAX_POINTERS + 5 }, (_, i) => `/spec/f${i}`)
  const said = (text: string | undefined): KubeObject => ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: text === undefined ? {} : { annotations: { [LEFT]: text } },
  })
  t.equal(leftFieldsOf(said(leftFieldsText(many))).length, MAX_POINTERS)
  t.same(leftFieldsOf(said('["/kind","/spec/a",7]')), [[{ member: 'spec' }, { member: 'a' }]])
  t.same(leftFieldsOf(said('{')), [])
  t.same(leftFieldsOf(said(undefined)), [])
})
