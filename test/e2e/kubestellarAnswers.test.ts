/**
 * Answers of `kubectl kubestellar` to a member of a team who has their space and nothing else. The server, cluster and syncer are real.
 * In the end the commands of docs/answers.md, as they stand there.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { num } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../src/apimachinery/resources.ts'
import { kubectlKubestellar } from '../../src/cli/kubestellar/program.ts'
import type { Ran } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { is, map } from '../syncer/support/installation.ts'
import { LOCATIONS, MAPS, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { Program, until } from '../syncer/support/processes.ts'
import { FLORIN, Florin, has, target } from './support/florin.ts'
import { Terminal } from './support/terminal.ts'

const ROOT = join(import.meta.dirname, '../..')
const EDGE = 'edge.kubestellar.io/v2alpha1'
const GRANTED = { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'grantedlocations' }
const BINDINGS = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }

t.test('a team asks what becomes of its workload', { timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  writeFileSync(join(dir, 'tokens'), 'token-of-mia,mia,u-1,"team"\n')
  const florin = await Florin.begin(t, { serverFlags: ['--token-auth-file', join(dir, 'tokens')] })
  const { wds, cluster, inventory } = florin
  for (const role of ['system:kcp:workspace:access', 'edit']) await wds.create(BINDINGS, binding(role))
  const kubeconfig = join(dir, 'mia')
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(`${florin.url}/clusters/root:wmw1`)))
  const terminal = new Terminal(t, { dir, env: { KUBECONFIG: kubeconfig } })
  /** `input` comes in a file: a command that ends before it reads would break a pipe. */
  const run = (command: string, input?: string): Promise<Ran> => {
    if (input === undefined) return terminal.run(command)
    writeFileSync(join(dir, 'stdin'), input)
    return terminal.run(`${command} < stdin`)
  }
  /** In this process, where the libraries are loaded once; it asks as the program does. `input` comes in a file. */
  const ks = async (args: string, input?: string, isTerminal = false) => {
    const out: string[] = []
    const err: string[] = []
    const terminal = {
      out: (line: string) => void out.push(`${line}\n`),
      err: (line: string) => void err.push(`${line}\n`),
      isTerminal,
    }
    const path = join(dir, 'input.yaml')
    if (input !== undefined) writeFileSync(path, input)
    const code = await kubectlKubestellar(args.replace('-f -', `-f ${path}`).split(' '), terminal)
    return { code, out: out.join(''), err: err.join('') }
  }

  const { KUBECONFIG } = process.env
  process.env.KUBECONFIG = kubeconfig
  t.teardown(() => {
    if (KUBECONFIG === undefined) delete process.env.KUBECONFIG
    else process.env.KUBECONFIG = KUBECONFIG
  })

  // a place that the placement does not choose, and a thing that the cluster does not take
  await inventory.create(TARGETS, { ...target, metadata: { name: 'guilder', labels: { id: 'guilder' } } })
  await inventory.create(LOCATIONS, locationOf('guilder', { env: 'test' }))
  await until(wds, GRANTED, { name: 'imw1.guilder' }, row => row !== undefined)
  await cluster.create(MAPS, map('theirs', { x: 'theirs' }))
  await wds.create(MAPS, map('theirs', { x: 'ours' }))
  await until(wds, PLACEMENTS, { name: 'p' }, has('Applied', 'False', 'Refused'))

  await t.test('why', async t => {
    const refused = await ks('why cm/theirs -n shop')
    t.match(refused, { code: 0, err: '' })
    t.match(refused.out, /^configmaps "shop\/theirs" is Refused in 1 of 1 cluster$/m)
    t.match(refused.out, /^placement p selects it by spec\.downsync\[0\]$/m)
    t.match(refused.out, /^ {2}not to imw1\.guilder: wants env=prod, has env=test$/m)
    t.match(refused.out, /^imw1\.florin +Refused .*AlreadyInCluster +was in the cluster before/m)
    const json = JSON.parse((await ks('why configmap theirs -n shop -o json')).out)
    t.match(json, {
      apiVersion: 'cli.edge.kubestellar.io/v1',
      kind: 'Why',
      verdict: 'Refused',
      object: { resource: 'configmaps', namespace: 'shop', name: 'theirs' },
      placements: [
        { name: 'p', selects: true, leadsTo: [{ location: 'imw1.florin', inventory: 'root:imw1', name: 'florin' }] },
      ],
      clusters: [{ location: 'imw1.florin', state: 'Refused', reason: 'AlreadyInCluster' }],
      unknown: [],
    })
    t.match(await ks('why cm theirs -n shop --cluster florin -o name'), {
      code: 0,
      out: 'grantedlocation/imw1.florin\n',
    })
    t.match(await ks('why cm theirs -n shop --cluster guilder'), { code: 0, out: /led not to "guilder"/ })
    t.match((await ks('why ns/shop -o yaml')).out, /^---\n(.*\n)*verdict: NotSelected\n(.*\n)*.*NamespacesFollow/)

    const [kind, name, elsewhere, where, space] = await Promise.all([
      ks('why configmapp/theirs'),
      ks('why cm/their -n shop'),
      ks('why cm/theirs'),
      ks('why cm/theirs -n shop --cluster florinn'),
      ks('why cm/theirs --space root'),
    ])
    t.match(kind, { code: 1, out: '', err: /no kind called "configmapp"; did you mean "configmap"/ })
    t.match(name, { code: 1, err: /root:wmw1 has no configmaps "shop\/their"; did you mean "theirs"\?/ })
    t.match(elsewhere, { code: 1, err: /there is one in namespace "shop": say so with -n/ })
    t.match(where, { code: 1, err: /may place on no location called "florinn"; did you mean/ })
    t.match(space, { code: 1, err: /access to workspace "root" denied|forbidden/i })
  })

  await t.test('why --watch, on a terminal', async t => {
    const plugin = join(ROOT, 'bin/kubectl-kubestellar')
    const command = `${plugin} why cm/page -n shop --watch --kubeconfig ${kubeconfig}`
    const watcher = Program.spawned(t, 'env', ['-u', 'NO_COLOR', 'TERM=xterm', 'script', '-qec', command, '/dev/null'])
    t.match(colours(await watcher.said('shop/page')), /^<32m>configmaps "shop\/page" is .* 1 of 1 cluster<0m>/)
    const nowhere = { locationSelectors: [], downsync: [{ apiGroup: '', resources: ['configmaps'] }] }
    await wds.create(PLACEMENTS, {
      apiVersion: EDGE,
      kind: 'EdgePlacement',
      metadata: { name: 'nowhere' },
      spec: nowhere,
    })
    await watcher.said('nowhere')
    await wds.delete(PLACEMENTS, { name: 'nowhere' })
  })

  await t.test('each has colours on a terminal, unless they are not wanted', async t => {
    const { NO_COLOR } = process.env
    delete process.env.NO_COLOR
    t.teardown(() => Object.assign(process.env, NO_COLOR !== undefined && { NO_COLOR }))
    const page = JSON.stringify(map('page', { x: '2' }))
    const shown: [command: string, told: RegExp, input?: string][] = [
      ['why cm/theirs -n shop', /^imw1\.florin +<31m>Refused<0m> /m],
      ['status', /^imw1\.florin +<31m>Failing<0m> /m],
      ['diff cm/theirs -n shop', /^<31m>configmaps "shop\/theirs" is not everywhere as it should be/m],
      ['preview -f -', /^<31m>- {2}x: "1"<0m>\n<32m>\+ {2}x: "2"<0m>$/m, page],
    ]
    for (const [command, told, input] of shown) t.match(colours((await ks(command, input, true)).out), told, command)
    process.env.NO_COLOR = '1'
    t.match(await ks('status', undefined, true), { out: /^imw1\.florin +Failing /m })
    delete process.env.NO_COLOR
  })

  await t.test('status', async t => {
    const { code, out } = await ks('status')
    t.equal(code, 0)
    t.match(out, /^1 placement \(1 in trouble\), 1 of 2 copies applied, 2 locations \(2 in trouble\)$/m)
    t.match(out, /^p +Refused +\d+[smhd] +1 +2 +1 +1 +.*was in the cluster before/m)
    t.match(
      out,
      /^imw1\.florin +Failing +(?:\d+[smhd] +)?1\/1 +1 object is not as it should be: configmaps "shop\/theirs": was in the/m,
    )
    t.match(out, /^imw1\.guilder +Silent +(?:\d+[smhd] +)?0\/1 +no syncer there reports$/m)
    t.equal(
      (await ks('status -o name')).out,
      'edgeplacement/p\ngrantedlocation/imw1.florin\ngrantedlocation/imw1.guilder\n',
    )
    t.match(JSON.parse((await ks('status -o json')).out), {
      kind: 'FleetStatus',
      placements: {
        total: 1,
        troubled: 1,
        items: [{ name: 'p', state: 'Refused', counts: { copies: 2, applied: 1 } }],
      },
      clusters: { total: 2, items: [{ location: 'imw1.florin', trouble: 'bad' }, {}] },
    })

    // more than its placement names
    const more = Array.from({ length: 20 }, (_, i) => `theirs-${i}`)
    await Promise.all(more.map(name => cluster.create(MAPS, map(name, { x: 'theirs' }))))
    await Promise.all(more.map(name => wds.create(MAPS, map(name, { x: 'ours' }))))
    const refused = (count: number) => (row: KubeObject | undefined) =>
      num(row, 'status', 'counts', 'refused') === count
    await until(wds, PLACEMENTS, { name: 'p' }, refused(21))
    t.match(
      (await ks('status')).out,
      /^imw1\.florin +Failing +(?:\d+[smhd] +)?1\/1 +21 objects are not as they should be: configmaps/m,
    )
    await Promise.all(more.map(name => wds.delete(MAPS, { namespace: 'shop', name })))
    await until(wds, PLACEMENTS, { name: 'p' }, refused(1))
  })

  await t.test('preview', async t => {
    const file = (...objects: object[]) => objects.map(object => `---\n${JSON.stringify(object)}\n`).join('')
    const changed = await ks('preview -f -', file(map('page', { x: '2' })))
    t.equal(changed.code, 1, changed.err)
    t.match(changed.out, /^configmaps "shop\/page" updated in imw1\.florin$/m)
    t.match(changed.out, /^ data:\n- {2}x: "1"\n\+ {2}x: "2"$/m)
    t.match(changed.out, /\n\n1 object: 1 updated in clusters\n$/)
    t.match(await wds.get(MAPS, { namespace: 'shop', name: 'page' }), { data: { x: '1' } }, 'nothing is changed')
    t.match(await ks('preview -f -', file(map('page', { x: '1' }))), {
      code: 0,
      out: /page" unchanged in imw1/,
    })

    const web = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'new', namespace: 'shop' },
      spec: {
        selector: { matchLabels: { app: 'new' } },
        template: { metadata: { labels: { app: 'new' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    }
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'shop' },
      stringData: { p: 'hushhush' },
    }
    const test = { apiGroup: '', resources: ['secrets'], namespaces: ['shop'] }
    await wds.create(PLACEMENTS, {
      apiVersion: EDGE,
      kind: 'EdgePlacement',
      metadata: { name: 'secrets' },
      spec: { locationSelectors: [{ matchLabels: { env: 'prod' } }], downsync: [test] },
    })
    await until(wds, PLACEMENTS, { name: 'secrets' }, has('Resolved', 'True', 'LocationsChosen'))
    writeFileSync(join(dir, 'new.yaml'), file(web, secret))
    const news = await ks(`preview -f ${join(dir, 'new.yaml')} -o json`)
    t.equal(news.code, 1, news.err)
    const made = JSON.parse(news.out)
    t.match(made, { kind: 'Preview', changes: true, counts: { Create: 2 } })
    const [deployment, hidden] = made.objects
    t.match(deployment, {
      operation: 'create',
      placements: ['p'],
      groups: [{ action: 'Create', locations: [{ location: 'imw1.florin' }] }],
    })
    t.same(Object.keys(deployment.groups[0].after.spec), ['selector', 'template'], 'what nobody said does not travel')
    t.match(hidden.groups[0].after.data, { p: /^hash:[0-9a-f]{16}$/ })
    t.notMatch(JSON.stringify(made), /hushhush|aHVzaGh1c2g/)
    t.equal((await ks(`preview -f ${join(dir, 'new.yaml')} -o name`)).out, 'deployments.apps/new\nsecrets/s\n')

    // a parameter that no Location has: the space takes the description, and no cluster would
    const expanding = { ...web.metadata, annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } }
    const misspelt = { ...web, metadata: expanding, spec: { ...web.spec, replicas: '%(replicaz)' } }
    const refused = await ks('preview -f -', file(misspelt))
    t.match(
      refused,
      { code: 2, out: /new" invalid in imw1\.florin: parameter "replicaz" is not defined in Location "florin"/ },
      refused.err,
    )
    t.match(refused.out, /\n1 object: 1 invalid in clusters\n$/)

    const natured = map('page', { x: '1' })
    natured.metadata.labels = { 'edge.kubestellar.io/natured': 'true' }
    t.match(await ks('preview -f -', file(natured)), { code: 1, out: /for the space itself/ })
    const { kind, apiVersion, spec } = await wds.get(PLACEMENTS, { name: 'p' })
    const locationSelectors = [{ matchLabels: { env: 'prodd' } }]
    const mistyped = { apiVersion, kind, metadata: { name: 'p' }, spec: { ...(spec as object), locationSelectors } }
    const emptied = await ks('preview -f -', file(mistyped))
    t.equal(emptied.code, 1, emptied.err)
    t.match(
      emptied.out,
      /moves \d+ other objects of this space; it would lead nowhere: .*; its locationSelectors would choose 1 \(imw1\.florin\) fewer/,
    )
    t.match(emptied.out, /^ {2}copies: \d+ deleted in 1 cluster\n {4}imw1\.florin: \d+ deleted$/m)
    t.match(emptied.out, /^configmaps "shop\/page" deleted in imw1\.florin$/m)
    t.match(emptied.out, /\d+ deleted in clusters; deletions would be held until they are confirmed\n$/)
    const unselected = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', namespace: 'shop' },
      spec: { ports: [{ port: 1 }] },
    }
    t.match(await ks('preview -f -', file(unselected)), {
      code: 0,
      out: /services "shop\/s": no EdgePlacement selects it/,
    })
    const invalid = { ...web, spec: {} }
    t.match(await ks('preview -f -', file(invalid)), { code: 2, out: '', err: /spec\.selector/ })
    t.match(await ks('preview'), { code: 2, err: /say what is to be previewed with -f/ })
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' }, rules: [] }
    const question = {
      apiVersion: 'edge.kubestellar.io/v1alpha1',
      kind: 'PlacementPreview',
      metadata: {},
      spec: { objects: [role] },
    }
    const raw = 'kubectl create --raw /clusters/root:wmw1/apis/edge.kubestellar.io/v1alpha1/placementpreviews -f -'
    t.match(await run(raw, JSON.stringify(question)), { code: 1, err: /cannot get resource "clusterroles"/ })
  })

  await t.test('preview of the first EdgePlacement of a space', async t => {
    const own = join(dir, 'administrator')
    copyFileSync(florin.kubeconfig, own)
    t.equal((await ks(`ensure wmw second --kubeconfig ${own}`)).code, 0)
    const second = florin.space('root:second')
    await second.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    await second.create(MAPS, map('first', { x: '1' }))
    const downsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['shop'] }]
    const first = { locationSelectors: [{ matchLabels: { env: 'prod' } }], downsync }
    const placement = { apiVersion: EDGE, kind: 'EdgePlacement', metadata: { name: 'first' }, spec: first }
    const told = await ks(`preview -f - --space root:second --kubeconfig ${own}`, JSON.stringify(placement))
    t.equal(told.code, 1, told.err)
    t.match(told.out, /^ {2}copies: 1 created in 1 cluster$/m)
    t.match(told.out, /^configmaps "shop\/first" created in imw1\.florin\n(.*\n)*\+ {2}x: "1"$/m)
    await second.create(PLACEMENTS, placement)
    await until(cluster, MAPS, { namespace: 'shop', name: 'first' }, is('data', { x: '1' }))
  })

  await t.test('diff', async t => {
    const same = await ks('diff cm/page -n shop')
    t.match(same, { code: 0, out: /^configmaps "shop\/page" is as it should be in 1 cluster\n/ })
    t.match(same.out, /compared: .*; of 1 cluster what is there now, in the fields that the center sets\n$/)
    const unread = await ks('diff cm/page -n shop --no-live')
    t.match(unread, { code: 0, out: /compared: .*the clusters themselves were not read\n$/ })

    // its syncer stands still, and somebody changes what it wrote
    const paused = (value: string | null) => ({ metadata: { annotations: { 'edge.kubestellar.io/paused': value } } })
    await inventory.patch(TARGETS, FLORIN, 'merge', paused('true'))
    await until(inventory, TARGETS, FLORIN, has('Paused', 'True', 'SyncerPaused'))
    const data = { x: 'by hand', beside: 'theirs' }
    await cluster.patch(MAPS, { namespace: 'shop', name: 'page' }, 'merge', { data })
    const drifted = await ks('diff cm/page -n shop --cluster florin')
    t.equal(drifted.code, 1, drifted.err)
    t.match(drifted.out, /; 1 holds something else now\n/)
    t.match(
      drifted.out,
      /^configmaps "shop\/page" holds something else in imw1\.florin\n(.*\n)* data:\n- {2}x: by hand\n\+ {2}x: "1"$/m,
    )
    t.notMatch(drifted.out, /beside:/, 'what others set is theirs')
    t.equal((await ks('diff cm/page -n shop -o name')).out, 'grantedlocation/imw1.florin\n')
    await inventory.patch(TARGETS, FLORIN, 'merge', paused(null))
    await until(inventory, TARGETS, FLORIN, has('Paused', 'False', 'NotPaused'))
    await until(cluster, MAPS, { namespace: 'shop', name: 'page' }, is('data', { x: '1', beside: 'theirs' }))
    const { code, out } = await ks('diff cm/theirs -n shop')
    t.equal(code, 1)
    t.match(out, /^configmaps "shop\/theirs" is not everywhere as it should be: 1 of 1 clusters differ/)
    t.match(out, /^imw1\.florin +Refused .*was in the cluster before/m)
    t.match(JSON.parse((await ks('diff cm/theirs -n shop -o json')).out), { kind: 'Diff', differs: true, center: [] })
    t.match(await ks('diff cm/nothing -n shop'), { code: 2, out: '', err: /has no configmaps "shop\/nothing"/ })
  })

  await t.test('the page', async t => {
    await wds.create(MAPS, map('prices', { coffee: '2.40' }))
    const page = readFileSync(join(ROOT, 'docs/answers.md'), 'utf8')
    for (const [, block = ''] of page.matchAll(/```sh\n(.*?)```/gs))
      t.match(await run(block), { code: 0, err: /^(Warning: .*\n)*$/ })
    const { steps } = parse(readFileSync(join(ROOT, 'deploy/github/preview.yml'), 'utf8')).jobs.preview
    const [, preview, , judge] = steps as { run: string }[]
    const output = join(dir, 'output')
    const env = `export GITHUB_WORKSPACE=$PWD RUNNER_TEMP=$PWD GITHUB_OUTPUT=${output} ORRERY_KUBECONFIG="$(cat mia)"`
    const previewed = async (deploy: string) => {
      const done = await run(`rm -rf ${output} deploy; mkdir deploy; ${deploy}; ${env}; ${preview!.run}`)
      t.match(done, { code: 0, err: '' })
      const code = readFileSync(output, 'utf8').replace('code=', '').trim()
      const judged = await run(judge!.run.replace(/\$\{\{.*?\}\}/, code))
      return { comment: readFileSync(join(dir, 'preview.md'), 'utf8'), code: judged.code }
    }
    t.match(await previewed('sed s/2.60/2.80/ prices.yaml > deploy/prices.yaml'), {
      comment: /^\*\*1 object: 1 updated in clusters\*\*\n.*\n\+ {2}coffee: "2\.80"/s,
      code: 0,
    })
    t.match(await previewed('echo "kind: Nothing" > deploy/prices.yaml'), {
      comment: /^\n {4}Error: .*apiVersion/,
      code: 1,
    })
  })
})

/** As one can read them. */
function colours(text: string): string {
  return text.replaceAll('\x1b[', '<').replaceAll(/(<\d+m)/g, '$1>')
}

function binding(role: string): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `team-${role.split(':').at(-1)}`, labels: { 'edge.kubestellar.io/natured': 'true' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'team' }],
  }
}

function kubeconfigOf(server: string): object {
  return {
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'token-of-mia' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  }
}

function locationOf(name: string, labels: Record<string, string>): KubeObject {
  return {
    apiVersion: EDGE,
    kind: 'Location',
    metadata: { name, labels },
    spec: {
      resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
      instanceSelector: { matchLabels: { id: name } },
    },
  }
}
