/**
 * Kubernetes as it is today, as far as CustomResourceDefinitions and their objects go: upstream's apiextensions-apiserver, the
 * same code that a kube-apiserver serves them with. It leaves users, rights and namespaces to the kube-apiserver beside it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { Api } from '../support/api.ts'
import { freePort } from '../support/freePort.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'

const assets = process.env.KUBEBUILDER_ASSETS

/** Whether there is one to ask; else the reason why not, for `skip`. */
export const noToday: string | false =
  assets === undefined
    ? 'KUBEBUILDER_ASSETS is unset: no apiextensions-apiserver to ask'
    : existsSync(join(assets, 'apiextensions-apiserver'))
      ? false
      : 'KUBEBUILDER_ASSETS has no apiextensions-apiserver to ask'

/** Plugins that follow kinds which an older kube-apiserver does not have. */
const WITHOUT = 'ValidatingAdmissionPolicy,MutatingAdmissionPolicy,MutatingAdmissionWebhook,ValidatingAdmissionWebhook'

/** Started for the test beside `core`, ended with it. */
export async function startToday(t: Test, core: Api): Promise<Api> {
  const dir = temporaryDir(t)
  const [port, client, peer] = await Promise.all([freePort(), freePort(), freePort()])
  const kubeconfig = join(dir, 'kubeconfig')
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(core)), { mode: 0o600 })
  const etcd = run(etcdPath(), [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
  ])
  const server = run(join(assets!, 'apiextensions-apiserver'), [
    `--etcd-servers=http://127.0.0.1:${client}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(dir, 'certs')}`,
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--enable-priority-and-fairness=false',
    `--disable-admission-plugins=${WITHOUT}`,
  ])
  const { token } = core.access
  const api = new Api({ url: `https://127.0.0.1:${port}`, ...(token && { token }) })
  t.teardown(async () => {
    api.close()
    await ended(server)
    await ended(etcd)
  })
  await ready(api, server)
  return api
}

/** Today's servers want more of etcd than the one beside an old kube-apiserver may have. */
function etcdPath(): string {
  const newer = join(assets!, 'etcd-3.5')
  return existsSync(newer) ? newer : join(assets!, 'etcd')
}

function kubeconfigOf(core: Api): object {
  const { url, token } = core.access
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'core', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'core', context: { cluster: 'core', user: 'admin' } }],
    'current-context': 'core',
  }
}

function run(command: string, args: readonly string[]): ChildProcess {
  return spawn(command, args, { stdio: 'ignore' })
}

async function ready(api: Api, server: ChildProcess): Promise<void> {
  const begun = performance.now()
  while (performance.now() - begun < PATIENCE_MS && server.exitCode === null) {
    const answer = await api.get('/readyz').catch(() => undefined)
    if (answer?.code === 200) return
    await pause(20)
  }
  throw new Error('the apiextensions-apiserver did not become ready')
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}
