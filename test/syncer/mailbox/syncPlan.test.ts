/** Requests of a mailbox to its syncer. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { setCovers, syncPlan, wantsDefinition } from '../../../src/syncer/mailbox/syncPlan.ts'
import * as fc from '../../support/fastCheck.ts'

const config = (spec: unknown, kind = 'SyncerConfig'): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind,
  metadata: { name: 'the-one' },
  spec,
})
const CONFIGMAPS = { group: '', resource: 'configmaps' }
const SERVICES = { group: '', resource: 'services' }
const NAMESPACES = { group: '', resource: 'namespaces' }

t.test('nothing is wanted by an empty or malformed mailbox', async t => {
  for (const spec of [
    undefined,
    null,
    {},
    'x',
    { namespaceScope: 3, clusterScope: {}, namespacedObjects: [7], upsync: 'all' },
  ]) {
    const plan = syncPlan([config(spec)])
    t.equal(plan.wantsDown(CONFIGMAPS, 'a', 'b'), false)
    t.equal(plan.wantsUp(CONFIGMAPS, 'a', 'b'), false)
    t.same(plan.downResources, [])
  }
})

t.test("a server's own Service kubernetes is never carried, whatever asks for it", async t => {
  const kinds = [
    ['', 'services', 'Service'],
    ['', 'endpoints', 'Endpoints'],
    ['discovery.k8s.io', 'endpointslices', 'EndpointSlice'],
  ] as const
  const plan = syncPlan([
    config({
      namespaceScope: {
        namespaces: ['default', 'other'],
        resources: kinds.map(([group, resource]) => ({ group, resource, apiVersion: 'v1' })),
      },
      namespacedObjects: kinds.map(([group, resource]) => ({
        group,
        resource,
        apiVersion: 'v1',
        objectsByNamespace: [{ namespace: 'default', names: ['kubernetes'] }],
      })),
      upsync: kinds.map(([apiGroup]) => ({ apiGroup, resources: ['*'], namespaces: ['*'], names: ['*'] })),
    }),
    config(
      { downSyncedResources: kinds.map(([group, , kind]) => ({ group, kind, name: '*', namespace: '*' })) },
      'EdgeSyncConfig',
    ),
  ])
  for (const [group, resource] of kinds) {
    t.equal(plan.wantsDown({ group, resource }, 'default', 'kubernetes'), false)
    t.equal(plan.wantsUp({ group, resource }, 'default', 'kubernetes'), false)
    t.equal(plan.wantsDown({ group, resource }, 'other', 'kubernetes'), true)
  }
  t.equal(plan.wantsDown(SERVICES, 'default', 'web'), true)
  t.equal(plan.wantsUp(SERVICES, 'default', 'web'), true)
  t.equal(plan.wantsUp(SERVICES, 'other', 'kubernetes'), true)
})

t.test('listed objects are wanted, with their Namespaces, and none beside them', async t => {
  const plan = syncPlan([
    config({
      namespacedObjects: [
        {
          group: '',
          resource: 'configmaps',
          apiVersion: 'v1',
          objectsByNamespace: [
            { namespace: 'a', names: ['x'] },
            { namespace: 'empty', names: [] },
          ],
        },
      ],
      clusterScope: [
        { group: '', resource: 'nodes', apiVersion: 'v1', objects: ['n'] },
        { group: 'g', resource: 'all', apiVersion: 'v1', objects: ['*'] },
      ],
    }),
  ])
  t.equal(plan.wantsDown(CONFIGMAPS, 'a', 'x'), true)
  t.equal(plan.wantsDown(CONFIGMAPS, 'a', 'y'), false)
  t.equal(plan.wantsDown(CONFIGMAPS, 'b', 'x'), false)
  t.equal(plan.wantsDown({ group: 'other', resource: 'configmaps' }, 'a', 'x'), false)
  t.equal(plan.wantsDown(NAMESPACES, '', 'a'), true)
  t.equal(plan.wantsDown(NAMESPACES, '', 'empty'), false)
  t.equal(plan.wantsDown({ group: '', resource: 'nodes' }, '', 'n'), true)
  t.equal(plan.wantsDown({ group: 'g', resource: 'all' }, '', 'whatever'), true)
})

t.test('absent cluster-scoped names mean none, as the API says', async t => {
  const plan = syncPlan([config({ clusterScope: [{ group: 'g', resource: 'r', apiVersion: 'v1' }] })])
  t.equal(plan.wantsDown({ group: 'g', resource: 'r' }, '', 'x'), false)
})

t.test('namespace scope wants everything of its resources in its namespaces', async t => {
  const plan = syncPlan([
    config({ namespaceScope: { namespaces: ['a'], resources: [{ ...CONFIGMAPS, apiVersion: 'v1' }] } }),
  ])
  t.equal(plan.wantsDown(CONFIGMAPS, 'a', 'anything'), true)
  t.equal(plan.wantsDown(CONFIGMAPS, 'b', 'anything'), false)
  t.equal(plan.wantsDown(NAMESPACES, '', 'a'), true)
})

t.test('an EdgeSyncConfig names kinds; discovery knows their plurals, the usual rules where it does not', async t => {
  const spec = {
    downSyncedResources: [
      { group: 'g', version: 'v1', kind: 'Mouse', namespace: '*', name: '*' },
      { group: 'networking.k8s.io', version: 'v1', kind: 'NetworkPolicy', namespace: 'a', name: 'x' },
    ],
    upSyncedResources: [{ group: 'g', version: 'v1', kind: 'Box', namespace: 'a', name: '*' }],
  }
  const plan = syncPlan([config(spec, 'EdgeSyncConfig')], (_group, kind) => (kind === 'Mouse' ? 'mice' : undefined))
  t.equal(plan.wantsDown({ group: 'g', resource: 'mice' }, 'any', 'one'), true)
  t.equal(plan.wantsDown({ group: 'networking.k8s.io', resource: 'networkpolicies' }, 'a', 'x'), true)
  t.equal(plan.wantsUp({ group: 'g', resource: 'boxes' }, 'a', 'one'), true)
  t.equal(plan.wantsUp({ group: 'g', resource: 'boxes' }, 'b', 'one'), false)
})

t.test(
  'upsync: empty lists match nothing, stars match all, and the life of the cluster itself stays there',
  async t => {
    const sets = (set: object) =>
      syncPlan([config({ upsync: [{ apiGroup: '', resources: ['*'], namespaces: ['*'], names: ['*'], ...set }] })])
    t.equal(sets({}).wantsUp(CONFIGMAPS, 'a', 'x'), true)
    t.equal(sets({}).wantsUp({ group: '', resource: 'persistentvolumes' }, '', 'x'), true)
    for (const field of ['resources', 'namespaces', 'names'])
      t.equal(sets({ [field]: [] }).wantsUp(CONFIGMAPS, 'a', 'x'), false, field)
    t.equal(
      sets({ namespaces: [] }).wantsUp({ group: '', resource: 'persistentvolumes' }, '', 'x'),
      true,
      'cluster-scoped kinds have no namespace',
    )
    for (const resource of ['events', 'nodes', 'endpoints'])
      t.equal(sets({}).wantsUp({ group: '', resource }, 'a', 'x'), false, resource)
  },
)

t.test('what makes and steers spaces is never carried up, whatever asks for it', async t => {
  for (const apiGroup of ['tenancy.kcp.io', 'core.kcp.io', 'apis.kcp.io']) {
    const plan = syncPlan([config({ upsync: [{ apiGroup, resources: ['*'], namespaces: ['*'], names: ['*'] }] })])
    t.equal(plan.wantsUp({ group: apiGroup, resource: 'workspaces' }, '', 'w'), false)
  }
})

t.test('the CRD of an upsynced kind is wanted too', async t => {
  const plan = syncPlan([
    config({ upsync: [{ apiGroup: 'group1.test', resources: ['sprockets'], namespaces: ['orbital'], names: ['*'] }] }),
  ])
  t.equal(wantsDefinition(plan, 'sprockets.group1.test'), true)
  t.equal(wantsDefinition(plan, 'flanges.group1.test'), false)
  t.equal(wantsDefinition(plan, 'sprockets.group2.test'), false)
})

t.test('several configs together want what any of them wants', async () => {
  const word = fc.constantFrom('a', 'b', 'c', '*')
  const words = fc.array(word, { maxLength: 3 })
  const spec = fc.record({
    namespacedObjects: fc.array(
      fc.record({
        group: word,
        resource: word,
        objectsByNamespace: fc.array(fc.record({ namespace: word, names: words }), { maxLength: 2 }),
      }),
      { maxLength: 2 },
    ),
    clusterScope: fc.array(fc.record({ group: word, resource: word, objects: words }), { maxLength: 2 }),
    upsync: fc.array(fc.record({ apiGroup: word, resources: words, namespaces: words, names: words }), {
      maxLength: 2,
    }),
  })
  const query = fc.tuple(
    fc.constantFrom('a', 'b'),
    fc.constantFrom('a', 'b'),
    fc.constantFrom('', 'a', 'b'),
    fc.constantFrom('a', 'b'),
  )
  fc.assert(
    fc.property(fc.array(spec, { maxLength: 3 }), query, (specs, [group, resource, namespace, name]) => {
      const all = syncPlan(specs.map(s => config(s)))
      const each = specs.map(s => syncPlan([config(s)]))
      const r = { group, resource }
      const down = all.wantsDown(r, namespace, name) === each.some(plan => plan.wantsDown(r, namespace, name))
      const up = all.wantsUp(r, namespace, name) === each.some(plan => plan.wantsUp(r, namespace, name))
      const watched =
        !all.wantsDown(r, namespace, name) || all.downResources.some(d => d.group === group && d.resource === resource)
      const covered = !all.wantsUp(r, namespace, name) || all.upsync.some(set => setCovers(set, r))
      return down && up && watched && covered
    }),
    { numRuns: 300 },
  )
})

t.test('what grants or steers is never wanted up, and Secrets by name only', async t => {
  const up = (apiGroup: string, resources: string[], names = ['*']) => ({
    apiGroup,
    resources,
    namespaces: ['*'],
    names,
  })
  const plan = syncPlan([
    {
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind: 'SyncerConfig',
      metadata: { name: 'the-one' },
      spec: {
        upsync: [
          up('rbac.authorization.k8s.io', ['*']),
          up('admissionregistration.k8s.io', ['*']),
          up('', ['*']),
          up('', ['secrets'], ['report', '*']),
        ],
      },
    },
  ])
  const wants = (group: string, resource: string, name = 'x') => plan.wantsUp({ group, resource }, 'ns', name)
  t.notOk(wants('rbac.authorization.k8s.io', 'roles'))
  t.notOk(wants('admissionregistration.k8s.io', 'validatingwebhookconfigurations'))
  t.notOk(wants('', 'serviceaccounts'))
  t.notOk(wants('', 'secrets', 'private'))
  t.ok(wants('', 'secrets', 'report'))
  t.ok(wants('', 'configmaps'))
})
