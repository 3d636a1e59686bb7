/** `orrery aggregation`, and the flags of a start behind a host, as a user meets them. The host is a map of objects behind HTTP. */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { orreryHere as run } from '../../support/runHere.ts'
import { temporaryDir } from '../../support/server.ts'

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const EDGE = `${API_SERVICES}/v2alpha1.edge.kubestellar.io`
const TENANCY = `${API_SERVICES}/v1alpha1.tenancy.kcp.io`
const AUTOMANAGED = { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' }

interface Object {
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  spec?: Record<string, unknown>
  status?: unknown
}

interface HostFake {
  /** By path. */
  objects: Map<string, Object>
  deleted: string[]
  flags: string[]
  caPem: string
}

async function startHost(t: Test): Promise<HostFake> {
  const objects = new Map<string, Object>()
  const deleted: string[] = []
  const ca = await issueCa({ commonName: 'orrery', nowMs: Date.now(), days: 2 })
  const { certPem: cert, keyPem: key } = await issueServing({
    ca,
    dnsNames: [],
    ips: ['127.0.0.1'],
    nowMs: Date.now(),
    days: 1,
  })
  const server = createServer({ cert, key }, (request, response) => {
    const path = request.url!.split('?')[0]!
    const object = objects.get(path)
    if (request.method === 'DELETE' && objects.delete(path)) deleted.push(path)
    response.writeHead(object ? 200 : 404, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(object ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const dir = temporaryDir(t)
  const kubeconfig = join(dir, 'host.kubeconfig')
  const cluster = {
    'insecure-skip-tls-verify': true,
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'h', cluster }],
      users: [{ name: 'h', user: {} }],
      contexts: [{ name: 'h', context: { cluster: 'h', user: 'h' } }],
      'current-context': 'h',
    }),
  )
  const { certPem: caPem } = ca
  mkdirSync(join(dir, 'data', 'pki'), { recursive: true })
  writeFileSync(join(dir, 'data', 'pki', 'ca.crt'), caPem)
  return { objects, deleted, flags: ['--host-kubeconfig', kubeconfig, '--data-dir', join(dir, 'data')], caPem }
}

/** Where the host keeps it. */
function pathOf({ kind, metadata: { name, namespace } }: Object): string {
  const plural = `${kind.toLowerCase()}s`
  const group = kind === 'APIService' ? 'apiregistration.k8s.io' : 'rbac.authorization.k8s.io'
  const at = namespace === undefined ? '' : `/namespaces/${namespace}`
  return kind === 'Service' ? `/api/v1${at}/services/${name}` : `/apis/${group}/v1${at}/${plural}/${name}`
}

async function printed(t: Test, host: HostFake, ...flags: string[]): Promise<Object[]> {
  const { code, out, err } = await run('aggregation', 'print', ...host.flags, ...flags)
  t.equal(code, 0, err)
  return parseAllDocuments(out).map(document => document.toJS() as Object)
}

t.test('what is printed, applied, is found and removed, APIServices first', async t => {
  const host = await startHost(t)
  t.match(await run('aggregation', 'status', ...host.flags), {
    code: 1,
    out: /^v2alpha1.edge.kubestellar.io: missing: apply what "orrery aggregation print" prints$/m,
  })
  const objects = await printed(t, host, '--external-name', 'orrery.example.org', '--aggregated-port', '443')
  t.same(
    objects.map(({ kind }) => kind),
    ['Service', 'RoleBinding', 'ClusterRoleBinding', 'ClusterRole', 'APIService', 'APIService'],
  )
  const service = { namespace: 'orrery', name: 'orrery', port: 443 }
  const caBundle = Buffer.from(host.caPem).toString('base64')
  t.match(objects.at(-1), { metadata: { name: 'v1alpha1.tenancy.kcp.io' }, spec: { service, caBundle } })
  for (const object of objects) host.objects.set(pathOf(object), object)
  t.match(await run('aggregation', 'status', ...host.flags), { code: 1, out: /the host has not looked yet/ })
  const conditions = [{ type: 'Available', status: 'True', reason: 'Passed', message: 'all checks passed' }]
  for (const path of [EDGE, TENANCY]) host.objects.get(path)!.status = { conditions }
  t.match(await run('aggregation', 'status', ...host.flags), {
    code: 0,
    out: 'v2alpha1.edge.kubestellar.io: available\nv1alpha1.tenancy.kcp.io: available\n',
  })
  host.objects.get(EDGE)!.status = {
    conditions: [{ type: 'Available', status: 'False', reason: 'FailedDiscoveryCheck', message: 'no route' }],
  }
  host.objects.get(TENANCY)!.spec!.caBundle = Buffer.from('another').toString('base64')
  const status = await run('aggregation', 'status', ...host.flags)
  t.match(status, { code: 1, out: /^v2alpha1.edge.kubestellar.io: FailedDiscoveryCheck: no route$/m })
  t.match(status.out, /^v1alpha1.tenancy.kcp.io: caBundle is not the authority of this data dir/m)
  t.match(await run('aggregation', 'remove', ...host.flags), { code: 0, out: /edge.kubestellar.io: deleted/ })
  t.same(host.deleted.slice(0, 2), [TENANCY, EDGE])
  t.equal(host.objects.size, 0)
  t.match(await run('aggregation', 'remove', ...host.flags), { code: 0, out: /edge.kubestellar.io: not there/ })
})

t.test('what others made stays', async t => {
  const host = await startHost(t)
  const name = 'v2alpha1.edge.kubestellar.io'
  host.objects.set(EDGE, { kind: 'APIService', metadata: { name, labels: AUTOMANAGED } })
  const taken = /APIService v2alpha1.edge.kubestellar.io already: a CustomResourceDefinition of the host serves/
  t.match(await run('aggregation', 'print', ...host.flags), { code: 1, out: '', err: taken })
  t.match(await run('aggregation', 'remove', ...host.flags), { code: 1, out: /edge.kubestellar.io: kept, a CustomRes/ })
  const spec = { service: { namespace: 'other', name: 'server' } }
  host.objects.set(EDGE, { kind: 'APIService', metadata: { name }, spec })
  t.match(await run('aggregation', 'print', ...host.flags), { code: 1, err: /it leads to Service other\/server/ })
  t.match(await run('aggregation', 'status', ...host.flags), { code: 1, out: /it leads to Service other\/server/ })
  const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/orrery-spaces'
  const labels = { 'app.kubernetes.io/managed-by': 'orrery' }
  host.objects.set(role, { kind: 'ClusterRole', metadata: { name: 'orrery-spaces', labels } })
  const leftToOther = await run('aggregation', 'remove', ...host.flags)
  t.match(leftToOther, { code: 1, out: /orrery-spaces: kept, an APIService stays$/m })
  t.ok(host.objects.has(role), 'users of the other server need it')
  const ours = { service: { namespace: 'orrery', name: 'orrery' } }
  host.objects.set(EDGE, { kind: 'APIService', metadata: { name }, spec: ours })
  const path = '/api/v1/namespaces/orrery/services/orrery'
  host.objects.set(path, { kind: 'Service', metadata: { name: 'orrery', namespace: 'orrery' } })
  const removed = await run('aggregation', 'remove', ...host.flags)
  t.match(removed, { code: 1, out: /^services orrery\/orrery: kept, somebody else made it$/m })
  t.ok(host.objects.has(path))
})

t.test('mistakes are named by their flag', async t => {
  const host = await startHost(t)
  const dir = temporaryDir(t)
  for (const [flags, err] of [
    [['--aggregated-service', 'orrery'], /--aggregated-service: "orrery" is no namespace and name of a Service/],
    [['--data-dir', join(dir, 'none')], /none\/pki\/ca.crt cannot be read: .*give the --data-dir of a server/],
    [['--host-kubeconfig', join(dir, 'none')], /--host-kubeconfig .*none cannot be used: ENOENT/],
  ] as const)
    t.match(await run('aggregation', 'print', ...host.flags, ...flags), { code: 1, out: '', err })
  const start = ['start', '--aggregated', '--data-dir', join(dir, 'data'), ...host.flags.slice(0, 2)]
  for (const [flags, err] of [
    [['--aggregated-space', 'wmw1'], /--aggregated-space: "wmw1" is no path of a space, such as root:wmw1/],
    [
      ['--aggregated-user-prefix', ''],
      /--aggregated-user-prefix: "" would make users of the host users of this server/,
    ],
    [['--aggregated-user-prefix', 'system:'], /--aggregated-user-prefix: "system:" would make/],
    [['--aggregated-user-prefix', 'system'], /--aggregated-user-prefix: "system" would make/],
    [['--aggregated-service', 'a/b/c'], /--aggregated-service: "a\/b\/c" is no namespace and name/],
    [['--host-kubeconfig', join(dir, 'none')], /--aggregated: --host-kubeconfig .*none cannot be used/],
  ] as const)
    t.match(await run(...start, ...flags), { code: 1, err })
})
