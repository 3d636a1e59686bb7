/** Who writes an EdgePlacement sends nothing to clusters that they may not read. */
import t from 'tap'
import { addedTests } from '../../../src/apiserver/authority/placementAdditions.ts'
import type { Api } from '../../support/api.ts'
import { ALICE, createSpace, startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
const PLACEMENTS = '/apis/edge.kubestellar.io/v2alpha1/edgeplacements'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const READ = ['get', 'list']

const placement = (spec: object, name = 'ep') => ({ metadata: { name }, spec })
const maps = { apiGroup: '', resources: ['configmaps'] }
const secrets = { apiGroup: '', resources: ['secrets'] }
const refused = (message: RegExp) => ({ code: 403, body: { reason: 'Forbidden', message } })

let spaces = 0
/** A space in which alice may write EdgePlacements, and has these rights beside. */
async function team(rules: object[], inNamespaces: Record<string, object[]> = {}): Promise<{ root: Api; alice: Api }> {
  const name = `team-${spaces++}`
  await createSpace(api, name)
  const root = api.in(`root:${name}`)
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  const all = [
    { nonResourceURLs: ['/'], verbs: ['access'] },
    { apiGroups: ['edge.kubestellar.io'], resources: ['edgeplacements'], verbs: ['*'] },
    ...rules,
  ]
  await root.ok(root.post(`${RBAC}/clusterroles`, { metadata: { name: 'alice' }, rules: all }))
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'alice' })
  await root.ok(
    root.post(`${RBAC}/clusterrolebindings`, {
      metadata: { name: 'alice' },
      roleRef: roleRef('ClusterRole'),
      subjects,
    }),
  )
  for (const [namespace, held] of Object.entries(inNamespaces)) {
    await root.ok(root.post('/api/v1/namespaces', { metadata: { name: namespace } }))
    const at = `${RBAC}/namespaces/${namespace}`
    await root.ok(root.post(`${at}/roles`, { metadata: { name: 'alice' }, rules: held }))
    await root.ok(root.post(`${at}/rolebindings`, { metadata: { name: 'alice' }, roleRef: roleRef('Role'), subjects }))
  }
  return { root, alice: root.as(ALICE) }
}

t.test('an editor without rights on Secrets sends none to a cluster', async t => {
  const { root, alice } = await team([{ apiGroups: [''], resources: ['configmaps'], verbs: READ }])
  t.match(
    await alice.post(PLACEMENTS, placement({ downsync: [maps, secrets] })),
    refused(
      /^edgeplacements\.edge\.kubestellar\.io "ep" is forbidden: spec\.downsync\[1\] places what "alice" may not read: User "alice" cannot get resource "secrets" in API group "" at the cluster scope; name only/,
    ),
  )
  for (const wide of [{}, { apiGroup: '' }, { resources: ['configmaps'] }, { apiGroup: '', resources: ['*'] }]) {
    t.match(await alice.post(PLACEMENTS, placement({ downsync: [wide] })), refused(/spec\.downsync\[0\] places what/))
  }
  t.match(await alice.post(PLACEMENTS, placement({ downsync: [maps] })), { code: 201 })
  t.match(
    await alice.patch(`${PLACEMENTS}/ep`, 'merge', { spec: { downsync: [maps, secrets] } }),
    refused(/cannot get resource "secrets"/),
  )
  t.match(await root.patch(`${PLACEMENTS}/ep`, 'merge', { spec: { downsync: [maps, secrets] } }), { code: 200 })
})

t.test('the refusal of a wide test lists what may be placed, and that is accepted', async t => {
  const rules = [
    { apiGroups: [''], resources: ['configmaps', 'namespaces', 'nodes', 'events'], verbs: READ },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: READ },
    { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get'] },
  ]
  const services = [{ apiGroups: [''], resources: ['services', 'secrets'], verbs: READ }]
  const { alice } = await team(rules, { shop: services })
  const told = async (test: object) => {
    const { body } = await alice.post(PLACEMENTS, placement({ downsync: [test] }))
    return / name what you may: (.*); or ask an administrator of this space for a role/.exec(String(body.message))?.[1]
  }
  const apps = '{apiGroup: "apps", resources: [deployments]}'
  t.equal(await told({}), `{apiGroup: "", resources: [configmaps, namespaces]}, ${apps}`)
  t.equal(await told({ namespaces: ['shop'] }), `{apiGroup: "", resources: [configmaps, secrets, services]}, ${apps}`)
  t.equal(await told({ namespaces: ['shop', 'web'] }), `{apiGroup: "", resources: [configmaps]}, ${apps}`)
  t.equal(await told({ apiGroup: 'apps' }), apps)
  t.equal(await told({ apiGroup: '*', resources: ['services', 'deployments'] }), apps)
  t.equal(await told({ apiGroup: 'batch' }), undefined)
  const listed = [
    { apiGroup: '', resources: ['configmaps', 'secrets', 'services'], namespaces: ['shop'] },
    { apiGroup: 'apps', resources: ['deployments'], namespaces: ['shop'] },
  ]
  t.match(await alice.post(PLACEMENTS, placement({ downsync: listed })), { code: 201 })
  const { root: other, alice: stranger } = await team([])
  await other.ok(other.post('/api/v1/namespaces', { metadata: { name: 'shop' } }))
  const none = refused(/; name only kinds, namespaces and objects that you may get and list; or ask an administrator/)
  t.match(await stranger.post(PLACEMENTS, placement({ downsync: [{}] })), none)
})

t.test('what others placed may be narrowed and moved by anyone who may write it, and not widened', async t => {
  const { root, alice } = await team([])
  const shop = { ...secrets, namespaces: ['shop', 'web'] }
  const upsync = [{ apiGroup: '', resources: ['secrets'], namespaces: ['shop'], names: ['born'] }]
  await root.ok(root.post(PLACEMENTS, placement({ downsync: [shop], upsync, locationSelectors: [{}] })))
  const change = (spec: object) => alice.patch(`${PLACEMENTS}/ep`, 'merge', { spec })
  t.match(await change({ locationSelectors: [{ matchLabels: { env: 'prod' } }] }), { code: 200 })
  t.match(await change({ downsync: [{ ...shop, namespaces: ['shop', 'web', 'vault'] }] }), refused(/"vault"/))
  t.match(await change({ downsync: [{ ...shop, namespaces: ['*'] }] }), refused(/spec\.downsync\[0\]/))
  const narrow = { ...shop, objectNames: ['a'], labelSelectors: [{ matchLabels: { app: 'x' } }] }
  t.match(await change({ upsync: [] }), refused(/spec\.downsync\[0\]/), 'what a set held back would go')
  t.match(await change({ downsync: [narrow, { ...narrow, objectNames: ['b'] }] }), { code: 200 })
  t.match(await change({ downsync: [narrow] }), { code: 200 })
  t.match(await change({ downsync: [{ ...narrow, labelSelectors: [] }] }), refused(/spec\.downsync\[0\]/))
  t.match(await alice.patch(`${PLACEMENTS}/ep`, 'merge', { metadata: { labels: { a: 'b' } } }), { code: 200 })
  t.match(await alice.delete(`${PLACEMENTS}/ep`), { code: 200 })
})

t.test('rights in a namespace, and on objects by name, are enough for what a test names', async t => {
  const named = { apiGroups: [''], resources: ['secrets'], resourceNames: ['token'], verbs: READ }
  const { alice } = await team([], { shop: [{ apiGroups: [''], resources: ['configmaps'], verbs: READ }, named] })
  const create = (test: object) => alice.post(`${PLACEMENTS}?dryRun=All`, placement({ downsync: [test] }))
  t.match(await create({ ...maps, namespaces: ['shop'] }), { code: 201 })
  t.match(await create({ ...maps, namespaces: ['shop', 'web'] }), refused(/in the namespace "web"/))
  t.match(await create(maps), refused(/at the cluster scope/))
  t.match(await create({ ...secrets, namespaces: ['shop'], objectNames: ['token'] }), { code: 201 })
  t.match(await create({ ...secrets, namespaces: ['shop'], objectNames: ['token', 'key'] }), refused(/"secrets"/))
  t.match(await create({ ...secrets, namespaces: ['shop'] }), refused(/"secrets"/))
})

t.test('to get is not to list, and both are needed', async t => {
  for (const [verb, missing] of [
    ['get', 'list'],
    ['list', 'get'],
  ] as const) {
    const { alice } = await team([{ apiGroups: [''], resources: ['configmaps'], verbs: [verb] }])
    t.match(
      await alice.post(PLACEMENTS, placement({ downsync: [maps] })),
      refused(new RegExp(`cannot ${missing} resource`)),
    )
  }
})

t.test('a placement that would need thousands of rights to be looked up is refused, and that is said', async t => {
  const { alice } = await team([])
  const { alice: reader } = await team([{ apiGroups: [''], resources: ['configmaps'], verbs: READ }])
  const test = { ...maps, namespaces: ['shop'], objectNames: Array.from({ length: 50_000 }, (_, i) => `n${i}`) }
  t.match(await reader.post(PLACEMENTS, placement({ downsync: [test] })), { code: 201 }, 'one right is for all of them')
  t.match(await alice.post(PLACEMENTS, placement({ downsync: [test] })), refused(/"configmaps"/))
  const { alice: picky } = await team([], {
    shop: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: test.objectNames.slice(0, 5000), verbs: READ }],
  })
  t.match(
    await picky.post(PLACEMENTS, placement({ downsync: [test] })),
    refused(/spec\.downsync\[0\]: more than 2000 rights would have to be looked up; name fewer kinds/),
  )
})

t.test('what a change adds', async t => {
  const added = (now: object, old?: object) => addedTests(now, old).map(({ field }) => field)
  t.same(added({ downsync: [maps, secrets] }), ['spec.downsync[0]', 'spec.downsync[1]'])
  t.same(added({ downsync: [secrets, maps] }, { downsync: [maps, secrets] }), [], 'the order is no matter')
  t.same(added({ downsync: [maps] }, { downsync: [{}] }), [])
  t.same(added({ downsync: [{}] }, { downsync: [maps] }), ['spec.downsync[0]'])
  t.same(added({ downsync: [{ ...maps, namespaces: ['a'] }] }, { downsync: [{ ...maps, namespaces: ['*'] }] }), [])
  const up = (...resources: string[]) => ({ apiGroup: '', resources, namespaces: ['*'], names: ['*'] })
  const both = { downsync: [maps, secrets], upsync: [up('secrets')] }
  t.same(added({ ...both, upsync: [] }, both), ['spec.downsync[1]'])
  t.same(added({ ...both, upsync: [up('secrets'), up('pods')] }, both), [])
  const any = { apiGroup: '*' }
  t.same(added({ downsync: [any] }, { downsync: [{}] }), [], 'as a test that names no group')
  t.same(added({ downsync: [any] }, { downsync: [maps] }), ['spec.downsync[0]'])
  t.same(added({ downsync: [maps, any] }, { downsync: [any] }), [])
  t.same(added({ downsync: [any], upsync: [] }, { downsync: [any], upsync: [up('secrets')] }), ['spec.downsync[0]'])
  const many = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, i) => ({ ...maps, objectNames: [`${prefix}${i}`] }))
  t.equal(added({ downsync: many(2000, 'a') }, { downsync: [maps, ...many(2000, 'b')] }).length, 2000, 'not compared')
  t.equal(added({ downsync: many(400, 'a') }, { downsync: [maps, ...many(400, 'b')] }).length, 0)
  const wide = { ...maps, namespaces: ['a', 'b', 'c'] }
  const [more] = addedTests(
    { downsync: [wide] },
    {
      downsync: [
        { ...wide, namespaces: ['b'] },
        { ...wide, namespaces: ['c'] },
      ],
    },
  )
  t.same([...(more?.namespaces ?? [])], ['a'], 'what of it is new')
})
