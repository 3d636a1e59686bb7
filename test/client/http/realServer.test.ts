/** Client, discovery and informer against a real kube-apiserver with etcd, as envtest runs them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { httpSpaceClient } from '../../../src/client/http/httpClient.ts'
import { Informer } from '../../../src/client/informer.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { freePort } from '../../support/freePort.ts'
import { FILE_LIMIT_MS } from '../../support/patience.ts'
import { until } from '../support/fakeClock.ts'

const assets = process.env.KUBEBUILDER_ASSETS
const skip = assets ? false : 'KUBEBUILDER_ASSETS is unset: no kube-apiserver to talk to'
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }

/** Starts etcd and kube-apiserver; the path of an admin kubeconfig. */
async function startServer(t: Test, folder: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'orrery-real-'))
  const [client, peer, port] = await Promise.all([freePort(), freePort(), freePort()])
  const run = (program: string, args: string[]) => {
    const child = spawn(join(folder, program), args, { stdio: 'ignore' })
    return { child, exited: once(child, 'exit') }
  }
  const etcd = run('etcd', [
    `--data-dir=${dir}/etcd`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    '--unsafe-no-fsync',
  ])
  writeFileSync(join(dir, 'tokens.csv'), 'admintoken,admin,admin,"system:masters"\n')
  const openssl = spawn('openssl', ['genrsa', '-out', join(dir, 'sa.key'), '2048'], { stdio: 'ignore' })
  await once(openssl, 'exit')
  const apiserver = run('kube-apiserver', [
    `--etcd-servers=http://127.0.0.1:${client}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${dir}/certs`,
    `--token-auth-file=${dir}/tokens.csv`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${dir}/sa.key`,
    `--service-account-key-file=${dir}/sa.key`,
    '--service-cluster-ip-range=10.0.0.0/24',
  ])
  t.teardown(async () => {
    apiserver.child.kill()
    await apiserver.exited
    etcd.child.kill()
    await etcd.exited
    rmSync(dir, { recursive: true, force: true })
  })
  const kubeconfig = join(dir, 'admin.kubeconfig')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 'admintoken' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'default' } }],
      'current-context': 'x',
    }),
  )
  return kubeconfig
}

t.test('client and informer work with kube-apiserver', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const loaded = await loadKubeconfig(await startServer(t, assets!))
  t.match(loaded, { context: 'x', namespace: 'default', space: undefined })
  const client = httpSpaceClient(loaded.options)
  t.teardown(() => client.close())
  const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
  const ready = async () => await client.get(namespaces, { name: 'default' }).catch(() => undefined)
  while (!(await ready())) await new Promise(resolve => setTimeout(resolve, 100))

  const found = await client.discover()
  const deployments = found.find(r => r.resource === 'deployments')
  t.match(deployments, { group: 'apps', version: 'v1', kind: 'Deployment', namespaced: true })
  t.ok(deployments!.subresources.includes('scale'))

  const stop = new AbortController()
  const informer = new Informer({
    client,
    resource: CONFIG_MAPS,
    namespace: 'default',
    pageSize: 1,
    clock: systemClock,
    random: () => 0.5,
  })
  const told: string[] = []
  informer.subscribe(change => told.push(`${change.type} ${change.object.metadata.name}`))
  const named = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  const inDefault = (name: string): KubeObject => ({ ...named(name), metadata: { name, namespace: 'default' } })
  await client.create(CONFIG_MAPS, inDefault('a'))
  await client.create(CONFIG_MAPS, inDefault('b'))
  const run = informer.run(stop.signal)
  await informer.synced
  const a = { namespace: 'default', name: 'a' }
  t.match(informer.get(a), { kind: 'ConfigMap', apiVersion: 'v1' })
  const owner = { fieldManager: 'm', force: true }
  const applied = await client.patch(CONFIG_MAPS, a, 'apply', { ...named('a'), data: { k: 'ü' } }, owner)
  await client.delete(CONFIG_MAPS, { namespace: 'default', name: 'b' })
  const deleted = (text: string) => text === 'delete b'
  await until(() => told.some(deleted), 'the deletion')
  await until(() => told.length >= 4, 'all changes')
  t.strictSame(informer.get(a)?.data, { k: 'ü' })
  t.equal(informer.get(a)?.metadata.resourceVersion, applied.metadata.resourceVersion)
  await t.rejects(client.get(CONFIG_MAPS, { namespace: 'default', name: 'b' }), {
    name: 'StatusError',
    reason: 'NotFound',
    message: 'configmaps "b" not found',
  })
  await t.rejects(client.update(CONFIG_MAPS, { ...informer.get(a)!, metadata: { ...a, resourceVersion: '1' } }), {
    name: 'StatusError',
    reason: 'Conflict',
  })
  stop.abort()
  await run
})
