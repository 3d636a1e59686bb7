/** Commands that make, change or delete print the objects for programs, alone on standard output. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { kubectlKubestellar } from '../../../src/cli/kubestellar/program.ts'
import { kubectlWs } from '../../../src/cli/ws/program.ts'
import { commandTree, type DescribedCommand } from '../../../tools/pages/commandTree.ts'
import { Command } from '../../support/command.ts'
import { startHarness } from '../support.ts'

const harness = await startHarness(t)
const wec = join(harness.dir, 'wec')
await new Command(t, ['simulate-wec', '--name', 'florin', '--data-dir', wec, '--secure-port', '0']).said('ready')
const main = harness.kubeconfig('main')

async function run(line: string) {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const [plugin, ...args] = line.split(' ')
  const code = await (plugin === 'ws' ? kubectlWs : kubectlKubestellar)([...args, '--kubeconfig', main], terminal)
  return { code, out, err }
}

async function document(line: string): Promise<Record<string, unknown>> {
  const { code, out, err } = await run(`${line} -o json`)
  t.equal(code, 0, `${line}\n${err.join('\n')}`)
  return JSON.parse(out.join('\n'))
}

/** Output of `-o name`. */
async function names(line: string): Promise<string[]> {
  const { code, out, err } = await run(`${line} -o name`)
  t.equal(code, 0, `${line}\n${err.join('\n')}`)
  return out
}

t.test('every command has documents for programs, but those that run on or print one already', t => {
  const leaves = (command: DescribedCommand): DescribedCommand[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
  const without = commandTree()
    .flatMap(leaves)
    .filter(({ options }) => !options.some(({ flags }) => flags.startsWith('-o, --output')))
  const others = [
    'start',
    'simulate-wec',
    'mcp',
    'kubeconfig',
    'aggregation print',
    'ws',
    'kubestellar',
    'completion',
  ].map(name => `orrery ${name}`)
  t.strictSame(
    without.map(({ path }) => path),
    [...others, 'kubectl kubestellar wait'],
  )
  t.end()
})

t.test('spaces', async t => {
  t.match(await document('ws ensure root:shops:milano'), {
    kind: 'List',
    items: [
      { kind: 'Workspace', metadata: { name: 'shops' }, status: { phase: 'Ready' } },
      { kind: 'Workspace', metadata: { name: 'milano', managedFields: undefined }, status: { phase: 'Ready' } },
    ],
  })
  t.strictSame(await names('ws ensure root:shops:milano'), [
    'workspace.tenancy.kcp.io/shops',
    'workspace.tenancy.kcp.io/milano',
  ])
  const made = await run('ws create roma --enter -o yaml')
  t.match(parse(made.out.join('\n')), { kind: 'Workspace', metadata: { name: 'roma' }, status: { phase: 'Ready' } })
  t.match(made.err.at(-1), "Current workspace is 'root:roma'", 'what is told goes elsewhere')
  t.match(await document('ws create-context rome'), {
    apiVersion: 'cli.edge.kubestellar.io/v1',
    kind: 'KubeconfigContext',
    metadata: { name: 'rome' },
    path: 'root:roma',
  })
  await run('ws root')
  t.match(await document('ws delete root:roma'), { kind: 'Workspace', metadata: { name: 'roma' } })
  t.match(await document('ws delete root:roma --ignore-not-found'), { kind: 'List', items: [] })
  t.strictSame(await names('ws delete root:shops'), ['workspace.tenancy.kcp.io/shops'])
  t.match(await run('ws delete root:shops -o json'), { code: 1, out: [] }, 'nothing is printed for what failed')
})

t.test('consents', async t => {
  t.match(await document('kubestellar ensure wmw shop'), {
    kind: 'List',
    items: [
      { kind: 'Workspace', metadata: { name: 'shop' } },
      { kind: 'InventoryBinding', metadata: { name: 'imw1' } },
      { kind: 'PlacementGrant', metadata: { name: 'shop' } },
    ],
  })
  t.strictSame(await names('kubestellar ensure wmw shop --inventory root:imw1'), [
    'workspace.tenancy.kcp.io/shop',
    'inventorybinding.edge.kubestellar.io/imw1',
    'placementgrant.edge.kubestellar.io/shop',
  ])
  t.match(await document('kubestellar grant root:shop --imw root:imw1 --namespaces shop'), {
    kind: 'PlacementGrant',
    spec: { namespaces: ['shop'] },
  })
  t.match(await document('kubestellar ungrant root:shop --imw root:imw1'), {
    kind: 'List',
    items: [{ kind: 'PlacementGrant', metadata: { name: 'shop' } }],
  })
  t.match(await run('kubestellar ungrant root:shop --imw root:imw1 -o json'), { code: 1, out: [] })
  t.match(await document('kubestellar remove wmw shop'), { kind: 'Workspace', metadata: { name: 'shop' } })
  const gone = await run('kubestellar remove wmw shop -o name')
  t.match(gone, { code: 1, out: [], err: ['Error: workspace "root:shop" not found'] })
  t.match(await run('kubestellar remove wmw shop -o name --ignore-not-found'), { code: 0, out: [], err: [] })
})

t.test('clusters and their syncers', async t => {
  const ensure = 'kubestellar ensure location florin --imw root:imw1'
  t.match(await document(`${ensure} env=prod`), {
    kind: 'List',
    items: [
      { kind: 'SyncTarget', metadata: { name: 'florin', labels: { env: 'prod', id: 'florin' } } },
      { kind: 'Location', metadata: { name: 'florin', labels: { env: 'prod' } } },
    ],
  })
  t.match(await document(`${ensure} env=test`), {
    items: [{ metadata: { labels: { env: 'test' } } }, { metadata: { labels: { env: 'test' } } }],
  })
  const syncer = (verb: string) => `kubestellar syncer ${verb} florin --imw root:imw1`

  const prep = 'kubestellar prep-for-syncer florin --imw root:imw1'
  const manifest = (await document(prep)) as { items: { kind: string }[] }
  t.ok(manifest.items.some(({ kind }) => kind === 'Deployment'))
  t.ok((await names(prep)).some(line => line.startsWith('deployment.apps/kubestellar-syncer-florin-')))
  const both = await run(`${prep} -o yaml --kubeconfig-output ${join(harness.dir, 'florin.kubeconfig')}`)
  const [one, ...more] = parseAllDocuments(both.out.join('\n'))
  t.strictSame(more, [])
  t.match(one?.toJS(), { kind: 'List' })
  t.match(both.err.join('\n'), "Wrote the syncer's kubeconfig")
  t.match(await document('kubestellar prep-for-cluster florin --imw root:imw1 env=prod'), { kind: 'List' })
  t.match(await document(syncer('rotate')), { kind: 'Secret', metadata: { name: /-credential$/ } })
  for (const name of ['json', 'yaml', 'name']) t.notOk(existsSync(name), 'no file has the name of a format')

  const adopt = `${syncer('adopt')} --to-kubeconfig ${join(wec, 'admin.kubeconfig')}`
  t.match(await document(adopt), { kind: 'ConfigMap', metadata: { namespace: 'kube-system', name: 'orrery-syncer' } })
  const revoked = (await document(syncer('revoke'))) as { items: { kind: string; data?: unknown }[] }
  t.ok(revoked.items.filter(({ kind }) => kind === 'Secret').length >= 2, 'each credential')
  t.notOk(
    revoked.items.some(({ data }) => data !== undefined),
    'but not what was in it',
  )
  t.strictSame(await names(syncer('remove')), ['serviceaccount/kubestellar-syncer'])
  t.match(await document('kubestellar remove location florin --imw root:imw1 --force'), {
    items: [{ kind: 'SyncTarget' }, { kind: 'Location' }],
  })
  t.match(await document('kubestellar remove location florin --imw root:imw1 --ignore-not-found'), {
    kind: 'List',
    items: [],
  })
})
