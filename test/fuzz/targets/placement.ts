/** Parameters, Customizers and selectors at random, of a space that places on clusters of its own. */
import fc from 'fast-check'
import { hostileText } from '../hostile.ts'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

const VERSION = 'edge.kubestellar.io/v2alpha1'
const EDGE = `/apis/${VERSION}`
const FIELDS = 'application/apply-patch+yaml'

const parameter = fc.oneof(hostileText, fc.constantFrom('%(a)', '%(b)%(b)', '%(', '%%(a)', 'x'.repeat(16_000)))
const step = fc.oneof(
  fc.constantFrom('.*', '..*', '.data', '.data.*', "['a']", '[0]', '[*]', '[-1:]', '[?(@.a==1)]', '..a', '.metadata'),
  fc.constantFrom('.spec', '.metadata.name', '[0:1000000]', '[?(@..*)]', "['a','b']", '.', '[', '.kind'),
)
const path = fc.array(step, { maxLength: 9 }).map(steps => `$${steps.join('')}`)
const value = fc.oneof(
  fc.constantFrom('1', '"x"', '{"a": 1}', '[]', 'null', '%(a)', '"%(a)"', '{', `"${'x'.repeat(1000)}"`),
  hostileText,
)
const pointer = fc.constantFrom(
  '',
  '/data',
  '/data/a',
  '/data/a/0',
  '/metadata',
  '/metadata/labels/p',
  '/kind',
  '/%(a)',
  '/-',
  'a',
)
const operation = fc.record(
  {
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
    path: pointer,
    from: pointer,
    value: fc.oneof(fc.jsonValue(), value),
  },
  { requiredKeys: ['op', 'path'] },
)
const patch = fc.oneof(
  fc.dictionary(fc.constantFrom('data', 'metadata', 'kind', '$patch', '$retainKeys', '__proto__'), fc.jsonValue()),
  fc.record({ metadata: fc.record({ labels: fc.dictionary(hostileText, fc.jsonValue(), { maxKeys: 2 }) }) }),
)
const form = fc.oneof(
  fc.record({ path, value }),
  fc.record({ jsonPatch: fc.array(operation, { minLength: 1, maxLength: 5 }) }),
  fc.record({ mergePatch: patch }),
  fc.record({ strategicMergePatch: patch }),
)
const env = fc.constantFrom(
  {},
  { locationSelector: { matchLabels: { env: 'prod' } } },
  { locationSelector: { matchLabels: { id: 'c-1' } } },
)
const replacement = fc.tuple(form, env).map(([one, where]) => ({ ...one, ...where }))
const data = fc.oneof(
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(parameter, hostileText), { maxKeys: 3 }),
  fc
    .tuple(fc.constantFrom(10, 1000, 8000), parameter)
    .map(([count, text]) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, text.slice(0, 100)]))),
  fc.constantFrom(1, 100, 1800).map(times => ({ a: '%(a)'.repeat(times), b: '%(b)'.repeat(times) })),
)
const names = fc.array(fc.oneof(fc.constantFrom('*', 'm', 'm-*', '*m*', 'default'), hostileText), { maxLength: 3 })
const labels = fc.dictionary(fc.constantFrom('env', 'p'), fc.constantFrom('prod', 'yes', 'no', ''), { maxKeys: 2 })
const selector = fc.oneof(
  fc.constant({}),
  labels.map(matchLabels => ({ matchLabels })),
  fc
    .record({
      key: fc.oneof(fc.constantFrom('env', 'p'), hostileText),
      operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Equals'),
      values: fc.array(fc.constantFrom('prod', 'yes', ''), { maxLength: 2 }),
    })
    .map(one => ({ matchExpressions: [one] })),
)
/** Some are many times the same. */
const many = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.array(one, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.tuple(one, fc.constantFrom(200, 3000)).map(([same, times]) => Array(times).fill(same)) },
  )
const cases = fc.record({
  parameters: fc.dictionary(fc.constantFrom('a', 'b', 'c'), parameter, { maxKeys: 3 }),
  locationSelectors: many(selector),
  downsync: many(
    fc.record(
      {
        apiGroup: fc.constantFrom('', '*', 'apps'),
        resources: fc.constantFrom(['configmaps'], ['*'], ['nonsense']),
        namespaces: names,
        objectNames: names,
        labelSelectors: fc.array(selector, { maxLength: 2 }),
      },
      { requiredKeys: ['apiGroup', 'resources'] },
    ),
  ),
  upsync: many(
    fc.record({ apiGroup: fc.constantFrom('', '*'), resources: fc.constant(['*']), namespaces: names, names }),
  ),
  replacements: fc.array(replacement, { maxLength: 5 }),
  objects: fc.array(data, { minLength: 1, maxLength: 3 }),
})
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

async function play(world: World, one: Case): Promise<void> {
  const prefix = `/clusters/${world.spaces.places}`
  const apply = (at: string, object: object) =>
    world.ask({
      method: 'PATCH',
      path: `${prefix}${at}?fieldManager=fuzz&force=true`,
      type: FIELDS,
      body: JSON.stringify(object),
    })
  const edge = (kind: string, name: string, more: object, metadata: object = {}) => ({
    apiVersion: VERSION,
    kind,
    metadata: { name, ...metadata },
    ...more,
  })
  const { parameters, locationSelectors, downsync, upsync, replacements, objects } = one
  await world.ask({
    method: 'PATCH',
    path: `${prefix}${EDGE}/locations/c-0`,
    type: 'application/merge-patch+json',
    body: JSON.stringify({ metadata: { annotations: { a: null, b: null, c: null, ...parameters } } }),
  })
  await apply(`${EDGE}/namespaces/default/customizers/c`, edge('Customizer', 'c', { replacements }))
  await apply(`${EDGE}/edgeplacements/p`, edge('EdgePlacement', 'p', { spec: { locationSelectors, downsync, upsync } }))
  for (const [i, content] of objects.entries())
    await apply(`/api/v1/namespaces/default/configmaps/m-${i}`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `m-${i}`,
        labels: { p: 'yes' },
        annotations: { 'edge.kubestellar.io/expand-parameters': 'true', 'edge.kubestellar.io/customizer': 'c' },
      },
      data: content,
    })
  // controllers receive placements in the order of their creation: earlier ones have been seen then
  const { body } = await world.ask({ method: 'GET', path: `${prefix}${EDGE}/edgeplacements/p` })
  if (body.kind !== 'EdgePlacement' && body.code !== 404) throw new Error(`the placement is ${JSON.stringify(body)}`)
  await world.ask({ method: 'DELETE', path: `${prefix}/api/v1/namespaces/default/configmaps?labelSelector=p%3Dyes` })
  await world.checkFaults(JSON.stringify(one).slice(0, 3000))
}

export const placement: Target = {
  name: 'placement',
  runs: 25,
  async prepare({ api, spaces }) {
    const mine = api.in(spaces.places)
    for (const name of ['c-0', 'c-1']) {
      const metadata = { name, labels: { env: 'prod', id: name } }
      await mine.ok(mine.post(`${EDGE}/synctargets`, { apiVersion: VERSION, kind: 'SyncTarget', metadata, spec: {} }))
      const spec = {
        resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
        instanceSelector: { matchLabels: { id: name } },
      }
      await mine.ok(mine.post(`${EDGE}/locations`, { apiVersion: VERSION, kind: 'Location', metadata, spec }))
    }
    const binding = {
      apiVersion: VERSION,
      kind: 'InventoryBinding',
      metadata: { name: 'own' },
      spec: { path: 'root:places' },
    }
    await mine.ok(mine.post(`${EDGE}/inventorybindings`, binding))
    const spec = {
      spaces: [{ path: 'root:places' }],
      clusterScoped: true,
      upsync: [{ apiGroup: '*', resources: ['*'] }],
    }
    await mine.ok(
      mine.post(`${EDGE}/placementgrants`, {
        apiVersion: VERSION,
        kind: 'PlacementGrant',
        metadata: { name: 'own' },
        spec,
      }),
    )
  },
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
