// A syncer's credential from its making to its end, with the real programs: prep, renewal, takeover, rotation, revocation.
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { isRecord } from '../../src/apimachinery/object.ts'
import { kubectlKubestellar } from '../../src/cli/kubestellar/program.ts'
import { CREDENTIAL_ANNOTATION, SESSION_NAME } from '../../src/placement/spaces/syncerCredential.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, deployment, gone, is, map, register, warnings } from '../syncer/support/installation.ts'
import { ACCOUNTS, DEPLOYMENTS, MAPS } from '../syncer/support/kinds.ts'
import { Command, freePort, until } from '../syncer/support/processes.ts'

const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const dir = temporaryDir(t)
const center = new Center(t, join(dir, 'center'))
const wecArgs = ['simulate-wec', '--name', 'florin', '--data-dir', join(dir, 'wec'), '--secure-port', '0']
const wec = new Command(t, wecArgs)
await Promise.all([center.start(), wec.said('ready')])
const toCluster = join(dir, 'wec', 'admin.kubeconfig')
const cluster = await clientOf(t, toCluster)
const mailbox = await register(center)
const mail = center.in(mailbox)
const wds = center.in('root:wmw1')
const account = { namespace: 'default', name: 'kubestellar-syncer' }

async function ks(line: string): Promise<{ code: number; out: string; err: string }> {
  const said = { out: [] as string[], err: [] as string[] }
  const terminal = { out: (text: string) => void said.out.push(text), err: (text: string) => void said.err.push(text) }
  const args = [...line.split(' '), '--imw', 'root:imw1', '--kubeconfig', join(dir, 'center', 'admin.kubeconfig')]
  const code = await kubectlKubestellar(args, terminal)
  return { code, out: said.out.join('\n'), err: said.err.join('\n') }
}
const start = (t: Test, kubeconfig: string): Command =>
  new Command(t, ['syncer', '--from-kubeconfig', kubeconfig, '--to-kubeconfig', toCluster, '--qps', '0'])

/** A working token for whoever holds a file of prep-for-syncer. */
async function tokenFor(t: Test, file: string): Promise<unknown> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: account, spec: {} }
  return await (await clientOf(t, file)).create(ACCOUNTS, body, { subresource: 'token' })
}
/** Name of the credential that the running syncer came with. */
async function inUse(): Promise<string | undefined> {
  const session = await mail.get(SECRETS, { namespace: 'default', name: SESSION_NAME })
  return session.metadata.annotations?.[CREDENTIAL_ANNOTATION]
}

const kubeconfig = join(dir, 'syncer.kubeconfig')
let syncer: Command

t.test('what prep-for-syncer writes runs a syncer: down, status', async t2 => {
  t2.match(await ks(`prep-for-syncer florin --kubeconfig-output ${kubeconfig}`), { code: 0, err: '' })
  syncer = start(t, kubeconfig)
  await wds.create(MAPS, map('page', { x: '1' }))
  await wds.create(DEPLOYMENTS, deployment)
  await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
  await until(wds, DEPLOYMENTS, at('web'), object => isRecord(object?.status) && object.status.readyReplicas === 1)
  const { out, err } = await ks('syncer list')
  t2.match(out, /^SYNCTARGET .* EXPIRES\nflorin .* kubestellar-syncer-credential-\w+ \(in use\) /)
  t2.equal(err, '')
})

t.test('a second syncer stands by and disturbs nobody; when the first one ends it takes over', async t2 => {
  const second = start(t, kubeconfig)
  await second.said('another syncer serves the cluster; standing by until it ends')
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '1b' } })
  await until(cluster, MAPS, at('page'), is('data', { x: '1b' }))
  t2.equal(await syncer.end(), 0, 'the center did not end its session')
  await second.said('the mailbox is known')
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '2' } })
  await until(cluster, MAPS, at('page'), is('data', { x: '2' }))
  syncer = second
})

t.test('a dry run beside the running syncer disturbs nobody', async t2 => {
  const session = () => mail.get(SECRETS, { namespace: 'default', name: SESSION_NAME })
  const before = await session()
  const trying = new Command(t2, [
    ...['syncer', '--dry-run', '--from-kubeconfig', kubeconfig, '--to-kubeconfig', toCluster],
  ])
  await trying.said('nothing to do')
  t2.equal(await trying.exited(), 0)
  t2.same(await session(), before, 'no session begins')
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '2b' } })
  await until(cluster, MAPS, at('page'), is('data', { x: '2b' }))
  t2.same(warnings(syncer), [])

  const lost = new Command(t2, ['syncer', '--dry-run', '--from-kubeconfig', kubeconfig, '--to-kubeconfig', 'nowhere'])
  await lost.said('--to-kubeconfig: nowhere does not exist')
  t2.equal(await lost.exited(), 3, 'which is not the code for changes')
})

t.test('a rotated credential is taken up by the running syncer, and the former ends', async t2 => {
  const before = (await mail.list(SECRETS, { namespace: 'default' })).items
  const former = before.find(({ type }) => type === 'edge.kubestellar.io/syncer-credential')?.metadata.name ?? ''
  const stolen = join(dir, 'stolen.kubeconfig')
  copyFileSync(kubeconfig, stolen)
  t2.match(await ks(`syncer rotate florin --kubeconfig-output ${kubeconfig}`), { code: 0, err: '' })
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '3' } })
  await wds.patch(DEPLOYMENTS, at('web'), 'merge', { spec: { replicas: 2 } })
  await until(wds, DEPLOYMENTS, at('web'), object => isRecord(object?.status) && object.status.readyReplicas === 2)
  await until(mail, SECRETS, { namespace: 'default', name: former }, gone)
  await until(cluster, MAPS, at('page'), is('data', { x: '3' }))
  await t2.rejects(tokenFor(t2, stolen), {
    reason: 'Unauthorized',
    message: /was revoked, or replaced by a newer one; make another one with "kubectl kubestellar syncer rotate"/,
  })
  t2.equal(warnings(syncer).length, 0, 'the syncer itself notices nothing')
})

t.test('revocation ends it at once, and the cluster keeps what it holds; a new credential brings it back', async t2 => {
  t2.match(await ks('syncer revoke florin'), { code: 0, out: /is revoked; what its cluster holds stays there/ })
  await syncer.said('the center refuses the syncer')
  await wds.create(MAPS, map('late', { x: '1' }))
  t2.match(await ks('syncer list'), { out: /florin .* none/ })
  t2.ok(await cluster.get(MAPS, at('page')))
  t2.match(await ks(`syncer rotate florin --kubeconfig-output ${kubeconfig}`), { code: 0 })
  await until(cluster, MAPS, at('late'), is('data', { x: '1' }))
  t2.notMatch(syncer.lines.join('\n'), /eyJ/, 'no credential in the log')
})

t.test('a syncer in a Pod takes up the Secret that rotate writes, while it runs', async t2 => {
  t2.equal(await syncer.end(), 0)
  // what the Deployment of the manifest mounts
  const folder = join(dir, 'kubestellar')
  mkdirSync(folder)
  const credential = join(folder, 'credential')
  const objectsIn = (file: string) => parseAllDocuments(readFileSync(file, 'utf8')).map(each => each.toJS())
  const mount = (file: string): void => {
    for (const { kind, stringData } of objectsIn(file)) {
      if (kind !== 'Secret' || stringData === undefined) continue
      for (const [key, text] of Object.entries<string>(stringData)) {
        writeFileSync(join(dir, 'mounting'), text.replaceAll('/kubestellar/credential', credential), { mode: 0o600 })
        renameSync(join(dir, 'mounting'), join(folder, key))
      }
    }
  }
  const manifest = join(dir, 'florin-syncer.yaml')
  const allowed = '--allow-namespaces shop --allow-kinds configmaps,deployments.apps'
  t2.match(await ks(`prep-for-syncer florin ${allowed} --output ${manifest}`), { code: 0 })
  mount(manifest)
  const { args } = objectsIn(manifest).find(({ kind }) => kind === 'Deployment').spec.template.spec.containers[0]
  // a Pod has a network of its own, and others listen on this one
  const port = `--health-address=127.0.0.1:${await freePort()}`
  const inPod = args.map((arg: string) =>
    arg.startsWith('--health-address=') ? port : arg.replace('=/kubestellar/', `=${folder}/`),
  )
  syncer = new Command(t, [...inPod, '--to-kubeconfig', toCluster])
  await syncer.said('the mailbox is known')
  const former = (await inUse()) ?? ''
  const secret = join(dir, 'florin-syncer-credential.yaml')
  t2.match(await ks(`syncer rotate florin --output ${secret}`), { code: 0, out: /kubectl apply -f/ })
  t2.equal(await inUse(), former, 'not before it is used')
  mount(secret)
  await wds.patch(DEPLOYMENTS, at('web'), 'merge', { spec: { replicas: 3 } })
  await until(wds, DEPLOYMENTS, at('web'), object => isRecord(object?.status) && object.status.readyReplicas === 3)
  await until(mail, SECRETS, { namespace: 'default', name: former }, gone)
  t2.not(await inUse(), former)
  t2.equal(warnings(syncer).length, 0)
})

t.test('a syncer whose credentials end says how its cluster forgets it', async t2 => {
  t2.match(await ks('syncer remove florin'), {
    code: 0,
    out: /kubectl delete namespace,clusterrole,clusterrolebinding/,
  })
  t2.match(await ks('syncer list'), { code: 0, err: '' })
  t2.equal(await syncer.end(), 0)
})

t.test('adopt says which mailbox serves a cluster from now on', async t2 => {
  t2.match(await ks(`syncer adopt florin --to-kubeconfig ${toCluster}`), { code: 0, out: /served from .* already/ })
  const record = { namespace: 'kube-system', name: 'orrery-syncer' }
  await cluster.patch(MAPS, record, 'merge', { data: { mailbox: 'x-mb-y' } })
  t2.match(await ks(`syncer adopt florin --to-kubeconfig ${toCluster}`), {
    code: 0,
    out: /from now on \(before: x-mb-y\)/,
  })
  const itself = join(dir, 'center', 'admin.kubeconfig')
  const refused = await ks(`syncer adopt florin --to-kubeconfig ${itself}`)
  t2.match(refused, { code: 1, err: /leads to the space root of the center itself; nothing was touched/ })
})
