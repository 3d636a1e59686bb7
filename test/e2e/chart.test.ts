/**
 * What the charts render, run as processes: the server with the arguments of its Pod, its kubeconfigs in the Secret of the cluster
 * that it runs in, a client outside that comes through a balancer which passes TLS through by name, one inside by the Service's
 * name, and a syncer with the arguments and the Secret of its own chart.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { isRecord } from '../../src/apimachinery/object.ts'
import { containerOf, noHelm, ofKind, render } from '../deploy/support/helm.ts'
import { lacking } from '../support/aptPrograms.ts'
import { temporaryDir } from '../support/server.ts'
import { clientOf, is, there } from '../syncer/support/installation.ts'
import { MAPS, NAMESPACES, PLACEMENTS } from '../syncer/support/kinds.ts'
import { freePort, Program, until } from '../syncer/support/processes.ts'

const HAPROXY = '/usr/sbin/haproxy'
const skip = noHelm || lacking({ [HAPROXY]: 'haproxy' })
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const PLUGIN = join(import.meta.dirname, '../../bin/kubectl-kubestellar')

/** Arguments of a Pod with the paths and addresses of this machine instead. */
function here(args: readonly string[], changes: Readonly<Record<string, string>>): string[] {
  return args.map(arg => {
    const found = Object.entries(changes).find(([begin]) => arg.startsWith(begin))
    return found ? found[1] + arg.slice(found[0].length) : arg
  })
}

function write(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

t.test('server and syncer of the charts serve a cluster', { skip }, async t => {
  const dir = temporaryDir(t)
  const [serverPort, balancerPort] = (await Promise.all([freePort(), freePort()])) as [number, number]
  // two clusters: one in which the server runs, one that is served
  const cluster = async (name: string): Promise<string> => {
    const data = join(dir, name)
    await Program.orrery(t, ['simulate-wec', '--name', name, '--data-dir', data, '--secure-port', '0']).said('ready')
    return join(data, 'admin.kubeconfig')
  }
  const [hostConfig, wecConfig] = (await Promise.all([cluster('host'), cluster('wec')])) as [string, string]
  const host = await clientOf(t, hostConfig)
  await host.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } })

  const values = ['externalHostname=localhost', `externalPort=${balancerPort}`, 'spaces.workload={root:shop}']
  const objects = render('orrery', ...values.flatMap(value => ['--set', value]))
  await host.create(SECRETS, ofKind(objects, 'Secret'))
  const args = here(containerOf(objects).args, {
    '--data-dir=/var/lib/orrery': `--data-dir=${join(dir, 'data')}`,
    '--bind-address=0.0.0.0': '--bind-address=127.0.0.1',
    '--secure-port=6443': `--secure-port=${serverPort}`,
  })
  const server = Program.orrery(t, [...args, `--host-kubeconfig=${hostConfig}`])
  t.match(await server.said('orrery ready'), `https://localhost:${balancerPort}`)
  const conf = write(
    join(dir, 'haproxy.cfg'),
    `defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend in
  bind 127.0.0.1:${balancerPort}
  tcp-request inspect-delay 5s
  tcp-request content accept if { req.ssl_hello_type 1 }
  use_backend center if { req.ssl_sni -i localhost }
backend center
  server one 127.0.0.1:${serverPort}
`,
  )
  Program.spawned(t, HAPROXY, ['-f', conf])

  const name = 'rel-orrery'
  const filled = await until(host, SECRETS, { namespace: 'ns', name }, secret => isRecord(secret?.data))
  const { data } = filled as unknown as { data: Record<string, string> }
  const text = (key: string): string => Buffer.from(data[key]!, 'base64').toString()
  t.equal(filled?.metadata.labels?.['app.kubernetes.io/managed-by'], 'Helm', 'it is still of the release')
  const outside = write(join(dir, 'external.kubeconfig'), text('external.kubeconfig'))
  const insideConfig = parse(text('cluster.kubeconfig')) as { clusters: { cluster: Record<string, string> }[] }
  for (const { cluster } of insideConfig.clusters) {
    t.match(cluster.server, /^https:\/\/rel-orrery\.ns\.svc:443/)
    // what the cluster's DNS and Service would do
    cluster.server = cluster.server!.replace('rel-orrery.ns.svc:443', `127.0.0.1:${serverPort}`)
    cluster['tls-server-name'] = 'rel-orrery.ns.svc'
  }
  const inside = await clientOf(t, write(join(dir, 'cluster.kubeconfig'), stringify(insideConfig)))
  t.ok(await inside.list(NAMESPACES))

  // outside, through the balancer
  const prepared = join(dir, 'wec.kubeconfig')
  const prep = ['prep-for-cluster', 'wec', '--imw', 'root:imw1', '--kubeconfig-output', prepared, 'env=prod']
  await promisify(execFile)(PLUGIN, prep, { env: { ...process.env, KUBECONFIG: outside }, cwd: dir })
  t.match(readFileSync(prepared, 'utf8'), `https://localhost:${balancerPort}/clusters/`)

  const syncerObjects = render('orrery-syncer', '--set-file', `mailbox.kubeconfig=${prepared}`)
  const mounted = join(dir, 'mailbox')
  mkdirSync(mounted)
  const secret = ofKind(syncerObjects, 'Secret') as unknown as { data: Record<string, string> }
  for (const [key, value] of Object.entries(secret.data))
    write(join(mounted, key), Buffer.from(value, 'base64').toString())
  const syncerArgs = here(containerOf(syncerObjects).args, {
    '--from-kubeconfig=/etc/orrery/mailbox': `--from-kubeconfig=${mounted}`,
    '--state-dir=/var/lib/orrery-syncer': `--state-dir=${join(dir, 'state')}`,
    '--health-address=:8399': '--health-address=none',
  })
  const syncer = Program.orrery(t, [...syncerArgs, `--to-kubeconfig=${wecConfig}`])

  const config = parse(readFileSync(outside, 'utf8')) as { clusters: { cluster: { server: string } }[] }
  for (const one of config.clusters)
    one.cluster.server = one.cluster.server.replace(/\/clusters\/root$/, '/clusters/root:shop')
  const shop = await clientOf(t, write(join(dir, 'shop.kubeconfig'), stringify(config)))
  await shop.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await shop.create(MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name: 'page' },
    data: { x: '1' },
  } as never)
  await shop.create(PLACEMENTS, {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'EdgePlacement',
    metadata: { name: 'p' },
    spec: {
      locationSelectors: [{ matchLabels: { env: 'prod' } }],
      downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['shop'], objectNames: ['page'] }],
    },
  })
  const wec = await clientOf(t, wecConfig)
  await until(wec, MAPS, { namespace: 'shop', name: 'page' }, is('data', { x: '1' }))
  t.equal(await syncer.end('SIGTERM'), 0)
  t.equal(await server.end('SIGTERM'), 0)
  t.ok(there(await host.get(SECRETS, { namespace: 'ns', name })))
})
