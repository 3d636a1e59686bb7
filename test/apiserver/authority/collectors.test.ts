/** StatusCollectors are refused with the field that is wrong, and show nobody what they may not read. */
import t from 'tap'
import { addedTests, shownTests } from '../../../src/apiserver/authority/placementAdditions.ts'
import { keyOfTest } from '../../../src/placement/select/selectedKinds.ts'
import { ALICE, createSpace, startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
await createSpace(api, 'shop')
const space = api.in('root:shop')
const COLLECTORS = '/apis/edge.kubestellar.io/v1alpha1/statuscollectors'
const PLACEMENTS = '/apis/edge.kubestellar.io/v2alpha1/edgeplacements'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const collector = (name: string, spec: object) => ({ metadata: { name }, spec })
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
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  const rules = [
    { nonResourceURLs: ['/'], verbs: ['access'] },
    { apiGroups: ['edge.kubestellar.io'], resources: ['edgeplacements'], verbs: ['*'] },
  ]
  await space.ok(space.post(`${RBAC}/clusterroles`, { metadata: { name: 'alice' }, rules }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'alice' }
  await space.ok(space.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'alice' }, roleRef, subjects }))
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

t.test('collectors add nothing to what is selected', async t => {
  const wide = { labelSelectors: [{ matchLabels: { a: 'b' } }] }
  const collecting = { ...wide, statusCollectors: ['x'] }
  t.same(addedTests({ downsync: [collecting] }, { downsync: [wide] }), [])
  t.equal(keyOfTest(collecting), keyOfTest(wide))
  t.equal(shownTests({ downsync: [collecting] }, { downsync: [wide] }, new Map()).length, 1)
  t.same(shownTests({ downsync: [wide] }, { downsync: [collecting] }, new Map()), [])
  const limits = new Map([[keyOfTest(wide), { kinds: ['deployments.apps'], skipped: [] }]])
  const [only] = shownTests({ downsync: [collecting] }, undefined, limits)
  t.match(only, { apiGroup: 'apps', resources: new Set(['deployments']) })
  const set = { apiGroup: '', resources: ['configmaps'], names: ['x'] }
  const spec = (more: object) => ({ downsync: [{}], upsync: [{ ...set, ...more }] })
  t.same(addedTests(spec({ statusCollectors: ['x'] }), spec({})), [])
})
