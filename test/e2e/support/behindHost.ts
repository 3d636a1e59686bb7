/** A real kube-apiserver as a host, with the certificate of its front proxy, and a server behind it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Api } from '../../support/api.ts'
import { frontProxyFlags } from '../../support/frontProxy.ts'
import { type Kubectl, KubectlSession, type Ran, run } from '../../support/orrery.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { accessOf } from '../../support/server.ts'
import { Center } from '../../syncer/support/installation.ts'
import { freePort } from '../../syncer/support/processes.ts'
import { RealCluster } from '../../syncer/support/realCluster.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
export const ENTER = { nonResourceURLs: ['/'], verbs: ['access'] }
export const READING = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }
export const EVERYTHING = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

export class BehindHost {
  readonly dir: string
  readonly cluster: RealCluster
  /** Where the server listens for the front proxy. */
  readonly port: number
  readonly center: Center
  readonly #t: Test

  private constructor(t: Test, dir: string, ends: { cluster: RealCluster; port: number; center: Center }) {
    this.#t = t
    this.dir = dir
    this.cluster = ends.cluster
    this.port = ends.port
    this.center = ends.center
  }

  /** The host runs, and the server is to be started. @param flags of its start, by the port for the front proxy */
  static async start(t: Test, dir: string, flags: (port: number) => readonly string[]): Promise<BehindHost> {
    const cluster = await RealCluster.start(t, join(dir, 'host'), await frontProxyFlags(dir))
    writeFileSync(join(dir, 'orrery.kubeconfig'), cluster.kubeconfigOf('orrery'))
    const port = await freePort()
    return new BehindHost(t, dir, { cluster, port, center: new Center(t, join(dir, '.orrery'), flags(port)) })
  }

  get url(): string {
    return `https://127.0.0.1:${this.cluster.port}`
  }

  /** A space, through the host. */
  through(space: string): string {
    return `${this.url}${pathOf(space)}`
  }

  /** The host, as one of its users. */
  host(user: string): Api {
    return this.#api({ url: this.url, token: `${user}token` })
  }

  /** The server by its ordinary address, as its administrator. */
  get admin(): Api {
    return this.#api(accessOf(join(this.dir, '.orrery', 'admin.kubeconfig')))
  }

  #api(access: ConstructorParameters<typeof Api>[0]): Api {
    const api = new Api(access)
    this.#t.teardown(() => api.close())
    return api
  }

  /** A kubeconfig file of a user of the host, for a space. */
  kubeconfig(user: string, space: string): string {
    const path = join(this.dir, `${user}-${space.replaceAll(':', '-')}.kubeconfig`)
    writeFileSync(path, this.cluster.kubeconfigOf(user, pathOf(space)))
    return path
  }

  /** kubectl as a user of the host, in a space or at the host itself. */
  session(kubectl: Kubectl, user: string, space?: string): KubectlSession {
    const server = space === undefined ? this.url : this.through(space)
    const access = ['--kubeconfig=/dev/null', '--insecure-skip-tls-verify', `--server=${server}`]
    return new KubectlSession(kubectl, this.dir, [...access, `--token=${user}token`])
  }

  asHost(...args: readonly string[]): Promise<Ran> {
    return run('kubectl', ['--kubeconfig', this.cluster.kubeconfig, ...args], { env: { HOME: this.dir } })
  }

  /** Gives a user of the host rights in a space. */
  async grant(user: string, space: string, rules: readonly object[]): Promise<void> {
    const admin = this.admin.in(space)
    const metadata = { name: user, labels: { 'edge.kubestellar.io/natured': 'true' } }
    await admin.ok(admin.post(`${RBAC}/clusterroles`, { metadata, rules: [ENTER, ...rules] }))
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `host:${user}` }]
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user }
    await admin.ok(admin.post(`${RBAC}/clusterrolebindings`, { metadata, roleRef, subjects }))
  }

  /** Another authority vouches for another certificate of the front proxy from now on; the host knows both authorities. */
  async rotate(): Promise<void> {
    await this.cluster.stop()
    await frontProxyFlags(this.dir, 'front proxies, the next')
    await this.cluster.restart()
  }
}

function pathOf(space: string): string {
  return `/apis/tenancy.kcp.io/v1alpha1/spaces/${space}/proxy`
}

/** The host reports nothing when it leads on, or has looked: the test repeats a question. @throws the last error */
export async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  const deadlineMs = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (Date.now() > deadlineMs) throw error
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  }
}
