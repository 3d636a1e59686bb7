import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import t from 'tap'
import { adminKubeconfig, writeAdminKubeconfig } from '../../../src/apiserver/pki/kubeconfig.ts'

const options = { server: 'https://127.0.0.1:6443', caPem: 'CA', clientCertPem: 'CERT', clientKeyPem: 'KEY' }

t.test('scripts find their contexts and servers', async t => {
  const config = new KubeConfig()
  config.loadFromString(adminKubeconfig(options))
  t.equal(config.getCurrentContext(), 'root')
  const servers = Object.fromEntries(config.clusters.map(cluster => [cluster.name, cluster.server]))
  t.same(servers, {
    root: 'https://127.0.0.1:6443/clusters/root',
    base: 'https://127.0.0.1:6443',
    'system:admin': 'https://127.0.0.1:6443',
  })
  t.same(
    config.contexts.map(context => [context.name, context.cluster]),
    [
      ['root', 'root'],
      ['base', 'base'],
      ['system:admin', 'system:admin'],
    ],
  )
  t.match(config.getCurrentUser(), { certData: btoa('CERT'), keyData: btoa('KEY') })
  t.equal(config.getCurrentCluster()?.caData, btoa('CA'))
})

t.test('the file is for its owner alone', async t => {
  const path = join(t.testdir(), 'deep', 'admin.kubeconfig')
  await writeAdminKubeconfig(path, options)
  t.equal((await stat(path)).mode & 0o777, 0o600)
})
