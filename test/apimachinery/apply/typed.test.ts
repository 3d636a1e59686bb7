import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { toFieldsV1 } from '../../../src/apimachinery/apply/fieldSet.ts'
import {
  compare,
  compareInSteps,
  fieldSetOf,
  fitToSchema,
  merge,
  removeFields,
  typeErrors,
} from '../../../src/apimachinery/apply/typed.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import * as fc from '../../support/fastCheck.ts'
import { deployment, deploymentSchema } from './deploymentSchema.ts'

const object = (spec: unknown, metadata: Record<string, unknown> = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default', ...metadata },
  spec,
})
const fields = (spec: unknown, schema: Schema | undefined, metadata = {}) =>
  toFieldsV1(fieldSetOf(object(spec, metadata), schema))

t.test('an applied configuration owns its leaves, list elements and map keys, not its identity', async t => {
  t.strictSame(
    fields(
      {
        replicas: 1,
        selector: { matchLabels: { a: 'b' } },
        strategy: { rollingUpdate: { maxSurge: 1 } },
        template: {
          spec: {
            containers: [{ name: 'a', args: ['x'], ports: [{ containerPort: 80 }], resources: {} }],
            tolerations: [{ key: 'a' }],
          },
        },
      },
      deploymentSchema,
      {
        labels: { a: 'b' },
        annotations: { 'kcp.io/cluster': 'root' },
        finalizers: ['a/b'],
        uid: 'u',
        resourceVersion: '1',
        generation: 1,
        creationTimestamp: '2026-01-01T00:00:00Z',
        generateName: 'w',
      },
    ),
    {
      'f:metadata': { 'f:finalizers': { 'v:"a/b"': {} }, 'f:generateName': {}, 'f:labels': { 'f:a': {} } },
      'f:spec': {
        'f:replicas': {},
        'f:selector': {},
        'f:strategy': { 'f:rollingUpdate': { 'f:maxSurge': {} } },
        'f:template': {
          'f:spec': {
            'f:containers': {
              'k:{"name":"a"}': {
                '.': {},
                'f:args': {},
                'f:name': {},
                'f:ports': {
                  'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
                },
                'f:resources': {},
              },
            },
            'f:tolerations': {},
          },
        },
      },
    },
  )
})

t.test('without a schema maps are owned by member and lists as a whole', async t => {
  t.strictSame(fields({ a: { b: 1 }, c: [{ name: 'x' }] }, undefined), {
    'f:spec': { '.': {}, 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} },
  })
})

t.test('comparing tells added, changed and removed fields', async t => {
  const before = object({ replicas: 1, template: { spec: { containers: [{ name: 'a', image: '1' }, { name: 'b' }] } } })
  const after = object({ replicas: 2, template: { spec: { containers: [{ name: 'c' }, { name: 'a', image: '1' }] } } })
  const { added, modified, removed } = compare(before, after, deploymentSchema)
  const below = (trie: unknown) => ({ 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': trie } } } })
  t.strictSame(toFieldsV1(added), below({ 'k:{"name":"c"}': { '.': {}, 'f:name': {} } }))
  t.strictSame(toFieldsV1(modified), { 'f:spec': { 'f:replicas': {} } })
  t.strictSame(toFieldsV1(removed), below({ 'k:{"name":"b"}': { '.': {}, 'f:name': {} } }))
})

t.test('what only the server writes is no difference', async t => {
  const { added, modified, removed } = compare(
    object({}, { annotations: { 'kcp.io/cluster': 'a' } }),
    object(
      {},
      { uid: 'u', generation: 2, resourceVersion: '5', managedFields: [{}], annotations: { 'kcp.io/cluster': 'b' } },
    ),
    deploymentSchema,
  )
  t.strictSame([added, modified, removed].map(toFieldsV1), [{}, {}, {}])
})

t.test('live objects with duplicate or keyless elements can still be compared', async t => {
  const containers = (...list: unknown[]) => object({ template: { spec: { containers: list } } })
  const twice = containers({ name: 'a' }, { name: 'a', image: '1' })
  const { modified } = compare(twice, containers({ name: 'a' }), deploymentSchema)
  t.strictSame(toFieldsV1(modified), {
    'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': {} } } } },
  })
  t.strictSame(toFieldsV1(compare(containers({}), containers({ image: '1' }), deploymentSchema).modified), {
    'f:spec': { 'f:template': { 'f:spec': { 'f:containers': {} } } },
  })
})

t.test('merging keeps live fields, takes applied ones, and interleaves lists by their shared elements', async t => {
  const names = (live: string, applied: string) => {
    const list = (text: string) => object({ template: { spec: { containers: [...text].map(name => ({ name })) } } })
    const merged = merge(list(live), list(applied), deploymentSchema) as unknown as {
      spec: { template: { spec: { containers: { name: string }[] } } }
    }
    return merged.spec.template.spec.containers.map(c => c.name).join('')
  }
  t.equal(names('abc', 'd'), 'abcd')
  t.equal(names('abc', 'dc'), 'abdc')
  t.equal(names('abc', 'ca'), 'bca')
  t.equal(names('', 'ba'), 'ba')
  t.equal(names('ab', ''), 'ab')
  t.equal(names('axb', 'bya'), 'xbya')

  const live = object({ replicas: 1, paused: true, selector: { matchLabels: { a: '1' } } }, { labels: { a: '1' } })
  const applied = object({ replicas: 2, paused: null, selector: { matchLabels: { b: '1' } } }, { labels: { b: '2' } })
  const frozen = JSON.stringify([live, applied])
  t.strictSame(merge(live, applied, deploymentSchema), {
    ...object({ replicas: 2, selector: { matchLabels: { b: '1' } } }, { labels: { a: '1', b: '2' } }),
  })
  t.equal(JSON.stringify([live, applied]), frozen)
})

t.test("removing an object's own fields leaves its identity and its structs", async t => {
  const full = deployment()
  const bare = removeFields(full, fieldSetOf(full, deploymentSchema), deploymentSchema) as typeof full
  t.equal(bare.metadata.name, 'web')
  t.strictSame(bare.metadata.labels, {})
  t.strictSame(bare.spec, {
    strategy: { rollingUpdate: {} },
    template: { metadata: { labels: {} }, spec: { containers: [] } },
  })
})

t.test('a configuration that is not of its kind is told where, in the words of kube-apiserver', async t => {
  const container = (value: unknown) => object({ template: { spec: { containers: value } } })
  const cases: [unknown, string[]][] = [
    [object({ replicass: 1 }), ['.spec.replicass: field not declared in schema']],
    [object({ template: 5 }), ['.spec.template: expected map, got &{5}']],
    [container({ a: 1 }), ['.spec.template.spec.containers: expected list, got &{map[a:1]}']],
    [object({ replicas: 'x' }), ['.spec.replicas: expected numeric (int or float), got string']],
    [
      container([{ name: 'a' }, { name: 'a' }]),
      ['.spec.template.spec.containers: duplicate entries for key [name="a"]'],
    ],
    [
      container([{ name: 'a', ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP' }] }]),
      ['.spec.template.spec.containers[name="a"].ports: duplicate entries for key [containerPort=80,protocol="TCP"]'],
    ],
    [
      container([{ image: 'a' }]),
      [
        '.spec.template.spec.containers: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
      ],
    ],
    [object({}, { finalizers: ['x', 'x'] }), ['.metadata.finalizers: duplicate entries for key [="x"]']],
    [object({ replicas: null, strategy: { rollingUpdate: { maxSurge: '25%' } } }), []],
    [deployment(), []],
  ]
  for (const [value, errors] of cases)
    t.strictSame(typeErrors(value as Record<string, unknown>, deploymentSchema), errors)
})

t.test('claims below what has become one leaf become claims on the leaf', async t => {
  const before = fieldSetOf({ spec: { selector: { matchLabels: { a: 'b' } }, replicas: 1 } }, undefined)
  t.strictSame(toFieldsV1(fitToSchema(before, deploymentSchema)), {
    'f:spec': { '.': {}, 'f:replicas': {}, 'f:selector': {} },
  })
})

const annotationsOf = fc.option(
  fc.record(
    { 'kcp.io/cluster': fc.constantFrom('a', 'b'), x: fc.constantFrom('1', '2'), y: fc.constant('3') },
    { requiredKeys: [] },
  ),
  { nil: undefined },
)
const metadataOf = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    uid: fc.constantFrom('u', 'v'),
    annotations: annotationsOf,
    labels: fc.option(fc.dictionary(fc.constantFrom('l', 'm'), fc.constantFrom('1', '2')), { nil: undefined }),
    finalizers: fc.array(fc.constantFrom('f', 'g'), { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const anyOf = fc.record(
  {
    apiVersion: fc.constant('v1'),
    metadata: fc.option(metadataOf, { nil: undefined }),
    spec: fc.constantFrom({ replicas: 1 }, { replicas: 2 }, {}),
  },
  { requiredKeys: [] },
)

t.test('what nobody can own is passed over, however that is done', async () => {
  fc.assert(
    fc.property(anyOf, anyOf, (before, after) =>
      isDeepStrictEqual(
        compare(before, after, deploymentSchema),
        atOnce(compareInSteps(before, after, deploymentSchema)),
      ),
    ),
    { numRuns: 2000 },
  )
})
