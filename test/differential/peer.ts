/** The real kube-apiserver that answers are compared with, where there is one. */
import type { Test } from 'tap'
import { kubernetes } from '../../bench/servers.ts'
import { Api } from '../support/api.ts'
import { temporaryDir } from '../support/server.ts'

/** Whether there is a kube-apiserver to ask; else the reason why not, for `skip`. */
export const noPeer: string | false = process.env.KUBEBUILDER_ASSETS
  ? false
  : 'KUBEBUILDER_ASSETS is unset: no kube-apiserver to ask'

/** Started for the test, ended with it. No controllers run beside it. */
export async function startPeer(t: Test): Promise<Api> {
  return (await startPeerWithStore(t)).api
}

/** The same, with the URL of its etcd. */
export async function startPeerWithStore(t: Test): Promise<{ api: Api; etcd: string }> {
  const peer = await kubernetes(process.env.KUBEBUILDER_ASSETS!).start(temporaryDir(t))
  const { host, port, token = '', etcd = '' } = peer.endpoint
  const api = new Api({ url: `https://${host}:${port}`, token })
  t.teardown(async () => {
    api.close()
    await peer.stop()
  })
  await defaultNamespace(api)
  return { api, etcd }
}

/** `v1.20.2` */
export async function versionOf(api: Api): Promise<string> {
  const { gitVersion } = (await api.ok(api.get('/version'))) as { gitVersion?: string }
  if (gitVersion === undefined) throw new Error('the peer tells no version')
  return gitVersion
}

/** A starting kube-apiserver makes its namespaces a moment after it says that it is ready. */
async function defaultNamespace(api: Api): Promise<void> {
  const watch = await api.watch('/api/v1/namespaces?watch=1&fieldSelector=metadata.name=default')
  await watch.take(1)
  watch.close()
}
