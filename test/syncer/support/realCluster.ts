/** A real kube-apiserver on etcd from KUBEBUILDER_ASSETS: a cluster that owes nothing to us. No controllers run in it. */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { httpSpaceClient } from '../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { freePort, Program } from './processes.ts'

export function assetsDir(): string | undefined {
  return process.env.KUBEBUILDER_ASSETS || undefined
}

/** Resolves to the path of its administrator's kubeconfig when it answers. Ends with the test. */
export async function startRealCluster(t: Test, dir: string): Promise<string> {
  const assets = assetsDir() ?? ''
  mkdirSync(dir, { recursive: true })
  const [secure, client, peer] = [await freePort(), await freePort(), await freePort()]
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(dir, 'sa.key'), keys.privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
  writeFileSync(join(dir, 'sa.pub'), keys.publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(join(dir, 'tokens.csv'), 'admintoken,admin,admin,"system:masters"\n')
  const etcd = Program.spawned(t, join(assets, 'etcd'), [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
  ])
  await etcd.said('ready to serve client requests')
  Program.spawned(t, join(assets, 'kube-apiserver'), [
    `--etcd-servers=http://127.0.0.1:${client}`,
    `--secure-port=${secure}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${join(dir, 'certs')}`,
    `--token-auth-file=${join(dir, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${join(dir, 'sa.key')}`,
    `--service-account-key-file=${join(dir, 'sa.pub')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--disable-admission-plugins=ServiceAccount',
  ])
  const path = join(dir, 'admin.kubeconfig')
  const cluster = { server: `https://127.0.0.1:${secure}`, 'insecure-skip-tls-verify': true }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'real', cluster }],
    users: [{ name: 'admin', user: { token: 'admintoken' } }],
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'admin' } }],
    'current-context': 'real',
  }
  writeFileSync(path, JSON.stringify(config))
  await answers(path)
  return path
}

/** Runs these of its own controllers there. Autoscalers look every second. */
export function startControllers(t: Test, kubeconfig: string, controllers: readonly string[]): void {
  Program.spawned(t, join(assetsDir() ?? '', 'kube-controller-manager'), [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(',')}`,
    '--horizontal-pod-autoscaler-sync-period=1s',
    '--leader-elect=false',
    '--port=0',
    '--secure-port=0',
  ])
}

/** It says nothing reliable when it is ready: it is asked, as everybody does. */
async function answers(kubeconfig: string): Promise<void> {
  const client = httpSpaceClient((await loadKubeconfig(kubeconfig)).options)
  const deadlineMs = Date.now() + PATIENCE_MS
  try {
    for (;;) {
      try {
        await client.get({ group: '', version: 'v1', resource: 'namespaces' }, { name: 'default' })
        return
      } catch (error) {
        if (Date.now() > deadlineMs) throw error
        await new Promise(resolve => setTimeout(resolve, 100))
      }
    }
  } finally {
    client.close()
  }
}
