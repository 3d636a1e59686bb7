/** An object is there when every cluster where it is placed has the content that is waited for. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { type Goal, missingText, progressOf } from '../../../../src/cli/kubestellar/answers/wait.ts'
import type { WhyFacts } from '../../../../src/cli/kubestellar/answers/why/whyAnswer.ts'
import type { DiscoveredResource } from '../../../../src/client/client.ts'

const kind = (group: string, resource: string, name: string, namespaced = true): DiscoveredResource => ({
  group,
  version: 'v1',
  resource,
  kind: name,
  namespaced,
  verbs: ['list'],
  subresources: [],
})
const MAPS = kind('', 'configmaps', 'ConfigMap')
const DEPLOYMENTS = kind('apps', 'deployments', 'Deployment')
const EDGE = 'edge.kubestellar.io'
const edge = (of: string, name: string, rest: object, generation = 1): KubeObject => ({
  apiVersion: `${EDGE}/v2alpha1`,
  kind: of,
  metadata: { name, generation },
  ...rest,
})
const placement = (name: string, resource: string, generation = 1, specGeneration = 1) =>
  edge(
    'EdgePlacement',
    name,
    { spec: { downsync: [{ resources: [resource] }] }, status: { specGeneration } },
    generation,
  )
const led = (name: string, ...targets: string[]) =>
  edge('SinglePlacementSlice', name, {
    destinations: targets.map(target => ({ cluster: 'id1', locationName: target, syncTargetName: target })),
  })
const at = (target: string, resource: string, status: object): KubeObject => ({
  apiVersion: `${EDGE}/v1alpha1`,
  kind: 'WorkStatus',
  metadata: { name: `imw1.${target}:${resource}:o`, namespace: 'shop' },
  spec: { location: { cluster: 'root:imw1', name: target, syncTarget: target }, placements: ['p'] },
  status,
})
const object = (of: DiscoveredResource, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: of.kind,
  metadata: { name: 'o', ...(of.namespaced && { namespace: 'shop' }), uid: 'u', resourceVersion: '12' },
  ...more,
})
const facts = (more: Partial<WhyFacts> = {}): WhyFacts => ({
  resource: MAPS,
  object: object(MAPS),
  placements: { items: [placement('p', 'configmaps'), placement('q', 'deployments')] },
  slices: { items: [led('p', 'florin', 'guilder'), led('q', 'guilder')] },
  granted: { items: [] },
  bindings: { items: [edge('InventoryBinding', 'imw1', { spec: { path: 'root:imw1' }, status: { cluster: 'id1' } })] },
  workStatuses: { items: [] },
  namespaceLabels: {},
  defined: [],
  cluster: undefined,
  ...more,
})
const maps = (...statuses: [object, object]) =>
  ({ items: [at('florin', 'configmaps', statuses[0]), at('guilder', 'configmaps', statuses[1])] }) as const
const applied = (version: string, more: object = {}) => ({ state: 'Applied', sourceResourceVersion: version, ...more })

t.test('two clusters: each has this content, or a later one', async t => {
  const is = (first: object, second: object, goal: Goal = 'healthy') =>
    progressOf(facts({ workStatuses: maps(first, second) }), '12', goal)
  t.match(is(applied('12'), applied('104')), { state: 'there', clusters: 2, lines: [] })
  t.match(is(applied('12'), applied('9')), {
    state: 'missing',
    lines: ['imw1.guilder: Applied, of the content before'],
  })
  t.match(is(applied('12'), { state: 'Applied' }), { state: 'missing' }, 'a server that does not say')
  t.match(is(applied('12'), { state: 'Finished', sourceResourceVersion: '12' }), { state: 'there' })
  t.match(is(applied('12'), { ...applied('12'), state: 'Altered', reason: 'FieldsChanged', message: 'spec.x' }), {
    state: 'missing',
    lines: ['imw1.guilder: Altered (FieldsChanged: spec.x)'],
  })
  t.match(progressOf(facts({ workStatuses: { items: [maps({}, {}).items[0]] } }), '12', 'applied').lines.length, 2)
})

t.test('health counts where it is asked for', async t => {
  const workStatuses = {
    items: [at('guilder', 'deployments.apps', applied('12', { health: 'Degraded', healthMessage: 'no image' }))],
  }
  const of = (goal: Goal) =>
    progressOf(facts({ resource: DEPLOYMENTS, object: object(DEPLOYMENTS), workStatuses }), '12', goal)
  t.match(of('healthy'), { state: 'missing', lines: ['imw1.guilder: Degraded (no image)'] })
  t.match(of('applied'), { state: 'there', clusters: 1 })
})

t.test('what goes nowhere is told at once, unless that is not worked out yet', async t => {
  const secrets = kind('', 'secrets', 'Secret')
  const none = progressOf(facts({ resource: secrets, object: object(secrets) }), '12', 'applied')
  t.match(none, { state: 'unplaced', lines: [/no EdgePlacement selects it/] })
  const nowhere = { slices: { items: [] } }
  t.match(progressOf(facts(nowhere), '12', 'applied'), { state: 'unplaced', lines: [/led to no cluster/] })
  const placements = { items: [placement('p', 'configmaps', 2, 1)] }
  t.match(progressOf(facts({ ...nowhere, placements }), '12', 'applied'), {
    state: 'missing',
    lines: [/not worked out/],
  })
  const workStatuses = maps(applied('12'), applied('12'))
  t.match(
    progressOf(facts({ placements, workStatuses }), '12', 'applied'),
    { state: 'missing' },
    'it may lead elsewhere',
  )
})

t.test('what stays is not waited for, and an EdgePlacement for all that it selects', async t => {
  const namespaces = kind('', 'namespaces', 'Namespace', false)
  t.match(progressOf(facts({ resource: namespaces, object: object(namespaces) }), '12', 'applied'), { state: 'stays' })
  const natured = object(MAPS)
  natured.metadata.labels = { 'edge.kubestellar.io/natured': 'true' }
  t.match(progressOf(facts({ object: natured }), '12', 'applied'), { state: 'stays', lines: [/stays in this space/] })
  const resource = kind(EDGE, 'edgeplacements', 'EdgePlacement', false)
  const said = (healthy: string, observed = 2) => {
    const conditions = [
      { type: 'Applied', status: 'True', observedGeneration: observed },
      { type: 'Healthy', status: healthy, reason: 'Progressing', message: '1 of 2', observedGeneration: observed },
    ]
    const status = { specGeneration: 2, observedGeneration: observed, counts: { clusters: 2 }, conditions }
    return facts({ resource, object: edge('EdgePlacement', 'p', { status }, 2) })
  }
  t.match(progressOf(said('True'), '1', 'healthy'), { state: 'there', clusters: 2 })
  t.match(progressOf(said('False'), '1', 'healthy'), { state: 'missing', lines: ['Healthy: Progressing: 1 of 2'] })
  t.match(progressOf(said('False'), '1', 'applied'), { state: 'there' })
  t.match(progressOf(said('True', 1), '1', 'applied'), { state: 'missing', lines: [/not taken in/] })
})

t.test('few lines of each are shown', async t => {
  const lines = Array.from({ length: 7 }, (_, i) => `c${i}: Pending`)
  t.same(missingText([{ object: 'x "o"', state: 'missing', lines, clusters: 7 }]).slice(4), [
    '  c3: Pending',
    '  c4: Pending',
    '  and 2 more',
  ])
})
