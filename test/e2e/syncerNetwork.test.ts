/**
 * A syncer between the networks of a site. Its way to the center leads through squid, by `proxy-url`, to haproxy, which passes TLS through
 * by the requested name. Its way to the cluster leads through squid by HTTPS_PROXY. Then the server behind the balancer moves, and the
 * certificates in the kubeconfig change. Squid and haproxy are installed where they are missing and may be.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { lacking } from '../support/aptPrograms.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, gone, is, map, register } from '../syncer/support/installation.ts'
import { MAPS } from '../syncer/support/kinds.ts'
import { Command, freePort, Program, until } from '../syncer/support/processes.ts'

const [SQUID, HAPROXY] = ['/usr/sbin/squid', '/usr/sbin/haproxy']
const skip = lacking({ [SQUID]: 'squid', [HAPROXY]: 'haproxy' })

/** The cluster of a kubeconfig, with other fields. */
function changeCluster(path: string, fields: object): void {
  const config = parse(readFileSync(path, 'utf8')) as { clusters: { cluster: object }[] }
  for (const one of config.clusters) Object.assign(one.cluster, fields)
  writeFileSync(path, stringify(config), { mode: 0o600 })
}

t.test('through proxies and balancers', { skip }, async t => {
  const dir = temporaryDir(t)
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const [centerPort, secondPort, balancerPort, proxyPort] = ports as [number, number, number, number]
  const squid = join(dir, 'squid')
  mkdirSync(squid)
  // it runs as a user of its own where root starts it
  for (const folder of [dir, squid]) chmodSync(folder, 0o777)
  const tunnels = join(squid, 'access.log')
  const squidConf = join(dir, 'squid.conf')
  writeFileSync(
    squidConf,
    [
      `http_port 127.0.0.1:${proxyPort}`,
      `access_log stdio:${tunnels}`,
      'buffered_logs off',
      'cache_log /dev/null',
      'pid_filename none',
      'cache deny all',
      'pinger_enable off',
      'netdb_filename none',
      `coredump_dir ${squid}`,
      'acl CONNECT method CONNECT',
      'http_access allow CONNECT',
      'http_access deny all',
      'shutdown_lifetime 0 seconds',
      '',
    ].join('\n'),
  )
  const proxy = Program.spawned(t, SQUID, ['-N', '-d', '1', '-f', squidConf])
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
  use_backend center if { req.ssl_sni -i localhost }
backend center
  server one 127.0.0.1:${port}
`,
    )
    return Program.spawned(t, HAPROXY, ['-f', conf])
  }
  let balancer = balance(centerPort)
  const centerDir = join(dir, 'center')
  let center = new Center(t, centerDir, ['--secure-port', `${centerPort}`])
  const wec = join(dir, 'wec')
  const simulated = ['simulate-wec', '--name', 'florin', '--data-dir', wec, '--secure-port', '0']
  await Promise.all([center.start(), new Command(t, simulated).said('ready'), proxy.said('Accepting HTTP Socket')])
  const toCluster = join(wec, 'admin.kubeconfig')
  const cluster = await clientOf(t, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'from.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  changeCluster(fromCenter, {
    server: `https://localhost:${balancerPort}/clusters/${mailbox}`,
    'proxy-url': `http://127.0.0.1:${proxyPort}`,
  })
  const environment = [`HTTPS_PROXY=http://127.0.0.1:${proxyPort}`, 'NO_PROXY=', 'no_proxy=', 'https_proxy=']
  const orrery = join(import.meta.dirname, '../../bin/orrery')
  const flags = ['--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster, '--state-dir', join(dir, 'state')]
  const syncer = Program.spawned(t, 'env', [...environment, orrery, 'syncer', ...flags])
  await center.in('root:wmw1').create(MAPS, map('page', { x: '1' }))
  await until(cluster, MAPS, at('page'), is('data', { x: '1' }))

  // The server moves; who balances learns of it, and whoever dialled the old address must dial anew.
  await center.end()
  await balancer.end('SIGKILL')
  center = new Center(t, centerDir, ['--secure-port', `${secondPort}`])
  await center.start()
  balancer = balance(secondPort)
  const wds = center.in('root:wmw1')
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '2' } })
  await until(cluster, MAPS, at('page'), is('data', { x: '2' }))

  // Its authority is not the trusted one any more: reported, and mended in the file alone.
  const { 'certificate-authority-data': authority } = clusterIn(fromCenter)
  changeCluster(fromCenter, { 'certificate-authority-data': clusterIn(toCluster)['certificate-authority-data'] })
  await center.end()
  await center.start()
  await syncer.said('the center cannot be reached')
  changeCluster(fromCenter, { 'certificate-authority-data': authority })
  await wds.delete(MAPS, at('page'))
  await until(cluster, MAPS, at('page'), gone)
  t.equal(await syncer.end('SIGTERM'), 0)
  await balancer.end('SIGKILL')
  // It notes a tunnel when that ends.
  await proxy.end('SIGTERM')
  const ended = readFileSync(tunnels, 'utf8')
  t.match(ended, `CONNECT localhost:${balancerPort}`)
  t.match(ended, `CONNECT 127.0.0.1:${new URL(clusterIn(toCluster).server!).port}`)
})

function clusterIn(path: string): Record<string, string> {
  return (parse(readFileSync(path, 'utf8')) as { clusters: { cluster: Record<string, string> }[] }).clusters[0]!.cluster
}
