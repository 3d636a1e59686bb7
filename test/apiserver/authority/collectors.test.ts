/** StatusCollectors are refused with the field that is wrong, and show nobody what they may not read. */
import t from 'tap'
import { addedTests, shownTests } from '../../../src/apiserver/authority/placementAdditions.ts'
import { keyOfTest } from '../../../src/placement/select/selectedKinds.ts'
import { ALICE, BOB, createSpace, startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
await createSpace(api, 'shop')
const space = api.in('root:shop')
const COLLECTORS = '/apis/edge.kubestellar.io/v1alpha1/statuscollectors'
const PLACEMENTS = '/apis/edge.kubestellar.io/v2alpha1/edgeplacements'
const RBAC_GROUP = 'rbac.authorization.k8s.io'
const RBAC = `/apis/${RBAC_GROUP}/v1`
const collector = (name: string, spec: object) => ({ metadata: { name }, spec })
async function mayDo(name: string, rules: object[]): Promise<void> {
  await space.ok(space.post(`${RBAC}/clusterroles`, { metadata: { name }, rules }))
  const roleRef = { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name }
  const subjects = [{ apiGroup: RBAC_GROUP, kind: 'User', name }]
  await space.ok(space.post(`${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }))
}
const invalid = (message: RegExp) => ({ code: 422, body: { reason: 'Invalid', message } })

t.test('a collector is refused with its field', async t => {
  const select = [{ name: 'where', def: 'inventory.name' }]
  for (const [spec, message] of [
    [{ select, filter: 'returned.status.' }, /spec\.filter: Invalid value: .*compilation failed/],
    [{ select, limit: 0 }, /spec\.limit/],
    [{ select, limit: 1001 }, /spec\.limit/],
    [
      { combinedFields: [{ name: 'n', type: 'MEDIAN' }] },
      /spec\.combinedFields\[0\]\.type: Unsupported value: "MEDIAN"/,
    ],
    [{ select: [{ name: 'x' }] }, /spec\.select\[0\]\.def: Required value/],
    [{ select: [{ name: 'x', def: 'obj.l.all(a, obj.l.all(b, obj.l.all(c, a == c)))' }] }, /cost too much/],
  ] as const)
    t.match(await space.post(COLLECTORS, collector('bad', spec)), invalid(message), JSON.stringify(spec))
  const made = await space.post(COLLECTORS, collector('good', { select }))
  t.match(made, { code: 201, body: { spec: { limit: 20 } } })
  t.match(
    await space.patch(`${COLLECTORS}/good`, 'merge', { spec: { filter: 'nope' } }),
    invalid(/spec\.filter: .*undeclared reference to 'nope'/),
  )
})

t.test('a placement that names too many is refused', async t => {
  const tests = [0, 1].map(half => ({
    apiGroup: '',
    resources: ['configmaps'],
    statusCollectors: Array.from({ length: 9 }, (_, i) => `c${half}${i}`),
  }))
  const spec = { downsync: tests }
  t.match(await space.post(PLACEMENTS, { metadata: { name: 'many' }, spec }), invalid(/name 18, and may name 16/))
})

t.test('whoever may not read objects shows them to nobody by a collector', async t => {
  const rules = [
    { nonResourceURLs: ['/'], verbs: ['access'] },
    { apiGroups: ['edge.kubestellar.io'], resources: ['edgeplacements'], verbs: ['*'] },
  ]
  await mayDo('alice', rules)
  const maps = { apiGroup: '', resources: ['configmaps'] }
  await space.ok(space.post(PLACEMENTS, { metadata: { name: 'maps' }, spec: { downsync: [maps] } }))
  const shown = { spec: { downsync: [{ ...maps, statusCollectors: ['good'] }] } }
  t.match(await space.as(ALICE).patch(`${PLACEMENTS}/maps`, 'merge', shown), {
    code: 403,
    body: { message: /spec\.downsync\[0\]\.statusCollectors shows what "alice" may not read: .*configmaps/ },
  })
  t.match(await space.patch(`${PLACEMENTS}/maps`, 'merge', shown), { code: 200 })
  t.match(await space.as(ALICE).patch(`${PLACEMENTS}/maps`, 'merge', { spec: { paused: true } }), { code: 200 })
})

t.test('a limit that a change takes away covers nothing that it shows', async t => {
  const rules = [
    { nonResourceURLs: ['/'], verbs: ['access'] },
    { apiGroups: ['edge.kubestellar.io'], resources: ['edgeplacements'], verbs: ['*'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
  ]
  await mayDo('bob', rules)
  const secrets = { apiGroup: '', resources: ['secrets'] }
  const wide = { apiGroup: '', statusCollectors: ['good'] }
  t.match(await space.as(BOB).post(PLACEMENTS, { metadata: { name: 'both' }, spec: { downsync: [wide] } }), {
    code: 201,
    body: { metadata: { annotations: { 'edge.kubestellar.io/selected-kinds': /"configmaps"/ } } },
  })
  const more = { spec: { downsync: [wide, secrets] } }
  t.match(await space.patch(`${PLACEMENTS}/both`, 'merge', more), { code: 200 }, 'an administrator places Secrets, too')
  const shown = { spec: { downsync: [{ ...secrets, statusCollectors: ['good'] }] } }
  t.match(await space.as(BOB).patch(`${PLACEMENTS}/both`, 'merge', shown), {
    code: 403,
    body: { message: /spec\.downsync\[0\]\.statusCollectors shows what "bob" may not read: .*secrets/ },
  })
})

t.test('an upsync set shows what its author may read', async t => {
  const binding = {
    metadata: { name: 'bob', namespace: 'default' },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: 'reader' },
    subjects: [{ apiGroup: RBAC_GROUP, kind: 'User', name: 'bob' }],
  }
  const reader = [{ apiGroups: [''], resources: ['*'], verbs: ['get', 'list'] }]
  await space.ok(space.post(`${RBAC}/clusterroles`, { metadata: { name: 'reader' }, rules: reader }))
  await space.ok(space.post(`${RBAC}/namespaces/default/rolebindings`, binding))
  const set = { apiGroup: '', resources: ['pods'], namespaces: ['default'], names: ['*'] }
  const place = (name: string, more: object) =>
    space.as(BOB).post(PLACEMENTS, { metadata: { name }, spec: { upsync: [{ ...set, ...more }] } })
  const refused = { code: 403, body: { message: /spec\.upsync\[0\]\.statusCollectors shows what "bob" may not read/ } }
  const statusCollectors = ['good']
  t.match(await place('up', {}), { code: 201 }, 'without a collector nothing is shown')
  t.match(await place('all', { statusCollectors, namespaces: ['*'] }), refused)
  t.match(await place('nodes', { statusCollectors, resources: ['nodes'] }), refused, 'nodes are in no namespace')
  t.match(await place('unknown', { statusCollectors, apiGroup: 'x.y', resources: ['things'] }), refused)
  t.match(await place('one', { statusCollectors }), { code: 201 })
  const wider = { spec: { upsync: [{ ...set, statusCollectors, namespaces: ['default', 'other'] }] } }
  t.match(await space.as(BOB).patch(`${PLACEMENTS}/one`, 'merge', wider), refused)
  const same = { spec: { upsync: [{ ...set, statusCollectors, names: ['a'] }] } }
  t.match(await space.as(BOB).patch(`${PLACEMENTS}/one`, 'merge', same), { code: 200 })
})

t.test('associated objects are shown by whom their kinds may be read', async t => {
  const [alice, bob] = [ALICE, BOB].map(user => space.as(user))
  const place = (as: typeof alice, name: string, associated: object) =>
    as!.post(PLACEMENTS, { metadata: { name }, spec: { associated: { statusCollectors: ['good'], ...associated } } })
  const refused = (who: string) => ({
    code: 403,
    body: { message: new RegExp(`spec\\.associated\\.statusCollectors shows what "${who}" may not read`) },
  })
  t.match(await place(alice, 'maps', { kinds: ['configmaps'] }), refused('alice'))
  t.match(await place(bob, 'bobs', { kinds: ['configmaps'] }), { code: 201 })
  const kinds = ['pods', 'configmaps.x', '*.', '*', 'config*', '*.apps']
  for (const kind of kinds) t.match(await place(bob, 'more', { kinds: ['configmaps', kind] }), refused('bob'), kind)
  const below = [{ apiGroups: ['x.io'], resources: ['*'], verbs: ['get', 'list'] }]
  await space.ok(space.post(`${RBAC}/clusterroles`, { metadata: { name: 'below' }, rules: below }))
  const toBob = {
    metadata: { name: 'below' },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: 'below' },
    subjects: [{ apiGroup: RBAC_GROUP, kind: 'User', name: 'bob' }],
  }
  await space.ok(space.post(`${RBAC}/clusterrolebindings`, toBob))
  t.match(await place(bob, 'named', { kinds: ['things.x.io'] }), { code: 201 })
  t.match(await place(bob, 'below', { kinds: ['*.x.io'] }), refused('bob'), 'it stands for things.sub.x.io, too')
  const wider = { spec: { associated: { kinds: ['configmaps', 'pods'] } } }
  t.match(await bob!.patch(`${PLACEMENTS}/bobs`, 'merge', wider), refused('bob'), 'a kind more is shown')
  const silent = { spec: { associated: { kinds: ['configmaps', 'pods'], statusCollectors: [] } } }
  t.match(await bob!.patch(`${PLACEMENTS}/bobs`, 'merge', silent), { code: 200 }, 'without a collector nothing is')
  const statusCollectors = Array.from({ length: 16 }, (_, i) => `a${i}`)
  const spec = {
    downsync: [{ apiGroup: '', statusCollectors: ['b'] }],
    associated: { kinds: ['pods'], statusCollectors },
  }
  t.match(await space.post(PLACEMENTS, { metadata: { name: 'many' }, spec }), invalid(/name 17, and may name 16/))
})

t.test('collectors add nothing to what is selected', async t => {
  const wide = { labelSelectors: [{ matchLabels: { a: 'b' } }] }
  const collecting = { ...wide, statusCollectors: ['x'] }
  const spec = (test: object) => ({ spec: { downsync: [test] }, limits: new Map() })
  t.same(addedTests({ downsync: [collecting] }, { downsync: [wide] }), [])
  t.equal(keyOfTest(collecting), keyOfTest(wide))
  t.equal(shownTests(spec(collecting), spec(wide)).length, 1)
  t.same(shownTests(spec(wide), spec(collecting)), [])
  const limits = new Map([[keyOfTest(wide), { kinds: ['deployments.apps'], skipped: [] }]])
  const [only] = shownTests({ ...spec(collecting), limits }, { spec: undefined, limits: new Map() })
  t.match(only, { apiGroup: 'apps', resources: new Set(['deployments']) })
  const set = { apiGroup: '', resources: ['configmaps'], names: ['x'] }
  const sets = (more: object) => ({ downsync: [{}], upsync: [{ ...set, ...more }] })
  t.same(addedTests(sets({ statusCollectors: ['x'] }), sets({})), [])
})
