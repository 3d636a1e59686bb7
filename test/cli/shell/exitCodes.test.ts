/** Every exit code that the help of a plugin's command names is one that it ends with. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kubectlKubestellar } from '../../../src/cli/kubestellar/program.ts'
import { FIRST_OBJECTS } from '../../../src/cli/orrery/server/placementOptions.ts'
import { kubectlWs } from '../../../src/cli/ws/program.ts'
import { httpClient } from '../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { SYNC_TARGETS } from '../../../src/placement/words/placement.ts'
import { commandTree, type DescribedCommand } from '../../../tools/pages/commandTree.ts'
import { ALICE, startTestServer, temporaryDir } from '../../support/server.ts'

const { api, server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const { options, base } = await loadKubeconfig(server.kubeconfigPath)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const dir = temporaryDir(t)
const admin = join(dir, 'admin')
copyFileSync(server.kubeconfigPath, admin)

/** The kubeconfig of a user who may look at one space, and nothing else. */
async function viewer(user: string, token: string, space: string): Promise<string> {
  for (const name of ['system:kcp:workspace:access', 'view']) {
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }]
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const binding = { metadata: { name: `${user}-${name.replaceAll(':', '-')}` }, roleRef, subjects }
    await api.ok(api.in(space).post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding))
  }
  const path = join(dir, user)
  const config = {
    clusters: [{ name: 'c', cluster: { server: `${base}/clusters/root`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}
const alice = await viewer('alice', ALICE, 'root:imw1')

async function run(line: string, kubeconfig = admin): Promise<{ code: number; err: string }> {
  const err: string[] = []
  const terminal = { out: () => {}, err: (text: string) => void err.push(text) }
  const [, plugin, ...args] = line.split(' ')
  const program = plugin === 'ws' ? kubectlWs : kubectlKubestellar
  return { code: await program([...args, '--kubeconfig', kubeconfig], terminal), err: err.join('\n') }
}

await run('kubectl kubestellar ensure location florin --imw root:imw1 env=prod')
await run('kubectl kubestellar ensure location crown --imw root:imw1 env=prod')
const FINALIZERS = { metadata: { finalizers: ['edge.kubestellar.io/cluster'] } }
await client.in('root:imw1').patch(SYNC_TARGETS, { name: 'florin' }, 'merge', FINALIZERS)

const [LOCATION, PREP] = ['kubectl kubestellar ensure location', 'kubectl kubestellar prep-for-cluster']
/** By exit code, the line that ends with it, what it says and whose kubeconfig it takes. */
const FAILING: Readonly<Record<string, Readonly<Record<number, readonly [string, RegExp, string?]>>>> = {
  'kubectl ws ensure': {
    2: ['kubectl ws ensure a:root', /only be used at the beginning/],
    3: ['kubectl ws ensure ..:..', /Cannot change to the parent/],
  },
  [LOCATION]: {
    3: [
      `${LOCATION} guilder --imw root:imw1 env=prod`,
      /Creation of SyncTarget failed.* \(in space root:imw1\)/,
      alice,
    ],
    4: [`${LOCATION} florin --imw root:imw1 env=test`, /failed to change labels of SyncTarget/, alice],
  },
  'kubectl kubestellar remove location': {
    6: ['kubectl kubestellar remove location florin --imw root:imw1 --timeout 0', /still waits for its syncer/],
  },
  'kubectl kubestellar drain': {
    6: ['kubectl kubestellar drain crown --imw root:imw1 --timeout 0', /copies are still there after 0 s/],
  },
  'kubectl kubestellar ensure wmw': {
    3: ['kubectl kubestellar ensure wmw wmw1', /cannot create resource "workspaces"/, alice],
  },
  [PREP]: {
    ...withoutMailbox(PREP, 'env=prod'),
    3: [`${PREP} guilder --imw root:imw1 env=prod`, /Creation of SyncTarget failed/, alice],
    4: [`${PREP} florin --imw root:imw1 env=test`, /failed to change labels of SyncTarget/, alice],
  },
  'kubectl kubestellar prep-for-syncer': withoutMailbox('kubectl kubestellar prep-for-syncer'),
  'kubectl kubestellar syncer list': {
    2: ['kubectl kubestellar syncer list --imw root:imw1 --espw root:none', /not the core space/],
  },
  'kubectl kubestellar syncer revoke': withoutMailbox('kubectl kubestellar syncer revoke'),
  'kubectl kubestellar syncer rotate': withoutMailbox('kubectl kubestellar syncer rotate'),
  'kubectl kubestellar syncer remove': withoutMailbox('kubectl kubestellar syncer remove'),
  'kubectl kubestellar syncer adopt': withoutMailbox('kubectl kubestellar syncer adopt', `--to-kubeconfig ${admin}`),
}

function withoutMailbox(command: string, more = ''): Record<number, readonly [string, RegExp]> {
  const line = `${command} florin --imw root:imw1 ${more}`.trim()
  return {
    2: [`${line} --espw root:none`, /not the core space/],
    5: [`${line} --timeout 0`, /did not find the mailbox workspace .* within 0 s/],
  }
}

t.test('they are what the help says', async t => {
  const leaves = (command: DescribedCommand): DescribedCommand[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
  const plugins = commandTree().filter(({ path }) => path.startsWith('kubectl '))
  for (const { path, notes } of plugins.flatMap(leaves)) {
    const [, told = ''] = /Exit codes: (0 it was done, .*)\.$/s.exec(notes) ?? []
    const codes = [...told.matchAll(/(?:^|, )(\d) /g)].map(([, code]) => Number(code)).filter(code => code > 1)
    const failing = FAILING[path] ?? {}
    t.strictSame(codes.sort(), Object.keys(failing).map(Number), path)
    for (const [code, [line, says, kubeconfig]] of Object.entries(failing))
      t.match(await run(line, kubeconfig), { code: Number(code), err: says }, line)
  }
})

t.test('everything else is 1', async t => {
  t.match(await run('kubectl ws root:none'), { code: 1, err: /not found/ })
  t.match(await run('kubectl kubestellar syncer rotate none --imw root:imw1'), { code: 1, err: /not found/ })
})
