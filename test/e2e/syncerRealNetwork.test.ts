/**
 * A syncer whose way to a real kube-apiserver leads through squid, which wants a user and a password, to haproxy, which passes TLS
 * through. The API server behind it moves, its certificate is rotated, and its authority is another one by then. Skipped where
 * KUBEBUILDER_ASSETS is not set; squid and haproxy are installed where they are missing and may be.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { lacking } from '../support/aptPrograms.ts'
import { temporaryDir } from '../support/server.ts'
import { at, CenterProcess, clientOf, gone, is, map, register, warnings } from '../syncer/support/installation.ts'
import { MAPS } from '../syncer/support/kinds.ts'
import { freePort, Program, until } from '../syncer/support/processes.ts'
import { assetsDir, RealCluster } from '../syncer/support/realCluster.ts'

const [SQUID, HAPROXY, OPENSSL] = ['/usr/sbin/squid', '/usr/sbin/haproxy', '/usr/bin/openssl']
const NCSA = '/usr/lib/squid/basic_ncsa_auth'
const skip =
  assetsDir() === undefined
    ? 'KUBEBUILDER_ASSETS is not set'
    : lacking({ [SQUID]: 'squid', [NCSA]: 'squid', [HAPROXY]: 'haproxy', [OPENSSL]: 'openssl' })
const NAME = 'cluster.test'

const openssl = (...args: string[]): string => execFileSync(OPENSSL, args, { encoding: 'utf8', stdio: 'pipe' })

/** A new authority, and in `tls.crt` and `tls.key` a certificate of it. The answer is the authority. */
function certify(dir: string): Buffer {
  const path = (name: string): string => join(dir, name)
  const days = ['-days', '2', '-nodes', '-newkey', 'rsa:2048']
  openssl('req', '-x509', ...days, '-subj', '/CN=an authority', '-keyout', path('ca.key'), '-out', path('ca.crt'))
  openssl('req', '-new', ...days.slice(2), '-subj', `/CN=${NAME}`, '-keyout', path('next.key'), '-out', path('csr'))
  writeFileSync(path('san'), `subjectAltName=DNS:${NAME},DNS:localhost,IP:127.0.0.1\n`)
  const signing = [
    '-CA',
    path('ca.crt'),
    '-CAkey',
    path('ca.key'),
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    path('san'),
  ]
  openssl('x509', '-req', '-in', path('csr'), ...signing, '-out', path('next.crt'))
  for (const kind of ['key', 'crt']) writeFileSync(path(`tls.${kind}`), readFileSync(path(`next.${kind}`)))
  return readFileSync(path('ca.crt'))
}

t.test('through a proxy with a password and a balancer to a real API server', { skip, timeout: 0 }, async t => {
  const dir = temporaryDir(t)
  const [balancerPort, proxyPort, centerPort] = [await freePort(), await freePort(), await freePort()]
  for (const name of ['squid', 'tls']) mkdirSync(join(dir, name))
  for (const folder of [dir, join(dir, 'squid')]) chmodSync(folder, 0o777)
  const tunnels = join(dir, 'squid', 'access.log')
  writeFileSync(join(dir, 'users'), `edge:${openssl('passwd', '-apr1', 'p@ss word').trim()}\n`)
  const squidConf = join(dir, 'squid.conf')
  writeFileSync(
    squidConf,
    `http_port 127.0.0.1:${proxyPort}
access_log stdio:${tunnels}
buffered_logs off
cache_log /dev/null
pid_filename none
cache deny all
pinger_enable off
netdb_filename none
coredump_dir ${join(dir, 'squid')}
auth_param basic program ${NCSA} ${join(dir, 'users')}
auth_param basic children 1
auth_param basic realm the edge
acl CONNECT method CONNECT
acl known proxy_auth REQUIRED
http_access allow CONNECT known
http_access deny all
hosts_file ${join(dir, 'hosts')}
shutdown_lifetime 0 seconds
`,
  )
  writeFileSync(join(dir, 'hosts'), `127.0.0.1 ${NAME}\n`)
  const proxy = Program.spawned(t, SQUID, ['-N', '-d', '1', '-f', squidConf])
  const tls = join(dir, 'tls')
  let authority = certify(tls)
  const center = new CenterProcess(t, join(dir, 'center'), ['--secure-port', `${centerPort}`])
  const files = [`--tls-cert-file=${join(tls, 'tls.crt')}`, `--tls-private-key-file=${join(tls, 'tls.key')}`]
  const [real] = await Promise.all([
    RealCluster.start(t, join(dir, 'real'), files),
    center.start(),
    proxy.said('Accepting HTTP Socket'),
  ])
  const balance = (port: number): Program => {
    const conf = join(dir, `haproxy-${port}.cfg`)
    writeFileSync(
      conf,
      `defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend in
  bind 127.0.0.1:${balancerPort}
  tcp-request inspect-delay 5s
  tcp-request content accept if { req.ssl_hello_type 1 }
  use_backend cluster if { req.ssl_sni -i ${NAME} }
backend cluster
  server one 127.0.0.1:${port}
`,
    )
    return Program.spawned(t, HAPROXY, ['-f', conf])
  }
  let balancer = balance(real.port)
  const toCluster = join(dir, 'to.kubeconfig')
  const write = (password: string): void => {
    const cluster = {
      server: `https://${NAME}:${balancerPort}`,
      'certificate-authority-data': authority.toString('base64'),
      'proxy-url': `http://edge:${encodeURIComponent(password)}@127.0.0.1:${proxyPort}`,
    }
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 'admintoken' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    }
    writeFileSync(toCluster, stringify(config), { mode: 0o600 })
  }
  write('wrong')
  const fromCenter = join(dir, 'from.kubeconfig')
  const mailbox = await register(center)
  await center.syncerKubeconfig(fromCenter, mailbox)
  const flags = ['--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster, '--health-address', 'none']
  const start = (): Program => Program.orrery(t, ['syncer', ...flags, '--state-dir', join(dir, 'state')])
  const stranger = start()
  const wds = center.in('root:wmw1')
  await wds.create(MAPS, map('page', { x: '1' }))
  await stranger.said('the cluster cannot be reached')
  t.match(warnings(stranger).join('\n'), /407|Proxy Authentication Required/, 'who refuses it is said')
  t.equal(await stranger.end('SIGTERM'), 0)
  write('p@ss word')
  const syncer = start()
  const shows = async (x: string): Promise<void> => {
    const cluster = await clientOf(t, real.kubeconfig)
    await until(cluster, MAPS, at('page'), is('data', { x }))
  }
  await shows('1')

  // The API server moves; who balances learns of it.
  await balancer.end('SIGKILL')
  await real.move()
  balancer = balance(real.port)
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '2' } })
  await shows('2')

  // Its certificate is rotated, by another authority; connections of before are gone, and the kubeconfig follows.
  authority = certify(tls)
  await real.move()
  await balancer.end('SIGKILL')
  balancer = balance(real.port)
  write('p@ss word')
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '3' } })
  await shows('3')
  await wds.delete(MAPS, at('page'))
  await until(await clientOf(t, real.kubeconfig), MAPS, at('page'), gone)
  t.equal(await syncer.end('SIGTERM'), 0)
  await balancer.end('SIGKILL')
  await proxy.end('SIGTERM')
  const lines = readFileSync(tunnels, 'utf8').split('\n')
  t.ok(lines.some(line => line.includes(`CONNECT ${NAME}:${balancerPort} edge`) && line.includes('/200')))
  t.notOk(JSON.stringify(syncer.lines).includes('p%40ss'), 'no log has the password')
})
