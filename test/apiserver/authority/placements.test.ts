/** A writer of an EdgePlacement sends nothing to clusters that they may not read. */
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
  t.match(await alice.post(PLACEMENTS, placement({ downsync: [maps] })), { code: 201 })
  t.match(
    await alice.patch(`${PLACEMENTS}/ep`, 'merge', { spec: { downsync: [maps, secrets] } }),
    refused(/cannot get resource "secrets"/),
  )
  t.match(await root.patch(`${PLACEMENTS}/ep`, 'merge', { spec: { downsync: [maps, secrets] } }), { code: 200 })
})

const RECORD = 'edge.kubestellar.io/selected-kinds'
const recordOf = ({ body }: { body: { metadata?: unknown } }) =>
  (body.metadata as { annotations?: Record<string, string> }).annotations?.[RECORD]
/** Kinds that the record names, test by test. */
const kindsOf = (answer: Parameters<typeof recordOf>[0]): string[][] =>
  JSON.parse(recordOf(answer) ?? '[]').map(({ kinds }: { kinds: string[] }) => kinds)
const app = { labelSelectors: [{ matchLabels: { app: 'shop' } }] }

t.test('a wide test selects the kinds that its author may read, and says which it skips', async t => {
  const rules = [
    { apiGroups: [''], resources: ['configmaps', 'namespaces', 'nodes', 'events'], verbs: READ },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: READ },
    { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get'] },
    { apiGroups: ['batch'], resources: ['*'], verbs: READ },
  ]
  const services = [{ apiGroups: [''], resources: ['services', 'secrets'], verbs: READ }]
  const { alice } = await team(rules, { shop: services })
  const judged = async (...tests: object[]) => {
    const answer = await alice.post(`${PLACEMENTS}?dryRun=All`, placement({ downsync: tests }))
    t.equal(answer.code, 201, String(answer.body.message))
    return kindsOf(answer)
  }
  const everywhere = ['*.batch', 'configmaps', 'deployments.apps', 'namespaces']
  t.same(await judged({}), [everywhere])
  t.same(await judged(app), [everywhere])
  t.same(await judged({ apiGroup: '*', resources: ['*'], ...app }), [everywhere])
  t.same(await judged({ namespaces: ['shop'] }), [['*.batch', 'configmaps', 'deployments.apps', 'secrets', 'services']])
  t.same(await judged({ namespaces: ['shop', 'web'] }), [['*.batch', 'configmaps', 'deployments.apps']])
  t.same(await judged({ apiGroup: 'apps' }, maps), [['deployments.apps']])
  t.same(await judged({ apiGroup: 'batch' }), [], 'all of it')
  t.same(
    await judged({ resources: ['configmaps', 'deployments'] }),
    [['configmaps', 'deployments.apps']],
    'in any group',
  )
  t.same(await judged({}, app), [everywhere], 'two tests, one record')
  t.same(await judged({ apiGroup: 'apps' }, { apiGroup: '' }), [['deployments.apps'], ['configmaps', 'namespaces']])
  const { headers } = await alice.post(PLACEMENTS, placement({ downsync: [maps, { apiGroup: 'apps', ...app }] }))
  t.match(
    headers.warning,
    /spec\.downsync\[1\] selects only kinds .*; it skips daemonsets\.apps, replicasets\.apps, statefulsets\.apps\. An administrator of this space grants .*: kubectl annotate edgeplacement ep edge\.kubestellar\.io\/selected-kinds-/,
  )
  const refuses = async (test: object, why: RegExp) =>
    t.match(await alice.post(PLACEMENTS, placement({ downsync: [test] })), refused(why), JSON.stringify(test))
  await refuses(
    { resources: ['services', 'deployments'] },
    /in its place name what you may: \{apiGroup: "apps", resources: \[deployments\]\}; or ask an administrator of this space for a role/,
  )
  await refuses(
    { apiGroup: 'policy' },
    /; name only kinds, namespaces and objects that you may get and list; or ask an administrator/,
  )
  const { alice: stranger } = await team([])
  t.match(await stranger.post(PLACEMENTS, placement({ downsync: [{}] })), refused(/spec\.downsync\[0\] places what/))
})

t.test('no client makes a record of readable kinds, takes one away, or keeps one for another test', async t => {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: READ }]
  const status = [{ apiGroups: ['edge.kubestellar.io'], resources: ['edgeplacements/status'], verbs: ['*'] }]
  const { alice } = await team([...rules, ...status])
  const [forged] = [JSON.stringify([{ tests: [], kinds: ['*'], skipped: [] }])]
  const said = { metadata: { annotations: { [RECORD]: forged } } }
  const made = await alice.post(PLACEMENTS, { metadata: { name: 'ep', ...said.metadata }, spec: { downsync: [app] } })
  const record = recordOf(made)
  t.same(kindsOf(made), [['configmaps']])
  const keeps = async (answer: ReturnType<Api['get']>, how: string) => t.match(recordOf(await answer), record, how)
  await keeps(alice.patch(`${PLACEMENTS}/ep`, 'merge', said), 'by a patch')
  await keeps(alice.patch(`${PLACEMENTS}/ep`, 'merge', { metadata: { annotations: null } }), 'by a patch of all')
  await keeps(alice.patch(`${PLACEMENTS}/ep/status`, 'merge', said), 'by the status')
  const named = { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'EdgePlacement', metadata: { name: 'ep' } }
  await keeps(
    alice.patch(`${PLACEMENTS}/ep?fieldManager=a&force=true`, 'apply', {
      ...named,
      ...{ metadata: { name: 'ep', ...said.metadata } },
    }),
    'by apply',
  )
  await keeps(alice.patch(`${PLACEMENTS}/ep?fieldManager=a&force=true`, 'apply', named), 'by leaving it out then')
  const current = (await alice.get(`${PLACEMENTS}/ep`)).body as { metadata: object }
  await keeps(
    alice.put(`${PLACEMENTS}/ep`, { ...current, metadata: { ...current.metadata, annotations: {} } }),
    'by a replacement',
  )
  const change = (spec: object) => alice.patch(`${PLACEMENTS}/ep`, 'merge', { spec })
  t.same(kindsOf(await change({ downsync: [{}] })), [['configmaps']], 'another test is judged')
  t.same(kindsOf(await change({ downsync: [maps] })), [], 'and nothing is recorded of a test that is gone')
  t.equal(recordOf(await alice.get(`${PLACEMENTS}/ep`)), undefined)
})

t.test('a record of readable kinds grows by who may read more, and nothing else changes it', async t => {
  const rule = (...resources: string[]) => ({ apiGroups: [''], resources, verbs: READ })
  const { root, alice } = await team([rule('configmaps', 'services')])
  t.same(kindsOf(await alice.post(PLACEMENTS, placement({ downsync: [app] }))), [['configmaps', 'services']])
  const role = async (...resources: string[]) => {
    const rules = [
      { nonResourceURLs: ['/'], verbs: ['access'] },
      { apiGroups: ['edge.kubestellar.io'], resources: ['edgeplacements'], verbs: ['*'] },
      rule(...resources),
    ]
    await root.ok(root.patch(`${RBAC}/clusterroles/alice`, 'merge', { rules }))
  }
  const edit = (who: Api, change: object) => who.patch(`${PLACEMENTS}/ep`, 'merge', change)
  const lift = { metadata: { annotations: { [RECORD]: null } } }
  await role('configmaps')
  const moved = await edit(alice, { spec: { locationSelectors: [{ matchLabels: { env: 'prod' } }] } })
  t.same(kindsOf(moved), [['configmaps', 'services']], 'a right that is gone takes nothing from clusters')
  t.same(kindsOf(await edit(alice, lift)), [['configmaps', 'services']])
  const narrow = { ...app, namespaces: ['shop'] }
  t.same(kindsOf(await edit(alice, { spec: { downsync: [narrow] } })), [['configmaps', 'services']], 'narrowed')
  t.same(kindsOf(await edit(alice, { spec: { downsync: [app] } })), [['configmaps']], 'and wide again: judged')
  await role('configmaps', 'pods')
  t.same(kindsOf(await edit(alice, { metadata: { labels: { a: 'b' } } })), [['configmaps']])
  t.same(kindsOf(await edit(alice, lift)), [['configmaps', 'pods']])
  t.same(
    kindsOf(await edit(root, { spec: { locationSelectors: [] } })),
    [['configmaps', 'pods']],
    'nor by an administrator who changes something else',
  )
  const services = { apiGroup: '', resources: ['services'] }
  t.same(kindsOf(await edit(root, { spec: { downsync: [app, services] } })), [['configmaps', 'pods']])
  const [both] = kindsOf(await edit(alice, { spec: { downsync: [{}] } }))
  t.same(both, ['configmaps', 'pods', 'services'], 'what was placed everywhere stays placed')
  t.same(kindsOf(await edit(root, lift)), [], 'an administrator has it judged again')
  t.equal(recordOf(await root.get(`${PLACEMENTS}/ep`)), undefined)
  const one = { namespaces: ['shop'] }
  t.match(await edit(root, { spec: { downsync: [one] } }), { code: 200 })
  t.match(
    await edit(alice, { spec: { downsync: [{ namespaces: ['shop', 'web'] }] } }),
    refused(/leave this test as it was, and write what you add as a test of its own/),
    'a test of somebody else is not cut',
  )
  const web = { namespaces: ['web'] }
  const beside = await edit(alice, { spec: { downsync: [one, web] } })
  t.same(kindsOf(beside), [['configmaps', 'pods']])
  t.equal(JSON.parse(recordOf(beside)!)[0].tests.length, 1, 'the other has no limit')
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
