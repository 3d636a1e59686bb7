/** Names, URLs and owners of other teams' spaces are hidden from users without rights there; one's own stay visible. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { kubectlWs } from '../../src/cli/ws/program.ts'
import type { Answer, Api } from '../support/api.ts'
import { ALICE, BOB, createSpace, startTestServer } from '../support/server.ts'

const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'
const OWNER = 'experimental.tenancy.kcp.io/owner'
const CAROL = 'token-of-carol'
const workspace = (name: string): object => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
})
const names = ({ body }: Answer): unknown[] => (body.items ?? []).map(({ metadata }) => metadata.name)
const ownerOf = (object: KubeObject): unknown => {
  const text = object.metadata.annotations?.[OWNER]
  return text && (JSON.parse(text) as { username: string }).username
}

async function bind(space: Api, user: string, role: string): Promise<void> {
  const binding = {
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${user}-${role}`.replaceAll(':', '-') },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: GROUP, kind: 'User', name: user }],
  }
  await space.ok(space.post(`${RBAC}/clusterrolebindings`, binding))
}

async function roleIn(space: Api, name: string, verbs: string[]): Promise<void> {
  const rules = [{ apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs }]
  await space.ok(
    space.post(`${RBAC}/clusterroles`, { apiVersion: `${GROUP}/v1`, kind: 'ClusterRole', metadata: { name }, rules }),
  )
}

/** Alice and Bob, each with a space that they made; Carol has rights nowhere. */
async function scene(t: Test) {
  const tokenFile = `${ALICE},alice,u-1\n${BOB},bob,u-2\n${CAROL},carol,u-3\n`
  const { api } = await startTestServer(t, { more: { tokenFile } })
  await roleIn(api, 'tenants', ['create'])
  const users = { alice: api.as(ALICE), bob: api.as(BOB), carol: api.as(CAROL) }
  for (const user of Object.values(users)) t.teardown(() => user.close())
  for (const name of ['alice', 'bob'] as const) {
    await bind(api, name, 'tenants')
    await createSpace(users[name], `of-${name}`)
  }
  return { api, ...users }
}

t.test('a list shows what one may enter, in every form and page by page', async t => {
  const { api, alice, bob, carol } = await scene(t)
  t.same(names(await alice.get(WORKSPACES)), ['of-alice'])
  t.same(names(await bob.get(WORKSPACES)), ['of-bob'])
  t.same(names(await carol.get(WORKSPACES)), [])
  t.ok(names(await api.get(WORKSPACES)).length > 3, 'an administrator sees all')
  const closed = [
    await bob.get(WORKSPACES, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
    await bob.get(WORKSPACES, { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }),
    await bob.get(WORKSPACES, { Accept: 'application/yaml' }),
    await bob.get(`${WORKSPACES}?limit=1`),
    await bob.get(`${WORKSPACES}?fieldSelector=metadata.name%3Dof-alice`),
  ]
  for (const { code, text } of closed) {
    t.equal(code, 200)
    t.notMatch(text, 'of-alice')
  }
  const { metadata } = closed[3]!.body as { metadata: { continue?: string; remainingItemCount?: number } }
  t.notMatch(Buffer.from(metadata.continue ?? '', 'base64').toString(), /alice|espw|mw1/, 'no name in the token')
  t.equal(metadata.remainingItemCount, undefined, 'nor how many there are')

  t.match(await alice.get(`${WORKSPACES}/of-bob`), { code: 404, body: { reason: 'NotFound' } })
  const unlike = ({ text }: Answer): string => text.replaceAll(/of-bob|nowhere/g, 'x')
  const path = '/clusters/root:'
  for (const [there, not] of [
    [`${WORKSPACES}/of-bob`, `${WORKSPACES}/nowhere`],
    [`${path}of-bob/api`, `${path}nowhere/api`],
  ] as const) {
    t.equal(unlike(await alice.get(there)), unlike(await alice.get(not)), 'what is closed is like what is not there')
  }
})

t.test('a ServiceAccount sees its own space, and no other', async t => {
  const { api, alice } = await scene(t)
  const space = api.in('root:of-alice')
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'app' } }
  await space.ok(space.post('/api/v1/namespaces/default/serviceaccounts', account))
  const { status } = await alice.ok(
    alice.in('root:of-alice').post('/api/v1/namespaces/default/serviceaccounts/app/token', {}),
  )
  const app = api.in('root').as((status as { token: string }).token)
  t.teardown(() => app.close())
  const seen = await app.get(WORKSPACES)
  t.same(names(seen), ['of-alice'])
  t.notMatch(seen.text, OWNER)
})

t.test('who made a space is told to themselves and to those who may write Workspaces', async t => {
  const { api, alice, carol } = await scene(t)
  await bind(api.in('root:of-alice'), 'carol', 'system:kcp:workspace:access')
  t.same(names(await carol.get(WORKSPACES)), ['of-alice'], 'whoever was let in sees it')
  const reads = async (user: Api): Promise<unknown[]> => [
    ownerOf((await user.get(WORKSPACES)).body.items.find(({ metadata }) => metadata.name === 'of-alice')!),
    ownerOf((await user.get(`${WORKSPACES}/of-alice`)).body),
    ownerOf((await watched(user, `${WORKSPACES}?watch=1&fieldSelector=metadata.name%3Dof-alice`)).object),
  ]
  t.same(await reads(alice), ['alice', 'alice', 'alice'])
  t.same(await reads(carol), [undefined, undefined, undefined])
  await roleIn(api, 'readers', ['get', 'list', 'watch'])
  await bind(api, 'carol', 'readers')
  t.ok(names(await carol.get(WORKSPACES)).length > 3, 'a right of her own shows all')
  t.same(await reads(carol), [undefined, undefined, undefined])
  t.match(await carol.get('/clusters/root:nowhere/api'), { code: 404 }, 'and what is not there')
  await roleIn(api, 'keepers', ['update'])
  await bind(api, 'carol', 'keepers')
  t.same(await reads(carol), ['alice', 'alice', 'alice'])
})

async function watched(user: Api, path: string) {
  const watch = await user.watch(path)
  const [event] = await watch.take(1)
  watch.close()
  return event!
}

t.test('a watch tells of what one may enter, from the first moment to its end', async t => {
  const { api, alice, bob, carol } = await scene(t)
  const { resourceVersion } = (await alice.get(WORKSPACES)).body.metadata
  const watches = await Promise.all(
    [alice, carol].map(user => user.watch(`${WORKSPACES}?watch=1&resourceVersion=${resourceVersion}`)),
  )
  const [mine, hers] = watches as [Awaited<ReturnType<Api['watch']>>, Awaited<ReturnType<Api['watch']>>]
  await createSpace(bob, 'secret')
  await createSpace(alice, 'second')
  const told = await mine.until(({ object }) => (object.status as { phase?: string }).phase === 'Ready')
  t.equal(told[0]!.type, 'ADDED')
  t.same([...new Set(told.map(({ object }) => object.metadata.name))], ['second'])
  t.match(await alice.post(WORKSPACES, workspace('of-bob')), { code: 409 }, 'names are one pool all the same')

  await bind(api.in('root:second'), 'carol', 'system:kcp:workspace:access')
  await api.ok(api.patch(`${WORKSPACES}/second`, 'merge', { metadata: { labels: { a: 'b' } } }))
  await api.ok(api.delete(`${WORKSPACES}/secret`))
  await api.ok(api.delete(`${WORKSPACES}/second`))
  const until = await hers.until(({ type }) => type === 'DELETED')
  t.same(
    [until[0]!.type, until.at(-1)!.type, ...new Set(until.map(({ object }) => object.metadata.name))],
    ['ADDED', 'DELETED', 'second'],
  )
  t.notMatch(JSON.stringify(until), OWNER)
  for (const watch of watches) watch.close()

  const late = await carol.watch(`${WORKSPACES}?watch=1&resourceVersion=${resourceVersion}`)
  t.match(
    await late.next(),
    { type: 'ERROR', object: { reason: 'Expired' } },
    'what one saw before is not known any more',
  )
  late.close()
})

t.test('kubectl ws shows a tenant their own tree, and goes where they may', async t => {
  const { api } = await scene(t)
  const cluster = { server: `${api.access.url}/clusters/root`, 'insecure-skip-tls-verify': true }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: ALICE } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  }
  const kubeconfig = join(t.testdir({ config: JSON.stringify(config) }), 'config')
  const ws = async (...args: string[]): Promise<[number, ...string[]]> => {
    const lines: string[] = []
    const say = (line: string): void => void lines.push(line)
    const code = await kubectlWs([...args, '--kubeconfig', kubeconfig], { out: say, err: say })
    return [code, ...lines]
  }
  t.same(await ws('tree'), [0, '.', '└── root', '    └── of-alice'])
  t.match(await ws('root:of-bob'), [1, /workspace "root:of-bob" not found, or closed to you/])
  t.same(await ws('create', 'third'), [
    0,
    'Workspace "third" (type root:universal) created. Waiting for it to be ready...',
    'Workspace "third" (type root:universal) is ready to use.',
    'Enter it with: kubectl ws root:third',
  ])
  t.same(await ws('root:of-alice'), [0, "Current workspace is 'root:of-alice' (type root:universal)."])
})
