// Which objects a placement selects, and which never travel.
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { syncerConfigSpec } from '../../../src/placement/desks/syncerConfig.ts'
import { definedBy, isSystemObject } from '../../../src/placement/select/eligibility.ts'
import { compilePlacement, downsyncs, upsyncs } from '../../../src/placement/select/placementSpec.ts'
import { reachOf } from '../../../src/placement/select/reach.ts'
import { keyOfTest, recordOf } from '../../../src/placement/select/selectedKinds.ts'
import { placementFaults } from '../../../src/placement/select/selectors.ts'
import { SELECTED_KINDS_ANNOTATION } from '../../../src/placement/words/placement.ts'

const MAPS = { group: '', resource: 'configmaps' }
const page = { resource: MAPS, namespace: 'web', name: 'page', labels: { app: 'x' } }
const role = {
  resource: { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  namespace: '',
  name: 'r',
  labels: {},
}
/** Where all requested objects may be carried up. */
const selects = (spec: object, object: typeof page | typeof role = page, namespaceLabels?: Record<string, string>) => {
  const compiled = compilePlacement({ spec } as unknown as KubeObject)
  return downsyncs(compiled, object, namespaceLabels) && !upsyncs(compiled.upsyncTests, object)
}
const test = (criteria: object) => ({ downsync: [criteria] })

t.test('criteria of a downsync test', async t => {
  t.notOk(selects({}), 'no tests select nothing')
  t.ok(selects(test({})), 'a test without criteria selects everything')
  t.ok(selects(test({ apiGroup: '', resources: ['*'] })))
  t.ok(selects(test({ apiGroup: '*' })), 'any')
  t.ok(selects(test({ apiGroup: '*', resources: ['*'] })))
  t.notOk(selects(test({ apiGroup: '*', resources: ['services'] })), 'and the other criteria count')
  t.notOk(selects(test({ apiGroup: '', resources: ['secrets'] })))
  t.ok(selects(test({ namespaces: ['web'] })))
  t.notOk(selects(test({ namespaces: ['web'] }), role), 'named Namespaces exclude the cluster scope')
  t.ok(selects(test({ namespaces: ['*'] }), role))
  t.notOk(selects(test({ objectNames: ['other'] })))
  t.ok(selects(test({ labelSelectors: [{ matchLabels: { app: 'y' } }, { matchLabels: { app: 'x' } }] })))
  t.notOk(selects(test({ apiGroup: '', labelSelectors: [{ matchLabels: { app: 'y' } }] })), 'all criteria must hold')
  t.ok(selects({ downsync: [{ objectNames: ['other'] }, { objectNames: ['page'] }] }), 'one test is enough')
})

t.test('a wide test selects the kinds of its record, whatever place it has, and others have no record', async t => {
  const wide = { labelSelectors: [{ matchLabels: { app: 'x' }, matchExpressions: [] }] }
  const record = recordOf(new Map([[keyOfTest(wide), { kinds: ['secrets', '*.apps'], skipped: [] }]]))!
  const selected = (text: string, downsync: object[], group: string, resource: string) => {
    const metadata = { name: 'p', annotations: { [SELECTED_KINDS_ANNOTATION]: text } }
    const compiled = compilePlacement({ apiVersion: '', kind: '', metadata, spec: { downsync } })
    return downsyncs(compiled, { ...page, resource: { group, resource } }, undefined)
  }
  t.notOk(selected(record, [{ namespaces: ['no'] }, wide], '', 'configmaps'))
  t.ok(selected(record, [{ namespaces: ['no'] }, wide], '', 'secrets'))
  t.ok(selected(record, [wide], 'apps', 'deployments'))
  const [{ labelSelectors }] = [wide]
  const turned = { labelSelectors: labelSelectors.map(({ matchLabels }) => ({ matchExpressions: [], matchLabels })) }
  t.notOk(selected(record, [turned], '', 'configmaps'), 'in any order of members')
  t.ok(selected(record, [{ ...wide, apiGroup: '', resources: ['configmaps'] }], '', 'configmaps'), 'it names its kind')
  t.ok(selected(record, [{ namespaces: ['web'] }], '', 'configmaps'), 'judged whole')
  for (const text of ['', '[]', 'null', '{', '[{"tests":7}]'])
    t.notOk(selected(text, [wide], '', 'configmaps'), `a record that cannot be read: ${text}`)
})

t.test('selectors beyond ten thousand select nothing, and those before them still count', async t => {
  const other = { matchLabels: { app: 'y' } }
  const mine = { matchLabels: { app: 'x' } }
  const many = (count: number): object[] => Array(count).fill(other)
  t.ok(selects(test({ labelSelectors: [...many(4900), mine] })))
  t.notOk(selects(test({ labelSelectors: [...many(5000), mine] })))
  t.ok(selects(test({ labelSelectors: [mine, ...many(60_000)] })))
  t.notOk(selects({ downsync: [...Array(10_000).fill({ apiGroup: 'x' }), {}] }), 'so do tests')
  const values = Array.from({ length: 10_000 }, (_, i) => `v${i}`)
  const wide = { matchExpressions: [{ key: 'app', operator: 'NotIn', values }] }
  t.notOk(selects(test({ labelSelectors: [wide, mine] })), 'and values of one selector')
})

t.test('upsync sets beyond ten thousand carry nothing, which is told, and those before them still count', async t => {
  const set = (name: string) => ({ apiGroup: '', resources: ['configmaps'], namespaces: ['web'], names: [name] })
  const others = (count: number) => Array.from({ length: count }, (_, i) => set(`other-${i}`))
  const within = { downsync: [{}], upsync: [...others(9_999), set('page')] }
  t.notOk(selects(within), 'what is born in the cluster does not go down')
  t.same(placementFaults(within), [])
  const beyond = { downsync: [{}], upsync: [...others(10_000), set('page')] }
  t.ok(selects(beyond), 'this set does not count')
  t.equal(compilePlacement({ spec: beyond } as unknown as KubeObject).upsync.length, 10_000, 'nor is it carried')
  t.same(placementFaults(beyond), [
    'spec.upsync[10000]: it and all sets behind it carry nothing: a placement may have 10000 upsync sets; name more objects in one set, or split the placement',
  ])
})

t.test('labels of Namespaces', async t => {
  const spec = test({ namespaceSelectors: [{ matchLabels: { common: 'si' } }] })
  t.ok(selects(spec, page, { common: 'si' }))
  t.notOk(selects(spec, page, {}))
  t.notOk(selects(spec, page, undefined), 'an unknown Namespace does not match')
  t.notOk(selects(spec, role, { common: 'si' }), 'the cluster scope has no labels')
  t.ok(
    selects(test({ namespaceSelectors: [{ matchExpressions: [{ key: 'common', operator: 'DoesNotExist' }] }] }), role),
  )
})

t.test('a malformed selector selects nothing and the others count', async t => {
  const bad = { matchExpressions: [{ key: 'a', operator: 'Near' }] }
  t.notOk(selects(test({ labelSelectors: [bad] })))
  t.ok(selects(test({ labelSelectors: [bad, { matchLabels: { app: 'x' } }] })))
})

t.test('what is upsynced is not downsynced', async t => {
  const set = { apiGroup: '', resources: ['configmaps'], namespaces: ['web'], names: ['page'] }
  const with_ = (changes: object) => ({ downsync: [{}], upsync: [{ ...set, ...changes }] })
  t.notOk(selects(with_({})))
  t.notOk(selects(with_({ resources: ['*'], namespaces: ['*'], names: ['*'] })))
  t.ok(selects(with_({ names: ['other'] })))
  t.ok(selects(with_({ names: [] })), 'an empty list of an upsync set matches nothing')
  t.ok(selects(with_({ apiGroup: 'apps' })))
  t.notOk(
    selects(
      {
        downsync: [{}],
        upsync: [
          {
            ...set,
            ...role.resource,
            apiGroup: role.resource.group,
            resources: ['clusterroles'],
            namespaces: [],
            names: ['r'],
          },
        ],
      },
      role,
    ),
  )
})

t.test('kinds that stay at home, stop at the mailbox, or go on', async t => {
  const reach = (group: string, resource: string) => reachOf({ group, resource })
  for (const [group, resource] of [
    ['edge.kubestellar.io', 'edgeplacements'],
    ['tenancy.kcp.io', 'workspaces'],
    ['apis.kcp.io', 'apiexports'],
    ['apps', 'controllerrevisions'],
    ['', 'events'],
    ['events.k8s.io', 'events'],
    ['', 'nodes'],
    ['coordination.k8s.io', 'leases'],
  ] as const) {
    t.equal(reach(group, resource), 'none', `${resource}.${group}`)
  }
  t.equal(reach('apis.kcp.io', 'apibindings'), 'mailbox')
  for (const [group, resource] of [
    ['', 'namespaces'],
    ['rbac.authorization.k8s.io', 'roles'],
    ['apps', 'deployments'],
  ] as const) {
    t.equal(reach(group, resource), 'cluster')
  }
})

t.test('objects that servers make for themselves', async t => {
  const system = (resource: string, object: object) =>
    isSystemObject({ group: '', resource }, { apiVersion: 'v1', kind: 'X', metadata: {}, ...object })
  t.notOk(system('secrets', { type: 'kubernetes.io/service-account-token' }), 'it travels empty')
  t.ok(system('secrets', { type: 'bootstrap.kubernetes.io/token' }))
  t.notOk(system('secrets', { type: 'Opaque' }))
  t.ok(system('configmaps', { metadata: { name: 'kube-root-ca.crt' } }))
  t.ok(system('serviceaccounts', { metadata: { name: 'default' } }))
  t.notOk(system('serviceaccounts', { metadata: { name: 'app' } }))
  const kubernetes = { metadata: { namespace: 'default', name: 'kubernetes', labels: { select: 'me' } } }
  t.ok(system('services', kubernetes), "a cluster's own would lead its programs to the center")
  t.ok(system('endpoints', kubernetes))
  t.ok(
    isSystemObject(
      { group: 'discovery.k8s.io', resource: 'endpointslices' },
      { apiVersion: 'v1', kind: 'X', ...kubernetes },
    ),
  )
  t.notOk(system('configmaps', kubernetes))
  t.notOk(system('services', { metadata: { namespace: 'mine', name: 'kubernetes' } }))
  t.notOk(system('services', { metadata: { namespace: 'default', name: 'kubernetes2' } }))
  const syncer = { apiVersion: 'v1', kind: 'ClusterRole', metadata: { name: 'kubestellar-syncer' } }
  t.ok(
    isSystemObject(role.resource, syncer),
    "the syncer's rights in a mailbox cannot be overwritten from a workload space",
  )
})

t.test('objects that act in their own space, and who administers it', async t => {
  const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', resource })
  const object = (name: string, labels = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name, labels },
  })
  const natured = object('x', { 'edge.kubestellar.io/natured': 'true' })
  for (const kind of [rbac('clusterroles'), { group: '', resource: 'resourcequotas' }]) {
    t.ok(isSystemObject(kind, natured))
    t.notOk(isSystemObject(kind, object('x', { 'edge.kubestellar.io/natured': 'false' })))
  }
  t.ok(isSystemObject(rbac('clusterrolebindings'), object('workspace-admin')), 'of an earlier release')
  t.notOk(isSystemObject(rbac('clusterroles'), object('workspace-admin')))
})

t.test('definers', async t => {
  const crd = { apiVersion: 'v1', kind: 'X', metadata: {}, spec: { group: 'g.io', names: { plural: 'things' } } }
  t.same(definedBy({ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }, crd), [
    { group: 'g.io', resource: 'things' },
  ])
  const bound = { boundResources: [{ group: 'g.io', resource: 'things' }] }
  const binding = (name: string) => ({ apiVersion: 'v1', kind: 'X', metadata: { name }, status: bound })
  const gr = { group: 'apis.kcp.io', resource: 'apibindings' }
  t.same(definedBy(gr, binding('b')), [{ group: 'g.io', resource: 'things' }])
  t.same(definedBy(gr, binding('espw')), [])
})

t.test('upsync sets of the SyncerConfig count once, in an order that never wavers', async t => {
  const set = (name: string) => ({ apiGroup: 'g', resources: ['r'], namespaces: [], names: [name] })
  const spec = syncerConfigSpec([set('2'), set('1'), set('2')])
  t.same(spec, { namespaceScope: {}, namespacedObjects: [], clusterScope: [], upsync: [set('1'), set('2')] })
})
