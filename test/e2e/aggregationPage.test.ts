/** docs/aggregation.md, each block as it stands there, against a real kube-apiserver, and what its users do then. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Authority, PROXY_NAME } from '../apiserver/aggregated/support.ts'
import { Api } from '../support/api.ts'
import { run } from '../support/orrery.ts'
import { FILE_LIMIT_MS, PATIENCE_MS } from '../support/patience.ts'
import { accessOf, temporaryDir } from '../support/server.ts'
import { Command, freePort } from '../syncer/support/processes.ts'
import { assetsDir, RealCluster } from '../syncer/support/realCluster.ts'
import { shellBlocks } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/aggregation.md'), 'utf8')
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const READING = [
  { nonResourceURLs: ['/'], verbs: ['access'] },
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
]
const PLACEMENT = {
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'EdgePlacement',
  metadata: { name: 'one' },
  spec: { locationSelectors: [{ matchLabels: { env: 'prod' } }], downsync: [] },
}
const skip = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is unset: no kube-apiserver to stand behind'

t.setTimeout(FILE_LIMIT_MS)
t.test('the page, and two users with different rights', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const file = (name: string, content: string | object): string => {
    const path = join(dir, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const authority = await Authority.make()
  const proxy = await authority.client()
  const cluster = await RealCluster.start(t, join(dir, 'host'), [
    `--requestheader-client-ca-file=${file('front-ca.crt', authority.ca.certPem)}`,
    `--requestheader-allowed-names=${PROXY_NAME}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${file('front.crt', proxy.certPem)}`,
    `--proxy-client-key-file=${file('front.key', proxy.keyPem)}`,
  ])
  copyFileSync(cluster.kubeconfig, join(dir, 'host.kubeconfig'))
  copyFileSync(join(dir, 'host', 'certs', 'apiserver.crt'), join(dir, 'host-ca.crt'))
  const port = await freePort()
  const server = `https://127.0.0.1:${cluster.port}`

  /** With names that lead to this machine, and files in a folder of the test's. */
  const here = (script: string): string =>
    script
      .replaceAll('orrery.example.org', 'localhost')
      .replaceAll('--bind-address 0.0.0.0', `--secure-port 0 --aggregated-port ${port}`)
      .replaceAll(/orrery aggregation (\w+)/g, `orrery aggregation $1 --aggregated-port ${port}`)
      .replaceAll('HOST:6443', `127.0.0.1:${cluster.port}`)
  const env = {
    HOME: dir,
    KUBECONFIG: join(dir, 'user.kubeconfig'),
    PATH: `${ROOT}/bin:${ROOT}/node_modules/.bin:${assetsDir()}:${process.env.PATH}`,
  }
  const type = async (script: string, more: object = {}): Promise<string> => {
    const { code, out, err } = await run('bash', ['-ec', `cd ${dir}\n${here(script)}`], { env: { ...env, ...more } })
    t.equal(code, 0, `${script}\n${out}\n${err}`)
    return out
  }
  const [start = '', lead = '', chart = '', context = '', right = '', remove = '', ...others] = shellBlocks(PAGE).map(
    ({ script }) => script,
  )
  t.same(others, [], 'each block is typed')

  const [, ...flags] = here(start).trim().split(' ')
  const orrery = new Command(t, [
    ...flags.map(flag => (flag === 'host.kubeconfig' ? join(dir, flag) : flag)),
    `--data-dir=${join(dir, '.orrery')}`,
  ])
  await orrery.said('orrery ready')
  await eventually(async () => {
    const status = await run('bash', ['-ec', `cd ${dir}\n${here(lead)}`], { env })
    if (status.code !== 0 && !/AlreadyExists/.test(status.err)) throw new Error(`${status.out}\n${status.err}`)
    const asked = await run('bash', ['-ec', `cd ${dir}\n${here(lead.trim().split('\n').at(-1)!)}`], { env })
    if (asked.code !== 0) throw new Error(asked.out)
    t.equal(asked.out.trim(), 'v2alpha1.edge.kubestellar.io: available\nv1alpha1.tenancy.kcp.io: available')
  })

  const admin = new Api(accessOf(join(dir, '.orrery', 'admin.kubeconfig'))).in('root:wmw1')
  t.teardown(() => admin.close())
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(PAGE) ?? []
  await admin.ok(admin.send('POST', `${RBAC}/clusterrolebindings`, { body: yaml, type: 'application/yaml' }))
  const metadata = { name: 'bob', labels: { 'edge.kubestellar.io/natured': 'true' } }
  await admin.ok(admin.post(`${RBAC}/clusterroles`, { metadata, rules: READING }))
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'host:bob' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bob' }
  await admin.ok(admin.post(`${RBAC}/clusterrolebindings`, { metadata, roleRef, subjects }))
  const asHost = { KUBECONFIG: cluster.kubeconfig }
  const inPod = chart.replace('kubectl exec --namespace orrery orrery-0 -- ', '').replace('/var/lib/', './.')
  t.match(await type(inPod, asHost), /^apiservice.apiregistration.k8s.io\/v1alpha1.tenancy.kcp.io unchanged$/m)
  await type(right, asHost)
  // the host leads there some moments after it says that it may
  await eventually(async () => {
    const { code, err } = await run('kubectl', ['get', '--raw', '/apis/edge.kubestellar.io/v2alpha1'], {
      env: { ...env, ...asHost },
    })
    if (code !== 0) throw new Error(err)
  })
  await type('kubectl create clusterrolebinding bob-spaces --clusterrole orrery-spaces --user bob', asHost)
  await type('kubectl create clusterrole placements --verb "*" --resource edgeplacements.edge.kubestellar.io', asHost)
  await type('kubectl create clusterrolebinding placements --clusterrole placements --user alice --user bob', asHost)

  const proxied = `${server}/apis/tenancy.kcp.io/v1alpha1/spaces/root:wmw1/proxy`
  const kubectl = async (user: string, at: string, ...args: readonly string[]): Promise<string> => {
    const access = ['--kubeconfig=/dev/null', '--insecure-skip-tls-verify', `--server=${at}`, `--token=${user}token`]
    const { out, err } = await run('kubectl', [...access, ...args], { env })
    return `${out}${err}`
  }
  const names = await kubectl('alice', server, 'get', 'spaces', '-o', 'name')
  t.equal(names, 'space.tenancy.kcp.io/root\nspace.tenancy.kcp.io/root:wmw1\n')
  t.equal(await kubectl('bob', server, 'get', 'spaces', '-o', 'name'), names)
  const placement = file('placement.yaml', PLACEMENT)
  t.match(await kubectl('alice', server, 'apply', '-f', placement), 'edgeplacement.edge.kubestellar.io/one created')
  t.match(await kubectl('alice', server, 'api-resources', '--api-group=tenancy.kcp.io'), /spaces .*Space/)
  t.match(await kubectl('bob', server, 'delete', 'edgeplacement', 'one'), /User "host:bob" cannot delete/)
  t.match(await kubectl('alice', server, 'delete', 'edgeplacement', 'one'), /deleted/)

  await type(`kubectl config set-credentials me --token alicetoken\n${context}`)
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace: 'default' },
    data: { a: 'b' },
  }
  const manifest = file('config.json', config)
  t.match(await kubectl('alice', proxied, 'apply', '-f', manifest), 'configmap/one created')
  t.match(await kubectl('alice', proxied, 'apply', '-f', manifest), 'configmap/one unchanged')
  t.equal(await kubectl('bob', proxied, 'get', 'configmap', 'one', '-o', 'jsonpath={.data.a}'), 'b')
  t.match(await kubectl('alice', proxied, 'auth', 'can-i', 'create', 'pods'), /^yes$/m)
  t.match(await kubectl('bob', proxied, 'auth', 'can-i', 'create', 'pods'), /^no$/m)
  t.match(await kubectl('alice', proxied, 'explain', 'deployment.spec.replicas'), /FIELD: +replicas/)
  t.match(await kubectl('bob', proxied, 'delete', 'configmap', 'one'), /User "host:bob" cannot delete/)
  const events = new Api({ url: proxied, token: 'bobtoken' })
  t.teardown(() => events.close())
  const watch = await events.watch('/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name=one')
  await watch.take(1)
  await kubectl('alice', proxied, 'delete', 'configmap', 'one')
  t.match(await watch.take(1), [{ type: 'DELETED', object: { metadata: { name: 'one' } } }])
  watch.close()

  t.match(await type(remove), /^apiservices.apiregistration.k8s.io v1alpha1.tenancy.kcp.io: deleted$/m)
  const gone = await run('bash', ['-ec', `cd ${dir}\n${here(lead.trim().split('\n').at(-1)!)}`], { env })
  t.match(gone, { code: 1, out: /^v1alpha1.tenancy.kcp.io: missing/m })
})

/** The host reports nothing when it leads on, so that the test repeats a question. */
async function eventually(ask: () => Promise<unknown>): Promise<void> {
  const deadlineMs = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      await ask()
      return
    } catch (error) {
      if (Date.now() > deadlineMs) throw error
      await new Promise(resolve => setTimeout(resolve, 500))
    }
  }
}
