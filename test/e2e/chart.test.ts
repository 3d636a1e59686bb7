/**
 * The output of the charts, run as processes, plays KubeStellar's extended example. The server has the arguments of its Pod, and its
 * kubeconfigs in the Secret of its own cluster. A client outside comes through a balancer which passes TLS through by name, one inside by
 * the Service's name. Two syncers have the arguments and the Secrets of their own chart.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { isRecord } from '../../src/apimachinery/object.ts'
import { containerOf, noHelm, ofKind, render, renderAs } from '../deploy/support/helm.ts'
import { lacking } from '../support/aptPrograms.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { clientOf, there } from '../syncer/support/installation.ts'
import { NAMESPACES } from '../syncer/support/kinds.ts'
import { Command, freePort, Program, until } from '../syncer/support/processes.ts'
import { noKubectl, playExample1, typedHere } from './support/example1.ts'
import { typedIn } from './support/typedIn.ts'

const HAPROXY = '/usr/sbin/haproxy'
const skip = noHelm || noKubectl() || lacking({ [HAPROXY]: 'haproxy' })
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const PAGE = join(import.meta.dirname, '../../docs/kubernetes.md')

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

t.setTimeout(FILE_LIMIT_MS)
t.test('server and syncers of the charts play the example', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const [serverPort, balancerPort] = (await Promise.all([freePort(), freePort()])) as [number, number]
  // the cluster in which the server runs
  const hostData = join(dir, 'host')
  await new Command(t, ['simulate-wec', '--name', 'host', '--data-dir', hostData, '--secure-port', '0']).said('ready')
  const hostConfig = join(hostData, 'admin.kubeconfig')
  const host = await clientOf(t, hostConfig)
  await host.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } })

  const values = ['externalHostname=localhost', `externalPort=${balancerPort}`, 'spaces.workload={root:wmw-c}']
  const objects = render('orrery', ...values.flatMap(value => ['--set', value]))
  await host.create(SECRETS, ofKind(objects, 'Secret'))
  const args = here(containerOf(objects).args, {
    '--data-dir=/var/lib/orrery': `--data-dir=${join(dir, 'data')}`,
    '--bind-address=0.0.0.0': '--bind-address=127.0.0.1',
    '--secure-port=6443': `--secure-port=${serverPort}`,
  })
  const server = new Command(t, [...args, `--host-kubeconfig=${hostConfig}`])
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
  // as the page says to fetch it
  const [fetched = ''] = typedIn(readFileSync(PAGE, 'utf8')).filter(command => command.includes('get secret'))
  const asHere = fetched.replace('-n orrery get secret orrery ', '-n ns get secret rel-orrery ')
  await promisify(execFile)('bash', ['-ec', asHere], { cwd: dir, env: { ...process.env, KUBECONFIG: hostConfig } })
  const outside = join(dir, 'orrery.kubeconfig')
  t.equal(readFileSync(outside, 'utf8'), text('external.kubeconfig'))
  const insideConfig = parse(text('cluster.kubeconfig')) as { clusters: { cluster: Record<string, string> }[] }
  for (const { cluster } of insideConfig.clusters) {
    t.match(cluster.server, /^https:\/\/rel-orrery\.ns\.svc:443/)
    // what the cluster's DNS and Service would do
    cluster.server = cluster.server!.replace('rel-orrery.ns.svc:443', `127.0.0.1:${serverPort}`)
    cluster['tls-server-name'] = 'rel-orrery.ns.svc'
  }
  const insidePath = write(join(dir, 'cluster.kubeconfig'), stringify(insideConfig))

  const syncers: Command[] = []
  await playExample1(t, {
    dir,
    // through the balancer
    inventory: outside,
    special: insidePath,
    startCluster: args => new Command(t, args),
    type: typedHere,
    startSyncer(cluster, from, to) {
      t.match(readFileSync(from, 'utf8'), `https://localhost:${balancerPort}/clusters/`)
      const rendered = renderAs(cluster, 'orrery-syncer', '--set-file', `mailbox.kubeconfig=${from}`)
      const mounted = join(dir, `${cluster}-mailbox`)
      mkdirSync(mounted)
      const secret = ofKind(rendered, 'Secret') as unknown as { data: Record<string, string> }
      for (const [key, value] of Object.entries(secret.data))
        write(join(mounted, key), Buffer.from(value, 'base64').toString())
      const syncerArgs = here(containerOf(rendered).args, {
        '--from-kubeconfig=/etc/orrery/mailbox': `--from-kubeconfig=${mounted}`,
        '--state-dir=/var/lib/orrery-syncer': `--state-dir=${join(dir, `${cluster}-state`)}`,
        '--health-address=:8399': '--health-address=none',
      })
      syncers.push(new Command(t, [...syncerArgs, `--to-kubeconfig=${to}`]))
    },
  })
  t.match(readFileSync(insidePath, 'utf8'), /tls-server-name: rel-orrery\.ns\.svc/, 'it never went outside')
  for (const syncer of syncers) t.equal(await syncer.end(), 0)
  t.equal(await server.end(), 0)
  t.ok(there(await host.get(SECRETS, { namespace: 'ns', name })))
})
