/**
 * Latency through a host cluster beside that of the ordinary address: `KUBEBUILDER_ASSETS=… node bench/aggregated.ts [--rounds 1000]`.
 *
 * One client asks one thing at a time. It asks in turns the server directly, the server through the host, and the host for an object
 * of its own. Printed are the median and the 99th percentile, in milliseconds.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { GroupVersionResource, KubeObject } from '../src/apimachinery/object.ts'
import { registration } from '../src/cli/orrery/aggregation/registration.ts'
import type { SpaceClient } from '../src/client/client.ts'
import { type ClosableSpaceClient, httpSpaceClient } from '../src/client/http/httpClient.ts'
import { frontProxyFlags } from '../test/support/frontProxy.ts'
import { HttpConnection } from './httpConnection.ts'
import { type Endpoint, freePort, kubernetes, orreryOf, type RunningServer, TREE } from './servers.ts'

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '1000' } } })
const ROUNDS = Number(flags.rounds)
const WARM_UP = 50
const OBJECTS = 500
const SPACE = 'root:wmw1'
const THROUGH = `/apis/tenancy.kcp.io/v1alpha1/spaces/${SPACE}/proxy`
const MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }
const PATH = '/api/v1/namespaces/default/configmaps'
const LIMIT_MS = 60_000

interface Way {
  readonly name: string
  readonly connection: HttpConnection
  readonly prefix: string
  readonly token: string | undefined
}

const assets = process.env.KUBEBUILDER_ASSETS
if (assets) await measureAll(assets)
else console.log('skipped: KUBEBUILDER_ASSETS is unset, and there is no kube-apiserver to stand behind')

async function measureAll(assets: string): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
  const running: RunningServer[] = []
  try {
    const host = await kubernetes(assets, undefined, { flags: await frontProxyFlags(dir) }).start(join(dir, 'host'))
    running.push(host)
    const port = await freePort()
    const behind = [
      '--aggregated',
      '--host-kubeconfig',
      await kubeconfig(dir, host.endpoint),
      '--aggregated-port',
      `${port}`,
    ]
    const orrery = await orreryOf(TREE, { flags: behind }).start(join(dir, 'data'))
    running.push(orrery)
    await lead(host.endpoint, orrery.endpoint, { port, caPem: await readFile(join(dir, 'data/pki/ca.crt'), 'utf8') })
    const ways = await waysTo(host.endpoint, orrery.endpoint)
    for (const what of ['get', 'list of 500', 'create'] as const) {
      const times = new Map(ways.map(({ name }) => [name, [] as number[]]))
      for (let round = -WARM_UP; round < (what === 'get' ? ROUNDS : ROUNDS / 5); round++)
        for (const way of ways) {
          const ms = await timeOf(way, what, round)
          if (round >= 0) times.get(way.name)!.push(ms)
        }
      for (const [name, all] of times) {
        all.sort((a, b) => a - b)
        const at = (part: number): string => all[Math.floor(all.length * part)]!.toFixed(2).padStart(8)
        console.log(`${what.padEnd(12)} ${name.padEnd(24)} p50 ${at(0.5)}  p99 ${at(0.99)}`)
      }
    }
    for (const { connection } of ways) connection.close()
  } finally {
    for (const server of running.reverse()) await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

async function timeOf({ name, connection, prefix, token }: Way, what: string, round: number): Promise<number> {
  const body =
    what === 'create' ? JSON.stringify(map(`made-${name.replaceAll(/[^a-z]/g, '-')}-${round + WARM_UP}`)) : ''
  const method = body === '' ? 'GET' : 'POST'
  const head = [
    `${method} ${prefix}${PATH}${what === 'get' ? '/map-7' : ''} HTTP/1.1`,
    'Host: localhost',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`]),
  ]
  const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  const begun = performance.now()
  const code = await connection.send(request)
  const ms = performance.now() - begun
  if (code >= 300) throw new Error(`${head[0]} was answered ${code}`)
  return ms
}

async function waysTo(host: Endpoint, orrery: Endpoint): Promise<Way[]> {
  const way = async (name: string, to: Endpoint, prefix: string): Promise<Way> => {
    const connection = await HttpConnection.open({ ...to, rejectUnauthorized: false })
    return { name, connection, prefix, token: to.token }
  }
  return [
    await way('direct', orrery, `/clusters/${SPACE}`),
    await way('through the host', host, THROUGH),
    await way("the host's own", host, ''),
  ]
}

/** Makes the host lead to the server, gives its administrators rights in the space, and fills both sides. */
async function lead(host: Endpoint, orrery: Endpoint, { port, caPem }: { port: number; caPem: string }): Promise<void> {
  const atHost = clientOf(host)
  const inSpace = clientOf(orrery, `/clusters/${SPACE}`)
  try {
    const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'orrery' } }
    await atHost.create({ ...MAPS, resource: 'namespaces' }, namespace)
    const wanted = { service: { namespace: 'orrery', name: 'orrery' }, port, caPem, externalName: 'localhost' }
    for (const { resource, object } of registration({ ...wanted, hostUser: 'admin' }))
      await atHost.create(resource, object)
    const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }
    await inSpace.create(rbac, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'host', labels: { 'edge.kubestellar.io/natured': 'true' } },
      roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: rbac.group, kind: 'Group', name: 'host:system:masters' }],
    } as unknown as KubeObject)
    await Promise.all([filled(atHost), filled(inSpace)])
    await leads(clientOf(host, THROUGH))
  } finally {
    atHost.close()
    inSpace.close()
  }
}

/** The host reports nothing when it leads on. */
async function leads(through: ClosableSpaceClient): Promise<void> {
  try {
    for (const begun = performance.now(); ; ) {
      try {
        await through.get(MAPS, { namespace: 'default', name: 'map-7' })
        return
      } catch (error) {
        if (performance.now() - begun > LIMIT_MS) throw error
        await new Promise(resolve => setTimeout(resolve, 100))
      }
    }
  } finally {
    through.close()
  }
}

async function filled(client: SpaceClient): Promise<void> {
  for (let i = 0; i < OBJECTS; i++) await client.create(MAPS, map(`map-${i}`))
}

function map(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data: { text: 'x'.repeat(900) },
  }
}

function clientOf({ host, port, token, cert, key }: Endpoint, path = ''): ClosableSpaceClient {
  const credential = token === undefined ? { certPem: cert!, keyPem: key! } : { token }
  return httpSpaceClient({ server: `https://${host}:${port}${path}`, insecure: true, ...credential })
}

async function kubeconfig(dir: string, { host, port, token }: Endpoint): Promise<string> {
  const path = join(dir, 'host.kubeconfig')
  const cluster = { server: `https://${host}:${port}`, 'insecure-skip-tls-verify': true }
  const context = { cluster: 'host', user: 'host' }
  await writeFile(
    path,
    JSON.stringify({
      clusters: [{ name: 'host', cluster }],
      users: [{ name: 'host', user: { token } }],
      contexts: [{ name: 'host', context }],
      'current-context': 'host',
    }),
    { mode: 0o600 },
  )
  return path
}
