/** The rows of the bad-input tables, asked of a real kube-apiserver: what we expect of ourselves is what Kubernetes does. */
import t from 'tap'
import { kubernetes } from '../../bench/servers.ts'
import { ask, prepareBadCases, seen, wanted } from '../apiserver/badInput/badCase.ts'
import { bodyCases } from '../apiserver/badInput/bodies.ts'
import { patchCases } from '../apiserver/badInput/patches.ts'
import { queryCases } from '../apiserver/badInput/queries.ts'
import { Api } from '../support/api.ts'
import { temporaryDir } from '../support/server.ts'

const assets = process.env.KUBEBUILDER_ASSETS
const skip = assets ? false : 'KUBEBUILDER_ASSETS is unset: no kube-apiserver to ask'

t.test('kube-apiserver answers wrong requests as our tables say', { skip }, async t => {
  const peer = await kubernetes(assets!).start(temporaryDir(t))
  const { host, port, token } = peer.endpoint as { host: string; port: number; token: string }
  const api = new Api({ url: `https://${host}:${port}`, token })
  t.teardown(async () => {
    api.close()
    await peer.stop()
  })
  await defaultNamespace(api)
  await prepareBadCases(api)
  for (const row of [...bodyCases, ...patchCases, ...queryCases]) {
    if (row.unlikeKube120) continue
    t.strictSame(seen(await ask(api, row), row), wanted(row), `${row.method} ${row.name}`)
  }
})

/** A starting kube-apiserver makes its namespaces a moment after it says that it is ready. */
async function defaultNamespace(api: Api): Promise<void> {
  const watch = await api.watch('/api/v1/namespaces?watch=1&fieldSelector=metadata.name=default')
  await watch.take(1)
  watch.close()
}
