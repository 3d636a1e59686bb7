import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { kubectlKubestellar } from '../../../src/cli/kubestellar/program.ts'
import { httpClient } from '../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { FILE_LIMIT_MS } from '../../support/patience.ts'
import { pluginHere } from '../../support/runHere.ts'
import { startHarness } from '../support.ts'

const edge = (resource: string) => ({ group: 'edge.kubestellar.io', version: 'v2alpha1', resource })
const WORKSPACES = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }

t.test(
  'kubectl kubestellar against a server, as a process and in that of the test',
  { timeout: FILE_LIMIT_MS },
  async t => {
    const harness = await startHarness(t)
    const main = harness.kubeconfig('main')
    const { options, base } = await loadKubeconfig(main)
    const client = httpClient({ ...options, server: base })
    t.teardown(() => client.close())
    const untouched = readFileSync(main, 'utf8')
    const run = (program: string, args: string, kubeconfig = main) => harness.run(program, args.split(' '), kubeconfig)
    const process = (args: string) => run('kubectl-kubestellar', args)
    const ks = (args: string) => pluginHere('kubestellar', ...args.split(' '), '--kubeconfig', main)
    const fails = (code: number, err: RegExp) => ({ code, out: '', err })
    const inventory = client.in('root:imw1')
    t.match(await run('kubectl-ws', 'ensure root:imw1'), { code: 0 })

    t.match(await process('ensure location florin --imw root:imw1 loc-name=florin env=prod'), {
      code: 0,
      out: 'synctarget.edge.kubestellar.io/florin created\nlocation.edge.kubestellar.io/florin created\n',
    })
    t.match(await ks('ensure location florin --imw imw1 env=test'), {
      code: 0,
      out: 'synctarget.edge.kubestellar.io/florin labeled\nlocation.edge.kubestellar.io/florin labeled\n',
    })
    const target = await inventory.get(edge('synctargets'), { name: 'florin' })
    t.strictSame(target.metadata.labels, { id: 'florin', 'loc-name': 'florin', env: 'test' })
    t.match(await inventory.get(edge('locations'), { name: 'florin' }), {
      metadata: { labels: { 'loc-name': 'florin', env: 'test' } },
      spec: {
        resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
        instanceSelector: { matchLabels: { id: 'florin' } },
      },
    })

    const [none, reserved, noUrl, noTarget, noCore, noMailbox, prepared, alone] = await Promise.all([
      process('ensure location florin --imw root:nope a=b'),
      ks('ensure location default --imw root:imw1 a=b'),
      ks('prep-for-syncer florin --imw root:imw1 --syncer-server o.example:443'),
      ks('prep-for-syncer absent --imw root:imw1'),
      ks('prep-for-syncer florin --imw root:imw1 --espw root:nope'),
      ks('prep-for-syncer florin --imw root:imw1 --espw root:imw1 --timeout 1'),
      process('prep-for-syncer florin --imw root:imw1 --syncer-image example.com/orrery:1'),
      process(
        'prep-for-syncer florin --imw root:imw1 --kubeconfig-output alone/kubeconfig --syncer-server https://o.example',
      ),
    ])
    t.match(none, fails(1, /workspaces\.tenancy\.kcp\.io "root:nope" not found/))
    t.match(reserved, fails(1, /'default' is not an acceptable name/))
    t.match(noUrl, fails(1, /"o\.example:443" is not a URL such as https:\/\/host:port/))
    t.match(noTarget, fails(1, /synctargets\.edge\.kubestellar\.io "absent" not found/))
    t.match(noCore, fails(2, /it looks like "root:nope" is not the core space/))
    t.match(noMailbox, fails(5, /did not find the mailbox workspace \S+ in root:imw1 within 1 s/))

    const mailboxName = `${target.metadata.annotations!['kcp.io/cluster']}-mb-${target.metadata.uid}`
    const mailbox = await client.in('root:espw').get(WORKSPACES, { name: mailboxName })
    const id = (mailbox.spec as { cluster: string }).cluster
    t.match(prepared, { code: 0, out: /^Wrote the manifest .* florin-syncer\.yaml/, err: /see --syncer-server/ })
    const path = join(harness.dir, 'florin-syncer.yaml')
    t.equal(statSync(path).mode & 0o777, 0o600, 'a file with a credential is private')
    const objects: KubeObject[] = parseAllDocuments(readFileSync(path, 'utf8')).map(document => document.toJSON())
    const program = JSON.stringify(objects.find(({ kind }) => kind === 'Deployment'))
    t.match(program, 'example.com/orrery:1')
    t.match(program, `--sync-target-uid=${target.metadata.uid}`)
    const secrets = Object.assign({}, ...objects.map(({ stringData }) => stringData)) as Record<string, string>
    const kubeconfig = parse(secrets.kubeconfig!)
    t.equal(kubeconfig.clusters[0].cluster.server, `${harness.url}/clusters/${id}`)
    t.strictSame(kubeconfig.users[0].user, { tokenFile: '/kubestellar/credential' })
    const credential = secrets.credential!
    const { iss } = JSON.parse(Buffer.from(credential.split('.')[1]!, 'base64url').toString())
    t.equal(iss, 'orrery-syncer-renewal', 'what is handed out is good for asking for tokens only')

    t.match(alone, { code: 0, out: "Wrote the syncer's kubeconfig to alone/kubeconfig\n", err: '' })
    const alonePath = join(harness.dir, 'alone/kubeconfig')
    t.match(parse(readFileSync(alonePath, 'utf8')).clusters[0].cluster.server, `https://o.example/clusters/${id}`)
    t.equal(readFileSync(main, 'utf8'), untouched, 'the current workspace of the user is left alone')

    t.match(await process('prep-for-cluster guilder --imw root:imw1 env=prod --kubeconfig-output g -s'), {
      code: 0,
      out: '',
    })
    const syncerConfig = join(harness.dir, 'g')
    const [wmw, denied, own, gone] = await Promise.all([
      ks('ensure wmw wmw-c'),
      run('kubectl-ws', ':root:imw1', syncerConfig),
      run('kubectl-ws', 'tree -f', syncerConfig),
      run('kubectl-kubestellar', 'remove location florin --imw root:imw1', harness.kubeconfig('second')),
    ])
    t.match(wmw, {
      code: 0,
      out: [
        'Workspace "wmw-c" (type root:workload) created in root.',
        'inventorybinding.edge.kubestellar.io/imw1 created',
        'placementgrant.edge.kubestellar.io/wmw-c created in root:imw1',
        "Current workspace is 'root:wmw-c' (type root:workload).",
        '',
      ].join('\n'),
      err: '',
    })
    t.match(parse(readFileSync(main, 'utf8')), { 'current-context': 'workspace.kcp.io/current' })
    t.match(denied, fails(1, /^Error: access to workspace "root:imw1" denied\n$/))
    t.match(own, { code: 0, out: /^\.\n└── \S+ \(no access\)\n$/ }, 'the credential opens no space by itself')
    t.match(gone, { code: 0, out: /^location.*florin" deleted\nsynctarget.*florin" deleted\n$/ })

    t.match(await ks('remove wmw wmw-c'), {
      code: 0,
      out: 'workspace.tenancy.kcp.io "wmw-c" deleted\n',
      err: /you are inside root:wmw-c/,
    })
    t.match(await ks('remove wmw wmw-c'), { code: 1, out: '', err: /^Error: workspace "root:wmw-c" not found/ })
  },
)

t.test('what is wrong on the face of it needs no server', async t => {
  for (const [args, code, message] of [
    [['ensure', 'location', 'florin'], 1, 'must be given at least one label key=value'],
    [['ensure', 'location', 'florin', 'id=x'], 1, "'id' label may not be specified"],
    [['ensure', 'location', 'florin', 'id-'], 1, "'id' label may not be taken away: the Location selects by it"],
    [
      ['ensure', 'location', 'florin', 'env=a', 'env-'],
      1,
      'the label "env" is set and taken away in one command; choose one',
    ],
    [['remove', 'location', 'florin', '--context', 'base'], 1, '--context flag not supported'],
    [['ensure', 'wmw', 'w', '--with-kube', 'maybe'], 1, 'with-kube should be true or false'],
  ] as const) {
    const said: string[] = []
    const terminal = { out: (line: string) => void said.push(line), err: (line: string) => void said.push(line) }
    t.equal(await kubectlKubestellar(args, terminal), code)
    t.strictSame(said, [`Error: ${message}`])
  }
})
