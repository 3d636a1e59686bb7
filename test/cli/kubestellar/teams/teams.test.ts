/** `ensure team`, `remove team` and `kubeconfig`: two teams on two inventories, with a server in the test's process. */
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { NAMESPACES, WORKSPACES } from '../../../../src/apimachinery/resources.ts'
import { embeddedClient } from '../../../../src/apiserver/embedded/embeddedClient.ts'
import { kubectlKubestellar } from '../../../../src/cli/kubestellar/program.ts'
import { subjectsIn, subjectsText } from '../../../../src/cli/kubestellar/teams/teamRights.ts'
import { FIRST_OBJECTS } from '../../../../src/cli/orrery/server/placementOptions.ts'
import type { Terminal } from '../../../../src/cli/shell/terminal.ts'
import { kubectlWs } from '../../../../src/cli/ws/program.ts'
import { httpClient } from '../../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../../src/client/kubeconfig.ts'
import { silentLogger } from '../../../../src/client/logger.ts'
import { csrController } from '../../../../src/controllers/csr/csrController.ts'
import { EVERYTHING_ACTS } from '../../../../src/placement/spaces/nature.ts'
import { EDGE_PLACEMENTS, INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../../../../src/placement/words/placement.ts'
import { ALICE, BOB, startTestServer, temporaryDir } from '../../../support/server.ts'
import { realTime } from '../../../support/time.ts'

const { server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const { options, base } = await loadKubeconfig(server.kubeconfigPath)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const dir = temporaryDir(t)
const ADMIN = join(dir, 'admin')
copyFileSync(server.kubeconfigPath, ADMIN)
const [FIRST, SECOND] = [client.in('root:imw1'), client.in('root:imw2')]
const BINDINGS = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }
const REQUESTS = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }

type Program = (args: readonly string[], terminal: Terminal) => Promise<number>

interface Person {
  kubeconfig?: string
  /** The line that a person at the terminal types. Absent: nobody is there. */
  answer?: string
}

async function run(line: string, { kubeconfig = ADMIN, answer }: Person = {}, program: Program = kubectlKubestellar) {
  const [out, err, questions]: [string[], string[], string[]] = [[], [], []]
  const terminal: Terminal = {
    out: text => void out.push(text),
    err: text => void err.push(text),
    ...(answer !== undefined && {
      ask(question: string) {
        questions.push(question)
        return Promise.resolve(answer)
      },
    }),
  }
  const code = await program([...line.split(' '), '--kubeconfig', kubeconfig], terminal)
  return { code, out, err, questions }
}

/** A kubeconfig whose user shows a token. */
function kubeconfigOf(token: string): string {
  const path = join(dir, token)
  const config = {
    clusters: [{ name: 'c', cluster: { server: `${base}/clusters/root`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

/** By name of a binding, its subjects. */
async function subjectsOf(path: string): Promise<Record<string, string>> {
  const { items } = await client.in(path).list(BINDINGS)
  const own = items.filter(({ metadata }) => metadata.labels?.['edge.kubestellar.io/natured'] === 'true')
  const pairs = own.map(({ metadata, subjects }) => [metadata.name!, subjectsText(subjects as never)] as const)
  return Object.fromEntries(pairs.filter(([name]) => name !== 'workspace-admin'))
}

const grantNames = async (inventory = FIRST) => (await inventory.list(PLACEMENT_GRANTS)).items.map(o => o.metadata.name)
const spaces = async () => (await client.in('root').list(WORKSPACES)).items.map(o => o.metadata.name)

await run('create imw2 --context root --type root:inventory', {}, kubectlWs)
await run('ensure location florin --imw root:imw1 env=prod')
await run('ensure location guilder --imw root:imw2 env=test')

const SHOPS = 'ensure team shops --imw root:imw1 --locations env=prod --namespaces shop,shop-* --members shops'
const ready = (path: string) =>
  `${path} is ready; a member's kubeconfig: kubectl kubestellar kubeconfig --for USER --space ${path}`

t.test('one command makes all that a team needs, in this order, and again changes nothing', async t => {
  t.same(await run(`${SHOPS} --leads shops-leads`), {
    code: 0,
    out: [
      'Workspace "shops" (type root:workload) created in root.',
      'inventorybinding.edge.kubestellar.io/imw1 created',
      'placementgrant.edge.kubestellar.io/shops created',
      'clusterrolebinding.rbac.authorization.k8s.io/team-enters created',
      'clusterrole.rbac.authorization.k8s.io/team-makes-namespaces created',
      'clusterrolebinding.rbac.authorization.k8s.io/team-makes-namespaces created',
      'clusterrolebinding.rbac.authorization.k8s.io/leads-administer created',
      'clusterrolebinding.rbac.authorization.k8s.io/team-edits created',
      'budget of root:shops created: 50k objects, 256Mi bytes',
      ready('root:shops'),
    ],
    err: [],
    questions: [],
  })
  t.match((await FIRST.get(PLACEMENT_GRANTS, { name: 'shops' })).spec, {
    spaces: [{ path: 'root:shops' }],
    locations: { matchLabels: { env: 'prod' } },
    namespaces: ['shop', 'shop-*'],
    clusterScoped: undefined,
  })
  t.same(await subjectsOf('root:shops'), {
    'leads-administer': 'shops-leads',
    'team-edits': 'shops',
    'team-enters': 'shops,shops-leads',
    'team-makes-namespaces': 'shops,shops-leads',
  })
  t.match((await client.in('root').get(WORKSPACES, { name: 'shops' })).metadata.annotations, {
    'tenancy.kcp.io/budget-objects': '50k',
    'tenancy.kcp.io/budget-bytes': '256Mi',
  })
  for (const line of [`${SHOPS} --leads shops-leads`, 'ensure team shops --imw root:imw1']) {
    const { code, out, err } = await run(line)
    t.match({ code, err }, { code: 0, err: [] }, line)
    t.ok(
      out.slice(0, -2).every(text => text.endsWith(' unchanged')),
      out.join('\n'),
    )
    t.equal(out.length, 10)
    t.equal(out.at(-2), 'budget of root:shops unchanged: 50k objects, 256Mi bytes')
  }
})

t.test('another team on another inventory has nothing of the first', async t => {
  t.match(await run('ensure team bars --imw root:imw2 --members bars,user:bob --objects 100 -o name'), {
    code: 0,
    out: [
      'workspace.tenancy.kcp.io/bars',
      'inventorybinding.edge.kubestellar.io/imw2',
      'placementgrant.edge.kubestellar.io/bars',
      'clusterrolebinding.rbac.authorization.k8s.io/team-enters',
      'clusterrole.rbac.authorization.k8s.io/team-makes-namespaces',
      'clusterrolebinding.rbac.authorization.k8s.io/team-makes-namespaces',
      'clusterrolebinding.rbac.authorization.k8s.io/team-edits',
    ],
  })
  t.same(await grantNames(SECOND), ['bars'])
  t.notMatch(await grantNames(), ['bars'])
  t.same(
    (await client.in('root:bars').list(INVENTORY_BINDINGS)).items.map(({ spec }) => spec),
    [{ path: 'root:imw2' }],
  )
  t.same(await subjectsOf('root:bars'), {
    'team-edits': 'bars,user:bob',
    'team-enters': 'bars,user:bob',
    'team-makes-namespaces': 'bars,user:bob',
  })
  const bob = { kubeconfig: kubeconfigOf(BOB) }
  t.match(await run('root:bars', bob, kubectlWs), { code: 0 }, 'the rights act')
  t.match(await run('root:shops', bob, kubectlWs), { code: 1, err: [/not found, or closed to you/] })
})

t.test('other settings are changed, and each change is reported', async t => {
  const extra = { apiGroup: BINDINGS.group, kind: 'User', name: 'auditor' }
  const enters = await client.in('root:shops').get(BINDINGS, { name: 'team-enters' })
  await client.in('root:shops').update(BINDINGS, { ...enters, subjects: [...(enters.subjects as object[]), extra] })
  const changed = await run(
    'ensure team shops --imw root:imw1 --locations env=prod,!old --members shops,clerks --objects 80k',
  )
  t.match(changed, {
    code: 0,
    err: [
      'LOCATIONS: env=prod -> env=prod,!old',
      'MEMBERS: shops -> shops,clerks',
      'QUOTA: 50k objects -> 80k objects',
    ],
  })
  t.match(changed.out, [
    'workspace.tenancy.kcp.io/shops unchanged',
    'inventorybinding.edge.kubestellar.io/imw1 unchanged',
    'placementgrant.edge.kubestellar.io/shops configured',
    'clusterrolebinding.rbac.authorization.k8s.io/team-enters configured',
    'clusterrole.rbac.authorization.k8s.io/team-makes-namespaces unchanged',
    'clusterrolebinding.rbac.authorization.k8s.io/team-makes-namespaces configured',
    'clusterrolebinding.rbac.authorization.k8s.io/leads-administer unchanged',
    'clusterrolebinding.rbac.authorization.k8s.io/team-edits configured',
    'budget of root:shops configured: 80k objects, 256Mi bytes',
    ready('root:shops'),
  ])
  t.match((await FIRST.get(PLACEMENT_GRANTS, { name: 'shops' })).spec, { namespaces: ['shop', 'shop-*'] })
  t.same(await subjectsOf('root:shops'), {
    'leads-administer': 'shops-leads',
    'team-edits': 'shops,clerks',
    'team-enters': 'user:auditor,shops,clerks,shops-leads',
    'team-makes-namespaces': 'shops,clerks,shops-leads',
  })
  const refused = await run('ensure team shops --imw root:imw1 --namespaces other', { answer: 'n' })
  t.match(refused, {
    code: 1,
    err: ['NAMESPACES: shop,shop-* -> other', 'Error: nothing was changed'],
    questions: [/changes what root:shops may place on root:imw1/],
  })
  await run('grant --imw root:imw1 root:shops --name more --namespaces more')
  t.match(await run('ensure team shops --imw root:imw1'), {
    code: 0,
    err: ['Note: PlacementGrant "more" of root:imw1 is for root:shops, too; grants add up.'],
  })
})

t.test('a mistake is named before anything is made', async t => {
  for (const [line, error] of [
    ['--imw root:imw1', "nothing was changed: name the groups of the team's members with --members"],
    ['--imw root:imw1 --members ,', '--members is empty; name groups, or users as user:NAME'],
    ['--imw root:wmw1 --members x', /this space is no inventory: .*--imw/],
    ['--imw root:imw9 --members x', /workspace "root:imw9" not found; the nearest .*did you mean "imw\d"/],
    ['--imw root:imw1 --members x --objects many', /^Error: --objects: Invalid value: "many"/],
    ['--imw root:imw1 --members x --bytes -1', /^Error: --bytes: Invalid value: "-1"/],
  ] as const) {
    t.match(await run(`ensure team slips ${line}`), { code: 1, out: [], err: [error] }, line)
  }
  t.match(await run('ensure team imw1 --imw root:imw2 --members x'), {
    code: 1,
    err: ['Error: root:imw1 is no workload space: it serves no InventoryBindings; choose another name'],
  })
  t.notOk((await spaces()).includes('slips'))
})

t.test('a selector that chooses nothing is a warning with what may be meant', async t => {
  t.match(await run('ensure team yards --imw root:imw1 --locations env=prdo --members yards'), {
    code: 0,
    err: [
      'Warning: no Location of root:imw1 has env=prdo: nothing is placed there until one has; did you mean "env=prod"?',
    ],
  })
  t.match(await run('ensure team yards --imw root:imw1 --locations env=prod'), {
    code: 0,
    err: ['LOCATIONS: env=prdo -> env=prod'],
  })
})

t.test('a missing right is named with its space, and nothing is made', async t => {
  const alice = { kubeconfig: kubeconfigOf(ALICE) }
  t.match(await run('ensure team attic --imw root:imw1 --members attic', alice), {
    code: 1,
    out: [],
    err: [
      'Error: nothing was changed: you may not create or patch workspaces.tenancy.kcp.io in root, nor create or update placementgrants.edge.kubestellar.io in root:imw1; an administrator of root and of root:imw1 can run this command, or give you the right',
    ],
  })
  t.match(await run('remove team shops', alice), {
    code: 1,
    out: [],
    err: [
      'Error: nothing was changed: you may not delete workspaces.tenancy.kcp.io in root; an administrator of root can run this command, or give you the right',
    ],
  })
  t.match(await run('kubeconfig --for eve --space root:shops', alice), {
    code: 1,
    out: [],
    err: [
      /may not create or delete certificatesigningrequests\.certificates\.k8s\.io in root:shops, nor update certificatesigningrequests\/approval\./,
    ],
  })
  t.notOk((await spaces()).includes('attic'))
})

t.test("a member's kubeconfig counts in the team's space alone", async t => {
  const controller = csrController({
    ...realTime(),
    nature: EVERYTHING_ACTS,
    client: embeddedClient({ services: server.services, store: server.store, tree: server.tree, component: 'csr' }),
    sign: order => server.certificates.sign(order),
    logger: silentLogger,
  })
  controller.start()
  t.teardown(() => controller.stop())
  const file = join(dir, 'mia.kubeconfig')
  t.match(await run(`kubeconfig --for mia --space root:shops --lifetime 1h -o ${file}`), {
    code: 0,
    out: [/^Wrote the kubeconfig of mia to .*: groups shops, clerks; counts in root:shops alone until \d{4}-.*Z$/],
    err: [],
  })
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.same((await client.in('root:shops').list(REQUESTS)).items, [], 'no request stays')
  const loaded = await loadKubeconfig(file)
  const mia = httpClient({ ...loaded.options, server: loaded.base })
  t.teardown(() => mia.close())
  const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  t.match(await mia.in('root:shops').create(NAMESPACES, shop), { metadata: { name: 'shop' } })
  await t.rejects(mia.in('root:bars').list(NAMESPACES), /[Ff]orbidden|cannot/)
  await t.rejects(mia.in('root:shops').list(BINDINGS), /[Ff]orbidden|cannot/)

  const { code, out, err } = await run('kubeconfig --for lea --group shops-leads --space root:shops -o -')
  t.match({ code, err }, { code: 0, err: [] })
  t.match(parse(out.join('\n')), {
    'current-context': 'shops',
    clusters: [{ cluster: { server: `${base}/clusters/root:shops` } }],
    users: [{ name: 'lea', user: { 'client-certificate-data': /./ } }],
  })
  t.match(await run(`kubeconfig --for sam --space root:imw2 -o ${join(dir, 'sam')}`), {
    code: 0,
    err: ['Note: no group is in it: sam may do in root:imw2 as much as bindings to that user allow.'],
  })
  t.match(readFileSync(join(dir, 'sam'), 'utf8'), /current-context: imw2/)
  t.match(await run('kubeconfig --for eve --group system:masters --space root:shops -o -'), {
    code: 1,
    out: [],
    err: [/^Error: .*system:masters/],
  })
})

t.test('a member signs in by OpenID Connect, or comes with a token, without a certificate', async t => {
  const issuer = ['--oidc-issuer-url', 'https://id.example.org']
  const kubeconfig = async (...flags: string[]) => {
    const { code, out, err } = await run(`kubeconfig --space root:shops ${flags.join(' ')} -o -`)
    t.same({ code, err }, { code: 0, err: [] })
    return parse(out.join('\n'))
  }
  const signedIn = await kubeconfig('--for shops', ...issuer, '--oidc-client-id orrery --oidc-extra-scope groups')
  t.match(signedIn, {
    clusters: [{ cluster: { server: `${base}/clusters/root:shops` } }],
    users: [
      {
        name: 'shops',
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: 'kubectl',
            args: [
              ...['oidc-login', 'get-token', '--oidc-issuer-url=https://id.example.org', '--oidc-client-id=orrery'],
              '--oidc-extra-scope=groups',
            ],
            interactiveMode: 'IfAvailable',
          },
        },
      },
    ],
  })
  const [alices, nobodys, empty] = ['alices', 'nobodys', 'empty'].map(name => join(dir, `${name}.token`))
  writeFileSync(alices!, `${ALICE}\n`)
  writeFileSync(nobodys!, 'no-such-token')
  writeFileSync(empty!, '\n')
  t.match(await run(`kubeconfig --for alice --space root:shops --token-file ${alices} -o ${join(dir, 'alice.kc')}`), {
    code: 0,
    err: [/^Note: the user of the token may not enter root:shops yet: kubectl kubestellar ensure team/],
  })
  t.match(await run('ensure team shops --imw root:imw1 --members shops,clerks,user:alice'), { code: 0 })
  t.match(await run(`kubeconfig --for alice --space root:shops --token-file ${alices} -o ${join(dir, 'alice.kc')}`), {
    code: 0,
    out: [/^Wrote the kubeconfig of alice to .*: the token of alice, which may enter root:shops$/],
    err: [],
  })
  t.equal(statSync(join(dir, 'alice.kc')).mode & 0o777, 0o600)
  const loaded = await loadKubeconfig(join(dir, 'alice.kc'))
  const alice = httpClient({ ...loaded.options, server: loaded.base })
  t.teardown(() => alice.close())
  t.match(await alice.in('root:shops').list(NAMESPACES), { items: [] })
  const wrong: [string, RegExp][] = [
    [`--for bob --token-file ${alices}`, /the token is of user "alice"; say --for with that name/],
    [`--for alice --token-file ${nobodys}`, /the server refuses the token/],
    [`--for alice --token-file ${empty}`, /holds no token/],
    [`--for alice --token-file ${join(dir, 'nowhere')}`, /nowhere cannot be read/],
    [`--for alice --token-file ${alices} ${issuer.join(' ')}`, /choose one/],
    [`--for mia ${issuer.join(' ')}`, /--oidc-issuer-url and --oidc-client-id go together/],
    ['--for mia --oidc-issuer-url http://x --oidc-client-id y', /"http:\/\/x" is no https:\/\/ URL/],
    [`--for mia ${issuer.join(' ')} --oidc-client-id y --lifetime 1h`, /--lifetime is about a certificate/],
  ]
  for (const [flags, message] of wrong)
    t.match(await run(`kubeconfig --space root:shops ${flags} -o -`), { code: 1, out: [], err: [message] }, flags)
})

t.test('the owner of a token is asked through the proxy of the kubeconfig', async t => {
  const proxy = createServer().on('connect', (_request, near) => {
    const far = connect(Number(new URL(base).port), '127.0.0.1', () => near.write('HTTP/1.1 200 OK\r\n\r\n'))
    for (const end of [near, far]) end.on('error', () => far.destroy())
    near.pipe(far).pipe(near)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  const config = parse(readFileSync(kubeconfigOf(ALICE), 'utf8'))
  const { cluster } = config.clusters[0]
  cluster.server = 'https://orrery.invalid:6443/clusters/root'
  cluster['proxy-url'] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const [behind, token] = [join(dir, 'behind-proxy'), join(dir, 'alices.token')]
  writeFileSync(behind, JSON.stringify(config))
  writeFileSync(token, ALICE)
  const line = `kubeconfig --for alice --space root:shops --token-file ${token} -o -`
  t.match(await run(line, { kubeconfig: behind }), { code: 0, err: [] })
})

t.test('a team is removed with its grants, and nothing of another team is', async t => {
  const spec = { locationSelectors: [{}], downsync: [{ apiGroup: '', resources: ['configmaps'] }] }
  const placement = { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'EdgePlacement', metadata: { name: 'prices' } }
  await client.in('root:shops').create(EDGE_PLACEMENTS, { ...placement, spec })
  const what =
    'This deletes team "shops": the workspace root:shops with all that is in it (EdgePlacements prices; namespaces shop); PlacementGrant more, shops in root:imw1.'
  t.match(await run('remove team shops', { answer: 'no' }), {
    code: 1,
    out: [],
    err: ['Error: nothing was changed'],
    questions: [`${what} Go on? [y/N] `],
  })
  t.ok((await spaces()).includes('shops'))
  t.same(await run('remove team shops --yes', { answer: 'no' }), {
    code: 0,
    out: [
      'workspace.tenancy.kcp.io "shops" deleted',
      'placementgrant.edge.kubestellar.io "more" deleted',
      'placementgrant.edge.kubestellar.io "shops" deleted',
    ],
    err: [what],
    questions: [],
  })
  t.notOk((await spaces()).includes('shops'))
  t.same((await grantNames()).sort(), ['wmw1', 'yards'])
  t.same(await grantNames(SECOND), ['bars'])
  t.match(await run('remove team bras'), {
    code: 1,
    out: [],
    err: ['Error: workspace "root:bras" not found; did you mean "bars"?'],
  })
  t.match(await run('remove team shops --ignore-not-found'), { code: 0, out: [], err: [] })
  for (const other of ['imw1', 'wmw1'])
    t.match(await run(`remove team ${other}`), {
      code: 1,
      out: [],
      err: [
        `Error: root:${other} is no team's space: it has no ClusterRoleBinding "team-edits"; to delete it all the same: kubectl ws delete :root:${other}`,
      ],
    })
  await run('remove wmw yards')
  t.match(
    await run('remove team yards --imw root:imw1'),
    {
      code: 0,
      out: ['placementgrant.edge.kubestellar.io "yards" deleted'],
      err: ['This deletes team "yards": PlacementGrant yards in root:imw1.'],
    },
    'grants of a space that is gone',
  )
  const again = await run(SHOPS)
  t.match(again.out[0], /created in root/, 'it can be made again')
  t.equal(again.code, 0)
})

t.test('members and leads are groups, and users where that is written', t => {
  const apiGroup = 'rbac.authorization.k8s.io'
  const subjects = subjectsIn('--members', 'oidc:shops, user:mia,oidc:shops')
  t.same(subjects, [
    { apiGroup, kind: 'Group', name: 'oidc:shops' },
    { apiGroup, kind: 'User', name: 'mia' },
  ])
  t.equal(subjectsText(subjects), 'oidc:shops,user:mia')
  t.equal(subjectsText([]), '<none>')
  t.throws(() => subjectsIn('--leads', 'user:'), { message: /^--leads is empty/ })
  t.end()
})
