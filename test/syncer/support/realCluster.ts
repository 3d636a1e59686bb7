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
  return (await RealCluster.start(t, dir)).kubeconfig
}

/** Its administrator, and users without rights: `<name>token`. */
const TOKENS = [
  'admintoken,admin,admin,"system:masters"',
  ...['alice', 'bob', 'orrery'].map(name => `${name}token,${name},${name}`),
].join('\n')

/** A server whose API server may move to another port, or get other certificates. */
export class RealCluster {
  readonly #t: Test
  readonly #dir: string
  readonly #flags: readonly string[]
  #server: Program | undefined
  #port = 0

  private constructor(t: Test, dir: string, flags: readonly string[]) {
    this.#t = t
    this.#dir = dir
    this.#flags = flags
  }

  /** @param flags beside what it needs */
  static async start(t: Test, dir: string, flags: readonly string[] = []): Promise<RealCluster> {
    mkdirSync(dir, { recursive: true })
    const [client, peer] = [await freePort(), await freePort()]
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(join(dir, 'sa.key'), keys.privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
    writeFileSync(join(dir, 'sa.pub'), keys.publicKey.export({ type: 'spki', format: 'pem' }))
    writeFileSync(join(dir, 'tokens.csv'), TOKENS)
    const etcd = Program.spawned(t, join(assetsDir() ?? '', 'etcd'), [
      `--data-dir=${join(dir, 'etcd')}`,
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
    ])
    await etcd.said('ready to serve client requests')
    const cluster = new RealCluster(t, dir, [`--etcd-servers=http://127.0.0.1:${client}`, ...flags])
    await cluster.move()
    return cluster
  }

  get port(): number {
    return this.#port
  }

  /** Kubeconfig of its administrator, straight to where it is now. */
  get kubeconfig(): string {
    return join(this.#dir, 'admin.kubeconfig')
  }

  /** Its API server ends, which it would take a minute for while somebody watches, and begins again at another port. Resolves when it answers there. */
  async move(): Promise<void> {
    await this.stop()
    this.#port = await freePort()
    await this.restart()
  }

  /** Its API server ends at once. */
  async stop(): Promise<void> {
    await this.#server?.end('SIGKILL')
  }

  /** Its API server begins again where it was, and reads its files. Resolves when it answers. */
  async restart(): Promise<void> {
    const dir = this.#dir
    await this.stop()
    this.#server = Program.spawned(this.#t, join(assetsDir() ?? '', 'kube-apiserver'), [
      `--secure-port=${this.#port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${join(dir, 'certs')}`,
      `--token-auth-file=${join(dir, 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-signing-key-file=${join(dir, 'sa.key')}`,
      `--service-account-key-file=${join(dir, 'sa.pub')}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      '--disable-admission-plugins=ServiceAccount',
      ...this.#flags,
    ])
    writeFileSync(this.kubeconfig, this.kubeconfigOf('admin'))
    await answers(this.kubeconfig)
  }

  /** A kubeconfig of one of its users, at a path. */
  kubeconfigOf(user: string, path = ''): string {
    const cluster = { server: `https://127.0.0.1:${this.#port}${path}`, 'insecure-skip-tls-verify': true }
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'real', cluster }],
      users: [{ name: user, user: { token: `${user}token` } }],
      contexts: [{ name: 'real', context: { cluster: 'real', user } }],
      'current-context': 'real',
    })
  }
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

/** It has no reliable sign of readiness: requests probe it, as everybody does. */
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
