// Overrides of a team: replacements and parameters by Location, and patches.

import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { atOnce } from '../../../../src/apimachinery/steps.ts'
import { loadCatalog } from '../../../../src/apiserver/catalog/catalog.ts'
import { customize as customizeInSteps } from '../../../../src/controllers/placement/copies/customize.ts'
import { rulesThere } from '../../../../src/placement/content/customizerRules.ts'

const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const NAMED = { 'edge.kubestellar.io/customizer': 'c' }
const { schemaOf } = loadCatalog()

const location = (name: string, labels: Record<string, string>, annotations = {}): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'Location',
  metadata: { name, labels, annotations },
})
const PROD = location('florin', { env: 'prod', size: 'label' }, { size: 'annotation', note: 'hushhush' })
const TEST = location('guilder', { env: 'test' })

const customizer = (rules: object, annotations = {}): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'Customizer',
  metadata: { name: 'c', namespace: 'web', annotations },
  ...rules,
})
const deployment = (annotations = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'shop', namespace: 'web', labels: { app: 'shop' }, annotations: { ...NAMED, ...annotations } },
  spec: {
    replicas: 1,
    template: {
      spec: {
        containers: [
          { name: 'web', image: 'web:1' },
          { name: 'log', image: 'log:1' },
        ],
      },
    },
  },
})
const made = (by: KubeObject, at: KubeObject | undefined, source = deployment()) => {
  const before = JSON.stringify([source, by])
  const result = atOnce(
    customizeInSteps(source, {
      location: at,
      locationName: at?.metadata.name ?? 'gone',
      customizer: by,
      schema: schemaOf,
    }),
  )
  if (JSON.stringify([source, by]) !== before) throw new Error('what it was made of has changed')
  return result
}
const specOf = ({ object, faults }: ReturnType<typeof made>): unknown => (faults.length > 0 ? faults : object.spec)
const inProd = { locationSelector: { matchLabels: { env: 'prod' } } }
const notInProd = {
  locationSelector: { matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['prod'] }] },
}

t.test('a replacement holds where its locationSelector matches, in the order of the list', async t => {
  const by = customizer({
    replacements: [
      { path: '$.spec.replicas', value: '2' },
      { ...inProd, path: '$.spec.replicas', value: '5' },
      { ...notInProd, path: "$.metadata.labels['tier']", value: '"small"' },
    ],
  })
  t.match(made(by, PROD), { object: { spec: { replicas: 5 }, metadata: { labels: { app: 'shop' } } }, faults: [] })
  t.match(made(by, TEST), { object: { spec: { replicas: 2 }, metadata: { labels: { tier: 'small' } } }, faults: [] })
  t.match(made(by, undefined).faults, [/^Customizer web\/c replacements\[1\]\.locationSelector: the Location is gone/])
})

t.test('parameters of a Customizer come before those of a Location, and of its own the later ones', async t => {
  const source = deployment({ ...EXPAND, size: '%(size)', note: '%(note)', replicas: '%(replicas)' })
  const by = customizer({
    parameters: [
      { values: { replicas: '1', note: 'mine' } },
      { ...inProd, values: { replicas: '7' } },
      { ...notInProd, values: { size: 'own' } },
    ],
  })
  const annotationsAt = (at: KubeObject) => made(by, at, source).object.metadata.annotations
  t.match(annotationsAt(PROD), { size: 'label', note: 'mine', replicas: '7' })
  t.match(annotationsAt(TEST), { size: 'own', note: 'mine', replicas: '1' })
  const less = customizer({ parameters: [{ ...inProd, values: { replicas: '7' } }] })
  t.same(made(less, TEST, deployment({ ...EXPAND, replicas: '%(replicsa) %(replicas)' })).faults, [
    'parameter "replicsa" is not defined in Customizer "web/c" or Location "guilder"; did you mean "replicas"? For the text itself write %%(replicsa)',
    'parameter "replicas" is not defined in Customizer "web/c" or Location "guilder"; for the text itself write %%(replicas)',
  ])
})

t.test('patches in each form, with parameters in their values', async t => {
  const replacements = [
    {
      jsonPatch: [
        { op: 'replace', path: '/spec/replicas', value: 3 },
        { op: 'add', path: '/spec/paused', value: true },
      ],
    },
    { mergePatch: { spec: { paused: null, strategy: { type: 'Recreate' } } } },
    {
      ...inProd,
      strategicMergePatch: {
        spec: {
          template: {
            spec: {
              containers: [
                { name: 'log', $patch: 'delete' },
                { name: 'web', image: 'web:%(v)' },
              ],
            },
          },
        },
      },
    },
  ]
  const by = customizer({ parameters: [{ values: { v: '2' } }], replacements }, EXPAND)
  const containers = deployment().spec as { template: { spec: { containers: unknown[] } } }
  t.same(specOf(made(by, PROD)), {
    replicas: 3,
    strategy: { type: 'Recreate' },
    template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } },
  })
  t.same(specOf(made(by, TEST)), { replicas: 3, strategy: { type: 'Recreate' }, template: containers.template })
})

t.test('what a patch cannot do is reported with its field, and nothing of it is done', async t => {
  const faults = (...replacements: object[]) => made(customizer({ replacements }), PROD).faults
  t.same(
    faults(
      { jsonPatch: [{ op: 'replace', path: '/spec/replicsa', value: 3 }] },
      {
        jsonPatch: [
          { op: 'test', path: '/spec/replicas', value: 2 },
          { op: 'remove', path: '/spec' },
        ],
      },
      { mergePatch: { metadata: { name: 'other' } } },
      { mergePatch: { apiVersion: 'v1' } },
      { strategicMergePatch: { kind: 'Pod' } },
      { strategicMergePatch: { $patch: 'replace', metadata: { name: 'shop', namespace: 'web' } } },
      { jsonPatch: [{ op: 'add', path: '/metadata/annotations/edge.kubestellar.io~1wave', value: '1' }] },
      { mergePatch: { metadata: { annotations: null } } },
      { strategicMergePatch: { metadata: { labels: { 'edge.kubestellar.io/natured': 'true' } } } },
      { jsonPatch: [{ op: 'replace', path: '/metadata', value: 'no' }] },
      { mergePatch: { metadata: { name: 'shop', namespace: 'web' }, kind: 'Deployment', apiVersion: 'apps/v1' } },
      {},
    ),
    [
      'Customizer web/c replacements[0]: jsonPatch: doc is missing path: /spec/replicsa',
      'Customizer web/c replacements[1]: jsonPatch: testing value /spec/replicas failed',
      'Customizer web/c replacements[2]: mergePatch: it changes metadata.name, which no Customizer may',
      'Customizer web/c replacements[3]: mergePatch: it changes apiVersion, which no Customizer may',
      'Customizer web/c replacements[4]: strategicMergePatch: it changes kind, which no Customizer may',
      'Customizer web/c replacements[5]: strategicMergePatch: it changes apiVersion, which no Customizer may',
      'Customizer web/c replacements[6]: jsonPatch: it changes metadata.annotations[edge.kubestellar.io/wave], which no Customizer may',
      'Customizer web/c replacements[7]: mergePatch: it changes metadata.annotations[edge.kubestellar.io/customizer], which no Customizer may',
      'Customizer web/c replacements[8]: strategicMergePatch: it changes metadata.labels[edge.kubestellar.io/natured], which no Customizer may',
      'Customizer web/c replacements[9]: jsonPatch: it changes metadata, which no Customizer may',
      'Customizer web/c replacements[11]: it has neither path and value nor a patch',
    ],
  )
  t.same(
    made(customizer({ replacements: [{ jsonPatch: [{ op: 'remove', path: '/nothing' }] }] }), PROD).object,
    deployment(),
  )
  const crontab = { ...deployment(), apiVersion: 'stable.example.com/v1', kind: 'CronTab' }
  t.same(made(customizer({ replacements: [{ strategicMergePatch: {} }] }), PROD, crontab).faults, [
    'Customizer web/c replacements[0]: strategicMergePatch: stable.example.com/v1 CronTab has no strategic merge; use mergePatch or jsonPatch for it',
  ])
})

t.test('a fault of a patch says nothing that an annotation of a Location says', async t => {
  const replacements = [{ jsonPatch: [{ op: 'remove', path: '/spec/%(note)' }] }]
  t.same(made(customizer({ replacements }, EXPAND), PROD).faults, [
    'Customizer web/c replacements[0]: jsonPatch does not apply once its parameters are in place',
  ])
  const containers = [{ name: 'web', env: [{ name: 'A', value: '%(note)' }] }]
  const source = { ...deployment(EXPAND), spec: { template: { spec: { containers } } } }
  const unlike = { spec: { template: { spec: { containers: [{ name: 'web', env: ['x'] }] } } } }
  t.same(made(customizer({ replacements: [{ strategicMergePatch: unlike }] }), PROD, source).faults, [
    'Customizer web/c replacements[0]: strategicMergePatch: list element types are not identical',
  ])
})

t.test('patches have bounds of size, depth and work', async t => {
  const copies = Array.from({ length: 256 }, (_, i) => ({ op: 'copy', from: '/spec', path: `/spec/x${i}` }))
  t.match(made(customizer({ replacements: [{ jsonPatch: copies }] }), PROD).faults, [/replacements\[0\]: /])
  let deep: unknown = {}
  for (let i = 0; i < 100_000; i++) deep = { a: deep }
  t.same(made(customizer({ replacements: [{ mergePatch: {} }] }), PROD).faults, [])
  const nested = { apiVersion: 'v1', kind: 'Customizer', metadata: { name: 'c' }, replacements: [{ mergePatch: deep }] }
  const { faults } = atOnce(
    customizeInSteps(deployment(), { location: PROD, locationName: 'florin', customizer: nested, schema: schemaOf }),
  )
  t.same(faults, ['Customizer web/c replacements[0]: mergePatch is nested more than 500 levels deep'])
  const large = { ...deployment(), data: 'x'.repeat(1_000_000) }
  const many = Array.from({ length: 100 }, () => ({ mergePatch: { spec: { replicas: 2 } } }))
  const { faults: tired, work } = made(customizer({ replacements: many }), PROD, large)
  t.match(tired, [/replacements\[\d\]: it takes too much work, so it and all behind it are left out; patch less$/])
  t.ok(work <= 1_000_000, `${work}`)
  const grown = customizer({ replacements: [{ mergePatch: { data: 'x'.repeat(1_600_000) } }] })
  t.match(made(grown, PROD).faults, [/with it the object would have 16\d+ bytes|expanded it is larger/])
})

t.test("patches that take each other's place count once, and rules count whatever they do", async t => {
  const note = (i: number) => ({ mergePatch: { metadata: { annotations: { note: `${i}${'x'.repeat(10_000)}` } } } })
  const replaced = made(customizer({ replacements: Array.from({ length: 100 }, (_, i) => note(i)) }), PROD)
  t.same(replaced.faults, [], 'what is added up is measured before it is refused')
  const one = { path: '$.spec.replicas', value: '2' }
  t.same(made(customizer({ replacements: Array(5000).fill(one) }), PROD).faults, [])
  t.match(made(customizer({ replacements: Array(20_000).fill(one) }), PROD).faults, [/it takes too much work/])
})

t.test('parameters that hold everywhere are gathered once for all Locations, later ones first', t => {
  const of = (...parameters: object[]) => customizer({ parameters, replacements: [] })
  const everywhere = of({ values: { a: '1', b: '2' } }, { values: { a: '3' } })
  const [there, elsewhere] = [PROD, undefined].map(location => rulesThere(everywhere, location).parameters)
  t.equal(there, elsewhere)
  t.same(
    [...there!],
    [
      ['a', '3'],
      ['b', '2'],
    ],
  )
  const some = of({ values: { a: '1' } }, { locationSelector: { matchLabels: { env: 'prod' } }, values: { a: '2' } })
  t.equal(rulesThere(some, PROD).parameters.get('a'), '2')
  t.equal(rulesThere(some, { ...PROD, metadata: { name: 'x' } }).parameters.get('a'), '1')
  t.end()
})
