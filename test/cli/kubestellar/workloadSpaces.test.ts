/** `ensure wmw` and `ensure location`: the types of spaces that they make and ask for, and the consents to place. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kubectlKubestellar } from '../../../src/cli/kubestellar/program.ts'
import { FIRST_OBJECTS } from '../../../src/cli/orrery/server/placementOptions.ts'
import { kubectlWs } from '../../../src/cli/ws/program.ts'
import { httpClient } from '../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { EVERYTHING } from '../../../src/placement/consent/consentObjects.ts'
import { INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../../../src/placement/words/placement.ts'
import { ALICE, BOB, createSpace, startTestServer, temporaryDir } from '../../support/server.ts'

const { api, server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const { options, base } = await loadKubeconfig(server.kubeconfigPath)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const inventory = client.in('root:imw1')
const dir = temporaryDir(t)
const ADMIN = join(dir, 'admin')
copyFileSync(server.kubeconfigPath, ADMIN)

type Program = (
  args: readonly string[],
  terminal: { out(line: string): void; err(line: string): void },
) => Promise<number>

async function runAs(kubeconfig: string, line: string, program: Program = kubectlKubestellar) {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const args = line.split(' ').map(word => (word === "''" ? '' : word.replaceAll("'", '')))
  const code = await program([...args, '--kubeconfig', kubeconfig], terminal)
  return { code, out, err }
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

/** Lets a user into a space, with a role. */
async function member(space: string, user: string, role: string): Promise<void> {
  for (const name of ['system:kcp:workspace:access', role]) {
    const binding = {
      metadata: { name: `${user}-${name.replaceAll(':', '-')}`, labels: { 'edge.kubestellar.io/natured': 'true' } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    }
    await api.ok(api.in(space).post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding))
  }
}

async function boundTo(path: string): Promise<unknown[]> {
  const { items } = await client.in(path).list(INVENTORY_BINDINGS)
  return items.map(({ spec }) => (spec as { path: string }).path)
}

async function grantNames(space = inventory): Promise<(string | undefined)[]> {
  return (await space.list(PLACEMENT_GRANTS)).items.map(({ metadata }) => metadata.name)
}

t.test('a workload space is made with both consents, and nothing is made twice', async t => {
  t.match(await runAs(ADMIN, 'ensure wmw shop'), {
    code: 0,
    out: [
      'Workspace "shop" (type root:workload) created in root.',
      'inventorybinding.edge.kubestellar.io/imw1 created',
      'placementgrant.edge.kubestellar.io/shop created in root:imw1',
      "Current workspace is 'root:shop' (type root:workload).",
    ],
    err: [],
  })
  t.match((await inventory.get(PLACEMENT_GRANTS, { name: 'shop' })).spec, {
    spaces: [{ path: 'root:shop' }],
    ...EVERYTHING,
  })
  const again = ["Current workspace is 'root:shop' (type root:workload)."]
  const stayed = ['root:shop is ready; enter it with: kubectl ws root:shop']
  t.same(await runAs(ADMIN, 'ensure wmw shop --no-enter'), { code: 0, out: stayed, err: [] })
  t.same(await runAs(ADMIN, 'ensure wmw shop --enter'), { code: 0, out: again, err: [] })
  t.same(await runAs(ADMIN, 'ensure wmw shop'), { code: 0, out: again, err: [] })
  await inventory.delete(PLACEMENT_GRANTS, { name: 'shop' })
  t.same(await runAs(ADMIN, 'ensure wmw shop'), { code: 0, out: again, err: [] })
  t.notMatch(await grantNames(), ['shop'], 'what was taken away is not given again in passing')
})

t.test('a space that is made again under its name is granted again', async t => {
  await runAs(ADMIN, 'ensure wmw twice')
  const before = await inventory.get(PLACEMENT_GRANTS, { name: 'twice' })
  await runAs(ADMIN, 'remove wmw twice')
  t.match(await runAs(ADMIN, 'ensure wmw twice'), {
    code: 0,
    out: [
      /created in root/,
      /created$/,
      'placementgrant.edge.kubestellar.io/twice configured in root:imw1',
      /^Current/,
    ],
  })
  t.not(
    JSON.stringify((await inventory.get(PLACEMENT_GRANTS, { name: 'twice' })).spec),
    JSON.stringify(before.spec),
    'the new space is meant',
  )
})

t.test('other inventories, several, or none', async t => {
  await runAs(ADMIN, 'create imw2 --context root --type root:inventory', kubectlWs)
  await runAs(ADMIN, "ensure wmw none --inventory ''")
  t.same(await boundTo('root:none'), [])
  t.match(await runAs(ADMIN, 'ensure wmw both --inventory root:imw1 --inventory root:imw2'), { code: 0, err: [] })
  t.same((await boundTo('root:both')).sort(), ['root:imw1', 'root:imw2'])
  t.same(await grantNames(client.in('root:imw2')), ['both'])
  t.match(await runAs(ADMIN, 'ensure wmw both --inventory root:wmw1'), {
    code: 1,
    err: [/^Error: .*spec\.path: Invalid value: "root:wmw1": a space of type "workload" is no inventory/],
  })
})

t.test('who may not grant gets the line to ask for, and it grants the same', async t => {
  await runAs(ADMIN, 'create team --context root --type root:workload', kubectlWs)
  await member('root:team', 'alice', 'admin')
  const line =
    "kubectl kubestellar grant --imw root:imw1 root:team --cluster-scoped --granting-kinds --upsync '*' --associated '*'"
  t.same(await runAs(kubeconfigOf(ALICE), 'ensure wmw team'), {
    code: 0,
    out: [
      'inventorybinding.edge.kubestellar.io/imw1 created',
      "Current workspace is 'root:team' (type root:workload).",
    ],
    err: [
      'Note: root:team may place nothing on root:imw1 yet. An administrator of that inventory grants it with:',
      `  ${line}`,
    ],
  })
  t.match(await runAs(ADMIN, line.replace('kubectl kubestellar ', '')), { code: 0 })
  t.match((await inventory.get(PLACEMENT_GRANTS, { name: 'team' })).spec, EVERYTHING)
})

t.test('who may only work in a space enters it, and changes nothing', async t => {
  await runAs(ADMIN, 'create yard --context root --type root:workload', kubectlWs)
  await member('root:yard', 'bob', 'edit')
  const bob = kubeconfigOf(BOB)
  t.same(await runAs(bob, 'ensure wmw yard'), {
    code: 0,
    out: ["Current workspace is 'root:yard' (type root:workload)."],
    err: [],
  })
  t.match(await runAs(bob, 'ensure wmw yard --inventory root:imw1'), {
    code: 0,
    err: ['Note: you may not bind root:yard to root:imw1; an administrator of root:yard may.'],
  })
  t.same(await boundTo('root:yard'), [])
})

t.test('a space of another type is told in one line, and nothing is touched', async t => {
  t.same(await runAs(ADMIN, 'ensure wmw imw1'), {
    code: 1,
    out: [],
    err: ['Error: root:imw1 is no workload space: it serves no InventoryBindings; choose another name'],
  })
  const noInventory =
    'Error: root:wmw1 serves no SyncTargets: it is no inventory; name one with --imw, such as --imw root:imw1'
  for (const command of [
    'ensure location florin --imw root:wmw1 env=prod',
    'remove location florin --imw root:wmw1',
    'prep-for-syncer florin --imw root:wmw1',
    'prep-for-cluster florin --imw root:wmw1 env=prod',
  ]) {
    t.same(await runAs(ADMIN, command), { code: 1, out: [], err: [noInventory] }, command)
  }
  await createSpace(api, 'plain')
  t.match(await runAs(ADMIN, 'ensure location florin --imw root:plain env=prod'), { code: 0 })
  t.match(await runAs(ADMIN, 'ensure wmw plain'), {
    code: 0,
    out: [/imw1 created$/, /plain created/, /root:universal/],
  })
})
