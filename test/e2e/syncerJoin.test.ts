// Many clusters join with one bootstrap credential, with the real programs: a file of locations, claims, approvals, a theft.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { objects, str, strings } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { kubectlKubestellar } from '../../src/cli/kubestellar/program.ts'
import { foundIn } from '../../src/cli/kubestellar/syncers/mailbox.ts'
import { joined } from '../../src/cli/orrery/syncer/join.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { CREDENTIAL_PREFIX } from '../../src/placement/spaces/syncerCredential.ts'
import { temporaryDir } from '../support/server.ts'
import { Center, clientOf } from '../syncer/support/installation.ts'
import { ACCOUNTS, TARGETS } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { sectionOf, typedIn } from './support/typedIn.ts'

const dir = temporaryDir(t)
const center = new Center(t, join(dir, 'center'))
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const SHOPS = ['shop-1', 'shop-2'] as const
const started = SHOPS.map(name => {
  const args = ['simulate-wec', '--name', name, '--data-dir', join(dir, name), '--secure-port', '0']
  return new Command(t, args).said('ready')
})
await Promise.all([center.start(), ...started])
const inventory = center.in('root:imw1')

async function ks(...args: string[]): Promise<{ code: number; out: string[]; err: string[] }> {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const admin = join(dir, 'center', 'admin.kubeconfig')
  const imw = args.includes('--imw') ? [] : ['--imw', 'root:imw1']
  const code = await kubectlKubestellar([...args, ...imw, '--kubeconfig', admin], terminal)
  return { code, out, err }
}
const state = (name: string): string => join(dir, `${name}-state`)
const start = (t: Test, from: string, name: string, wec: string, ...more: string[]): Command =>
  new Command(t, [
    ...['syncer', '--from-kubeconfig', from, '--to-kubeconfig', join(dir, wec, 'admin.kubeconfig')],
    ...['--sync-target-name', name, '--health-address', 'none', ...more],
  ])
const isReady = (object: KubeObject | undefined): boolean =>
  objects(object?.status, 'conditions').some(({ type, status }) => type === 'Ready' && status === 'True')
const bootstrap = join(dir, 'bootstrap.kubeconfig')
let credential = ''

/** The commands of the page, with the test's folders and server. */
const [
  write = '',
  make = '',
  create = '',
  syncer = '',
  list = '',
  approve = '',
  bootstraps = '',
  prep = '',
  apply = '',
  ...more
] = typedIn(sectionOf(readFileSync(join(import.meta.dirname, '../../docs/clusters.md'), 'utf8'), '## Many clusters'))
const wordsOf = (command: string): string[] =>
  command
    .replaceAll(/ \\\n */g, ' ')
    .replace('https://orrery.example.org:6443', center.url)
    .replace(/(?<= )(shops\.csv|bootstrap\.kubeconfig)/, join(dir, '$1'))
    .split(' ')
    .slice(2)

t.test('a bootstrap credential is written, listed, and bounded', async t => {
  t.same(more, [])
  execFileSync('bash', ['-ec', write], { cwd: dir })
  t.match(await ks(...wordsOf(make)), {
    code: 0,
    err: [],
    out: { 4: '2 locations: 2 created, 0 changed, 0 unchanged' },
  })
  writeFileSync(join(dir, 'third'), 'name: shop-3')
  t.match(await ks('ensure', 'location', '-f', join(dir, 'third')), { code: 0 })
  const made = await ks(...wordsOf(create))
  t.match(made, { code: 0, err: [] })
  t.match(
    made.out[0],
    /^Wrote the bootstrap credential kubestellar-syncer-bootstrap-\w+ of root:imw1 to .*; it ends 20/,
  )
  t.equal(statSync(bootstrap).mode & 0o777, 0o600)
  const listed = await ks(...wordsOf(bootstraps))
  t.match(listed.out, [
    /^NAME +INVENTORY +APPROVES +EXPIRES$/,
    /^kubestellar-syncer-bootstrap-\w+ +root:imw1 +by-name +20/,
  ])
  credential = listed.out[1]!.split(' ')[0]!
  t.match(await ks('bootstrap', 'create', '--approve', 'all'), { code: 1, err: [/neither "by-name" nor "listed"/] })
  t.match(await ks('bootstrap', 'create', '--imw', 'root:wmw1'), {
    code: 1,
    err: [/^Error: root:wmw1 serves no SyncTargets: it is no inventory/],
  })
  t.equal((await ks('bootstrap', 'list')).out.length, 2)
})

t.test('a start without what joining needs ends, and says what that is', async t => {
  for (const [args, message] of [
    [[], '--state-dir is needed'],
    [['--state-dir', state('x'), '--dry-run'], 'no cluster joins by a dry run'],
  ] as const) {
    const from = {
      path: bootstrap,
      context: undefined,
      syncTargetName: 'shop-1',
      stateDir: args[1],
      isDryRun: args.length > 0,
    }
    const rest = { userAgent: 'test', healthAddress: 'none', log: silentLogger, random: () => 0 }
    await t.rejects(joined({ ...from, ...rest, signal: AbortSignal.abort() }), { message: new RegExp(message) })
  }
  t.notOk(existsSync(state('x')))
})

t.test('two clusters claim, are approved, and serve; what they got outlives the bootstrap credential', async t => {
  t.match(
    syncer,
    /^orrery syncer --sync-target-name shop-1 --state-dir .*\n.* bootstrap\.kubeconfig --to-kubeconfig shop-1/,
  )
  const syncers = SHOPS.map(name => start(t, bootstrap, name, name, '--state-dir', state(name)))
  for (const [i, name] of SHOPS.entries()) {
    const line = await syncers[i]!.said(`waits for an administrator: kubectl kubestellar approve ${name}`)
    const claim = /claim (\w{16}) of/.exec(line)?.[1] ?? 'none'
    const { out } = await ks(...wordsOf(list))
    t.match(out[0], /^SYNCTARGET +STATE +CLAIM +SINCE +BOOTSTRAP$/)
    t.ok(
      out.some(row => row.startsWith(`${name} `) && row.includes(` Pending `) && row.includes(claim)),
      out.join(' | '),
    )
  }
  t.match(await ks('approve', 'shop-1', '--claim', 'zz'), {
    code: 1,
    err: [/^Error: no claim zz of shop-1 is pending; \w{16} is$/],
  })
  t.match(await ks('approve', 'shop-1', '-o', 'json'), { code: 1, out: [], err: [/-o goes with the list of claims/] })
  t.match(await ks(...wordsOf(approve)), { code: 0, out: [/^claim \w{16} of shop-1 is approved$/] })
  t.match(await ks('approve', 'shop-3'), {
    code: 1,
    err: ['Error: no claim of shop-3 is pending; its syncer makes one with a bootstrap credential'],
  })
  await syncers[0]!.said('joined as SyncTarget shop-1')
  t.match(await ks('approve', '--all'), { code: 0, out: [/^claim \w{16} of shop-2 is approved$/] })
  for (const [i, name] of SHOPS.entries()) {
    await syncers[i]!.said('the mailbox is known')
    await until(inventory, TARGETS, { name }, isReady)
    for (const file of ['mailbox.kubeconfig', 'mailbox-claim.key'])
      t.equal(statSync(join(state(name), file)).mode & 0o777, 0o600, file)
  }
  t.same(await ks('approve', '--all'), { code: 0, out: ['no claim is pending'], err: [] })
  t.match((await ks('approve', '-o', 'json')).out.join('\n'), /"state": "Joined"/)
  t.match(await ks('bootstrap', 'revoke', credential), { code: 0 })
  t.match(await ks('bootstrap', 'revoke', credential), { code: 1, err: [/there is no bootstrap credential/] })
  t.equal(await syncers[0]!.end(), 0)
  const again = start(t, bootstrap, 'shop-1', 'shop-1', '--state-dir', state('shop-1'))
  await again.said('the mailbox is known')
  t.equal(await again.end(), 0)
  t.equal(await syncers[1]!.end(), 0)
  const gone = start(t, join(dir, 'gone.kubeconfig'), 'shop-1', 'shop-1', '--state-dir', state('shop-1'))
  await gone.said('gone.kubeconfig is not there: the syncer goes by')
  await gone.said('the mailbox is known')
  t.equal(await gone.end(), 0)
})

t.test('a thief of a bootstrap credential gets nothing of a joined SyncTarget, and is seen', async t => {
  const stolen = join(dir, 'stolen.kubeconfig')
  const written = await ks('bootstrap', 'create', '--approve', 'listed', '-o', stolen)
  t.match(
    written.out.at(-1),
    'Each holder of the file can join any SyncTarget of the inventory that never had a syncer.',
  )
  const thief = start(t, stolen, 'shop-1', 'shop-2', '--state-dir', state('thief'))
  await thief.said('is joined already')
  const { out } = await ks('approve')
  t.match(out[1], /^shop-1 +Refused +\w{16} /)
  t.match(await ks('approve', 'shop-1'), { code: 1, err: [/shop-1 is joined: a claim that came later gets nothing/] })
  t.match(await ks('deny', 'shop-1'), {
    code: 0,
    out: [/^claim \w{16} of shop-1 is denied; it came by/, /bootstrap revoke/],
  })
  t.equal(await thief.end(), 0)
  t.notOk(existsSync(join(state('thief'), 'mailbox.kubeconfig')))
  const third = start(t, stolen, 'shop-3', 'shop-2', '--state-dir', state('shop-3'))
  await third.said('joined as SyncTarget shop-3')
  t.equal(await third.end().catch(() => 0), 0)
})

t.test('a syncer as a Pod keeps what it gets in a Secret, by that one right', async t => {
  const wec = ['simulate-wec', '--name', 'pod', '--data-dir', join(dir, 'pod'), '--secure-port', '0']
  await new Command(t, wec).said('ready')
  const asAdmin = join(dir, 'pod', 'admin.kubeconfig')
  const cluster = await clientOf(t, asAdmin)
  const [from, manifest] = [bootstrap, join(dir, 'pod.yaml')]
  t.match(await ks('ensure', 'location', 'pod', 'env=prod'), { code: 0 })
  t.match(await ks('bootstrap', 'create', '-o', from), { code: 0 })
  const given = ['--bootstrap-kubeconfig', from]
  for (const [more, message] of [
    [['--bootstrap-kubeconfig', join(dir, 'center', 'admin.kubeconfig')], /holds no bootstrap credential/],
    [[...given, '--kubeconfig-output', 'x'], /--kubeconfig-output does not go with --bootstrap-kubeconfig/],
  ] as const)
    t.match(await ks('prep-for-syncer', 'pod', ...more), { code: 1, err: [message] })
  const typed = wordsOf(prep.replaceAll('shop-1', 'pod')).map(word => (word === 'pod.yaml' ? manifest : word))
  const written = await ks(...typed, '--allow-kinds', 'configmaps')
  t.match(written, { code: 0 })
  t.match(written.out.join('\n'), 'waits for an administrator: kubectl kubestellar approve pod --imw root:imw1')
  const all = documentsIn(manifest)
  t.equal(apply, 'KUBECONFIG=shop-1.kubeconfig kubectl apply -f shop-1.yaml')
  for (const object of all) await applied(cluster, object)
  const id = all[0]!.metadata.name!
  const secret = { namespace: id, name: `${id}-credential` }
  const account = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { namespace: id, name: id },
  }
  const { status } = await cluster.create(ACCOUNTS, { ...account, spec: {} }, { subresource: 'token' })
  const [config] = documentsIn(asAdmin)
  const users = objects(config, 'users').map(({ name }) => ({ name, user: { token: str(status, 'token') } }))
  const [to, mounted] = [join(dir, 'account.kubeconfig'), join(dir, 'mounted')]
  writeFileSync(to, JSON.stringify({ ...config, users }))
  const holder = all.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === id)
  writeFileSync(mounted, str(holder, 'stringData', 'kubeconfig'))
  const args = strings(all.at(-1), 'spec', 'template', 'spec', 'containers', 0, 'args').filter(
    arg => !/^--(from-kubeconfig|state-dir|health-address)=/.test(arg),
  )
  const pod = (name: string): Command =>
    new Command(t, [
      ...[...args, `--from-kubeconfig=${mounted}`, `--to-kubeconfig=${to}`, `--state-dir=${state(name)}`],
      '--health-address=none',
    ])
  const first = pod('pod-1')
  await first.said('waits for an administrator: kubectl kubestellar approve pod')
  t.match(await ks('approve', 'pod'), { code: 0 })
  await first.said(`joined as SyncTarget pod; the credential is in Secret ${id}/${id}-credential of the cluster`)
  await first.said('the mailbox is known')
  t.equal(await first.end(), 0)
  const { out } = await ks('bootstrap', 'list', '-o', 'name')
  for (const name of out) t.match(await ks('bootstrap', 'revoke', name), { code: 0 })
  const second = pod('pod-2')
  await second.said('the mailbox is known')
  t.notOk(
    second.lines.some(line => line.includes('claim')),
    'it joins once',
  )
  const mailbox = center.in(`root:espw:${foundIn(await inventory.get(TARGETS, { name: 'pod' })).mailbox}`)
  const { items } = await mailbox.list(SECRETS, { namespace: 'default' })
  const [before, ...others] = items.filter(({ metadata }) => metadata.name?.startsWith(CREDENTIAL_PREFIX))
  t.same(others, [])
  const rotated = join(dir, 'rotated.yaml')
  t.match(await ks('syncer', 'rotate', 'pod', '-o', rotated), { code: 0 })
  for (const object of documentsIn(rotated)) await applied(cluster, object)
  const ref = { namespace: 'default', name: before!.metadata.name! }
  await until(mailbox, SECRETS, ref, found => found === undefined)
  t.equal(await second.end(), 0)
  const { data } = await cluster.get(SECRETS, secret)
  t.same(Object.keys(data ?? {}).sort(), ['claim-key', 'credential', 'mailbox.kubeconfig'])
  const third = pod('pod-3')
  await third.said('the mailbox is known')
  t.equal(await third.end(), 0)
  t.same(
    [first, second, third].flatMap(({ lines }) => lines.filter(line => /forbidden/i.test(line))),
    [],
  )
  await cluster.delete(SECRETS, secret)
  const fourth = pod('pod-4')
  t.equal(await fourth.exited(), 1)
  t.match(fourth.lines.join(' '), /--credential-secret: .*not found; apply the manifest of prep-for-syncer again/)
})

function documentsIn(path: string): KubeObject[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map(one => one.toJS())
}

/** As kubectl apply does it. */
async function applied(to: SpaceClient, object: KubeObject): Promise<void> {
  const { kind, apiVersion, metadata } = object
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const { name = '', namespace } = metadata
  const ref = { name, ...(namespace !== undefined && { namespace }) }
  const resource = { group, version, resource: `${kind.toLowerCase()}s` }
  await to.patch(resource, ref, 'apply', object, { fieldManager: 'kubectl', force: true })
}
