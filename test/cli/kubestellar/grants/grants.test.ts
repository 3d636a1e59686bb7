/** `kubectl kubestellar grant`, `ungrant` and `grants`, and the consents that other commands make. */
import t from 'tap'
import { grantSpec } from '../../../../src/cli/kubestellar/grants/grantSpec.ts'
import { ensureBinding, ensureGrant, grantLine } from '../../../../src/cli/kubestellar/grants/grants.ts'
import { kubectlKubestellar } from '../../../../src/cli/kubestellar/program.ts'
import { FIRST_OBJECTS } from '../../../../src/cli/orrery/server/placementOptions.ts'
import type { Terminal } from '../../../../src/cli/shell/terminal.ts'
import { httpClient } from '../../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../../src/client/kubeconfig.ts'
import { EVERYTHING } from '../../../../src/placement/consent/consentObjects.ts'
import { INVENTORY_BINDINGS, PLACEMENT_GRANTS, SYNC_TARGETS } from '../../../../src/placement/words/placement.ts'
import { createSpace, startTestServer } from '../../../support/server.ts'

const { api, server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const { options, base } = await loadKubeconfig(server.kubeconfigPath)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const inventory = client.in('root:imw1')
const FLAGS = ['--kubeconfig', server.kubeconfigPath]

async function run(line: string, ...more: string[]) {
  return await runAt({}, line, ...more)
}

/** With somebody at the terminal, who answers. */
async function runAt(person: Pick<Terminal, 'ask'>, line: string, ...more: string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    ...person,
  }
  const code = await kubectlKubestellar([...line.split(' '), ...more, ...FLAGS], terminal)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

t.test('a space is granted, granted otherwise, and ungranted', async t => {
  const id = await createSpace(api, 'team')
  t.match(await run('grant --imw root:imw1 root:team --namespaces team-*,shop --allow deployments.apps,configmaps'), {
    code: 0,
    out: 'placementgrant.edge.kubestellar.io/team created',
    err: '',
  })
  t.same((await inventory.get(PLACEMENT_GRANTS, { name: 'team' })).spec, {
    spaces: [{ path: 'root:team', cluster: id }],
    namespaces: ['team-*', 'shop'],
    allow: [
      { apiGroup: 'apps', resources: ['deployments'] },
      { apiGroup: '', resources: ['configmaps'] },
    ],
  })
  t.match(await run('grant --imw imw1 team --cluster-scoped --namespaces shop'), {
    out: 'placementgrant.edge.kubestellar.io/team configured',
    err: 'NAMESPACES: team-*,shop -> shop\nCLUSTER-SCOPED: false -> true',
  })
  t.match(await run('grant --imw imw1 team --cluster-scoped'), { out: /team unchanged$/, err: '' })
  t.match((await inventory.get(PLACEMENT_GRANTS, { name: 'team' })).spec, {
    namespaces: ['shop'],
    allow: [{ resources: ['deployments'] }, { resources: ['configmaps'] }],
    clusterScoped: true,
  })
  t.match(await run('grant --imw imw1 team --no-cluster-scoped'), { err: 'CLUSTER-SCOPED: true -> false' })
  t.match(await run('grant --imw imw1 team --cluster-scoped --replace'), {
    err: /^NAMESPACES: shop -> <all>\nALLOW: deployments\.apps,configmaps -> <all>\nCLUSTER-SCOPED: false -> true$/,
  })
  t.same((await inventory.get(PLACEMENT_GRANTS, { name: 'team' })).spec, {
    spaces: [{ path: 'root:team', cluster: id }],
    clusterScoped: true,
  })
  t.match(await run('grants --imw root:imw1'), {
    code: 0,
    out: /^NAME +SPACES +.*\nteam +root:team +<all> +<all> +<all> +<none> +true +false +false +<none> +<none>\nwmw1 +root:wmw1 .* true +true +false +\* +\*$/,
  })
  t.match(await run('grants --imw root:imw1 -o name'), {
    code: 0,
    out: 'placementgrant.edge.kubestellar.io/team\nplacementgrant.edge.kubestellar.io/wmw1',
  })
  t.match(await run('ungrant --imw root:imw1 root:team'), {
    code: 0,
    out: 'placementgrant.edge.kubestellar.io "team" deleted',
  })
  t.match(await run('ungrant --imw root:imw1 root:team'), {
    code: 1,
    out: '',
    err: 'Error: no PlacementGrant in root:imw1 is for root:team',
  })
})

t.test('who changes a grant at a terminal is asked, and sees what changes', async t => {
  await createSpace(api, 'asked')
  const questions: string[] = []
  const person = (answer: string) => ({
    ask: async (text: string) => {
      questions.push(text)
      return answer
    },
  })
  t.match(await runAt(person('n'), 'grant --imw root:imw1 root:asked --namespaces shop'), { code: 0 }, 'the first')
  t.match(await runAt(person('n'), 'grant --imw root:imw1 root:asked --replace'), {
    code: 1,
    err: 'NAMESPACES: shop -> <all>\nError: nothing was changed',
  })
  t.match((await inventory.get(PLACEMENT_GRANTS, { name: 'asked' })).spec, { namespaces: ['shop'] })
  t.match(await runAt(person('y'), 'grant --imw root:imw1 root:asked --namespaces other'), { code: 0 })
  t.match(questions, [/root:asked may place on root:imw1/, /./])
  t.match(await runAt(person('n'), 'grant --imw root:imw1 root:asked --namespaces third --yes'), { code: 0 })
  t.match(await run('ungrant --imw root:imw1 root:asked'), { code: 0 })
})

t.test('a grant for several spaces loses the one, and what is granted above is told', async t => {
  await createSpace(api, 'left')
  await createSpace(api, 'right')
  const spaces = [{ path: 'root:left' }, { path: 'root:right' }]
  const object = { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'PlacementGrant', metadata: { name: 'both' } }
  await inventory.create(PLACEMENT_GRANTS, { ...object, spec: { spaces } })
  t.match(await run('ungrant --imw root:imw1 root:left'), { code: 0, out: /both configured$/ })
  t.match((await inventory.get(PLACEMENT_GRANTS, { name: 'both' })).spec, { spaces: [{ path: 'root:right' }] })
  t.match(await run('ungrant --imw root:imw1 root:right:below'), {
    code: 1,
    err: /^Note: PlacementGrant "both" is for root:right, and so for root:right:below still\.\nError: .*take away what is granted above it$/,
  })
  t.match(await run('grant --imw root:imw1 root:left --name both'), {
    code: 1,
    err: /"both" is for other spaces.*--name/,
  })
})

t.test(
  'a slip in the name of a kind is told before anything is granted, and what the server warns of is shown',
  async t => {
    t.match(await run('grant --imw root:imw1 root:wmw1 --name slip --allow deployment.apps,configmaps'), {
      code: 1,
      err: 'Error: --allow: "deployment.apps" is no resource; did you mean deployments.apps?',
    })
    await t.rejects(inventory.get(PLACEMENT_GRANTS, { name: 'slip' }), /not found/)
    t.match(await run('grant --imw root:imw1 root:wmw1 --name slip --allow widgets.example.com'), {
      code: 1,
      err: /^Error: --allow: neither root:imw1 nor root:wmw1 serves "widgets.example.com".* --unserved$/,
    })
    await t.rejects(inventory.get(PLACEMENT_GRANTS, { name: 'slip' }), /not found/)
    // a kind that the space alone serves
    t.match(await run('grant --imw root:imw1 root --name slip --deny workspaces.tenancy.kcp.io'), { code: 0 })
    t.match(await run('grant --imw root:imw1 root --name slip --unserved --allow widgets.example.com'), { code: 0 })
    t.match(await run('ensure wmw slipped --inventory root:imw9'), {
      err: /^Warning: there is no space root:imw9 yet/m,
    })
  },
)

t.test('what cannot be granted is said in one line', async t => {
  t.match(await run('grant --imw root:imw1 root:gone'), {
    code: 1,
    err: /spec\.spaces\[0\]\.path: .*there is no such space/,
  })
  t.match(await run('grants --imw root:wmw1'), { code: 1, err: /this space is no inventory: .*--imw/ })
  t.match(await run('grant --imw root:wmw1 root:wmw1'), { code: 1, err: /this space is no inventory: .*--imw/ })
  t.match(await run('grant --imw root:imw1 root:wmw1 --locations', 'a in ('), { code: 1, err: /^Error: --locations: / })
  t.match(await run('grant --imw root:imw1 root:wmw1 --upsync-secrets nope'), {
    code: 1,
    err: /is not NAMESPACE\/NAME/,
  })
  const id = await createSpace(api, 'phoenix')
  await run('grant --imw root:imw1 root:phoenix')
  const gone = new Promise<void>(resolve => server.tree.onGone(space => space === id && resolve()))
  await api.ok(api.delete('/apis/tenancy.kcp.io/v1alpha1/workspaces/phoenix'))
  await gone
  await createSpace(api, 'phoenix')
  t.match(await run('grant --imw root:imw1 root:phoenix'), {
    code: 1,
    err: /another space now than the one that was granted; first: kubectl kubestellar ungrant --imw root:imw1 root:phoenix$/,
  })
  const cluster = server.tree.idAt('root:phoenix')!
  const made = await ensureGrant(inventory, { path: 'root:phoenix', cluster }, {})
  t.match(made, { object: { metadata: { name: 'phoenix' } }, made: 'configured' }, 'who knows the id means the new one')
  t.match(await run('ungrant --imw root:imw1 root:phoenix'), { code: 0 })
  t.match(await run('grant --imw root:imw1 root:phoenix'), { code: 0 })
})

t.test(
  'an argument that is empty, as by a variable that was not set, is not the root, and narrows no grant',
  async t => {
    const before = (await inventory.list(PLACEMENT_GRANTS)).items.length
    for (const [line, ...more] of [
      ['grant --imw root:imw1', ''],
      ['grant --imw root:imw1', ' '],
      ['ungrant --imw root:imw1', ''],
      ['grant root:wmw1 --imw', ''],
      ['ensure location florin env=prod --imw', ''],
    ] as const) {
      t.match(await run(line, ...more), {
        code: 1,
        err: 'Error: the name of a workspace is empty; write "." for the current one',
      })
    }
    for (const flag of ['--locations', '--deny']) {
      t.match(await run(`grant --imw root:imw1 root:wmw1 --name narrow ${flag}`, ''), {
        code: 1,
        err: `Error: ${flag} is empty, and would narrow nothing; leave it out if that is meant`,
      })
    }
    t.match(await run('syncer revoke --imw root:imw1', ''), {
      code: 1,
      err: 'Error: the name of the SyncTarget is empty',
    })
    t.equal((await inventory.list(PLACEMENT_GRANTS)).items.length, before)
    t.same((await client.in('root').list(SYNC_TARGETS)).items, [])
  },
)

t.test('the options of a grant', async t => {
  t.same(grantSpec({}), {})
  t.same(
    grantSpec({
      locations: 'env=prod,tier in (a,b),!old,zone!=x',
      deny: 'secrets,*.rbac.authorization.k8s.io',
      grantingKinds: true,
      adoptExisting: true,
      upsync: '*,sprockets.group1.test',
      upsyncSecrets: 'shop/tls',
      associated: 'pods,replicasets.apps',
    }),
    {
      locations: {
        matchLabels: { env: 'prod' },
        matchExpressions: [
          { key: 'old', operator: 'DoesNotExist' },
          { key: 'tier', operator: 'In', values: ['a', 'b'] },
          { key: 'zone', operator: 'NotIn', values: ['x'] },
        ],
      },
      deny: [
        { apiGroup: '', resources: ['secrets'] },
        { apiGroup: 'rbac.authorization.k8s.io', resources: ['*'] },
      ],
      grantingKinds: true,
      adoptExisting: true,
      upsync: [
        { apiGroup: '*', resources: ['*'] },
        { apiGroup: 'group1.test', resources: ['sprockets'] },
        { apiGroup: '', resources: ['secrets'], namespaces: ['shop'], names: ['tls'] },
      ],
      associated: ['pods', 'replicasets.apps'],
    },
  )
})

t.test('a binding and a grant are made where there is none, and are let be where there is one', async t => {
  await createSpace(api, 'mine')
  const mine = client.in('root:mine')
  t.match(await ensureBinding(mine, 'root:imw1'), { object: { metadata: { name: 'imw1' } }, made: 'created' })
  t.match(await ensureBinding(mine, 'root:imw1'), { object: { metadata: { name: 'imw1' } }, made: 'unchanged' })
  t.match(await ensureBinding(mine, 'root:a:b'), { object: { metadata: { name: 'a-b' } }, made: 'created' })
  t.match(await ensureBinding(mine, 'root:a-b'), { object: { metadata: { name: 'a-b-2' } }, made: 'created' })
  t.match(await mine.get(INVENTORY_BINDINGS, { name: 'a-b-2' }), { spec: { path: 'root:a-b' } })
  t.match(await ensureGrant(inventory, { path: 'root:mine' }, EVERYTHING), {
    object: { metadata: { name: 'mine' } },
    made: 'created',
  })
  await run('grant --imw root:imw1 root:mine --namespaces only')
  t.match(await ensureGrant(inventory, { path: 'root:mine' }, EVERYTHING), {
    object: { metadata: { name: 'mine' } },
    made: 'unchanged',
  })
  t.match((await inventory.get(PLACEMENT_GRANTS, { name: 'mine' })).spec, { namespaces: ['only'] })
  t.equal(grantLine('root:imw1', 'root:mine'), 'kubectl kubestellar grant --imw root:imw1 root:mine')
})
