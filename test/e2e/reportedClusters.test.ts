/**
 * Two teams read by kubectl, as if each were a cluster, reports of two clusters: server and syncers are processes. An unmodified controller
 * with a token of its team reads them, too. A third cluster is a real one where KUBEBUILDER_ASSETS is set. It falls silent.
 */
import { CustomObjectsApi, KubeConfig, type KubernetesObject, makeInformer } from '@kubernetes/client-node'
import t from 'tap'
import { at as fieldAt } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { httpSpaceClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { Api } from '../support/api.ts'
import { findKubectls, KubectlSession } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { BINDINGS, GRANTS } from '../support/scene.ts'
import { accessOf, temporaryDir } from '../support/server.ts'
import { at, deployment, map, there } from '../syncer/support/installation.ts'
import { CRDS, DEPLOYMENTS, MAPS, NAMESPACES, namespace, PLACEMENTS, WORKSPACES } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'
import { condition, Florin, simulatedCluster } from './support/florin.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const REPORTS = { group: 'wgpolicyk8s.io', version: 'v1alpha2', resource: 'policyreports' }
const DEFINITION: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `policyreports.${REPORTS.group}` },
  spec: {
    group: REPORTS.group,
    scope: 'Namespaced',
    names: { plural: 'policyreports', singular: 'policyreport', kind: 'PolicyReport', shortNames: ['polr'] },
    versions: [
      {
        name: REPORTS.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        additionalPrinterColumns: [{ name: 'Fail', type: 'integer', jsonPath: '.summary.fail' }],
      },
    ],
  },
}
const isEstablished = (object: KubeObject | undefined): boolean => condition(object, 'Established')?.status === 'True'
const isAskedFor = (object: KubeObject | undefined): boolean =>
  object?.metadata.annotations?.['edge.kubestellar.io/upsynced-for'] !== undefined
const has =
  (fail: number) =>
  (object: KubeObject | undefined): boolean =>
    (object?.summary as { fail?: number } | undefined)?.fail === fail
const report = (fail: number): KubeObject => ({
  apiVersion: `${REPORTS.group}/${REPORTS.version}`,
  kind: 'PolicyReport',
  metadata: { name: 'web', namespace: 'shop' },
  summary: { fail },
})

t.setTimeout(FILE_LIMIT_MS)
const kubectls = await findKubectls()
const skip = kubectls.length > 0 ? false : 'no kubectl'
t.test('two teams read by kubectl what two clusters report', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const florin = await Florin.beginWithProcess(t, { centerIsProcess: true, serverFlags: ['--api-threads', '1'] })
  const { wds, cluster, inventory } = florin
  const { cluster: naples, mailbox: ofNaples } = await florin.join('naples', { env: 'prod' })
  const mailboxOf = (i: number): SpaceClient => florin.space(i === 0 ? florin.mailbox : ofNaples)
  const clusters = [cluster, naples]
  const set = { apiGroup: REPORTS.group, resources: ['policyreports'], namespaces: ['shop'], names: ['*'] }
  await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { upsync: [set] } })
  await wds.create(DEPLOYMENTS, deployment)

  // another team, on the same clusters, with a Namespace of its own
  const root = florin.space('root')
  const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'lea' }, spec: {} }
  await root.create(WORKSPACES, workspace)
  await until(root, WORKSPACES, { name: 'lea' }, object => (object?.status as { phase?: string })?.phase === 'Ready')
  const lea = florin.space('root:lea')
  const binding = { apiVersion: EDGE, kind: 'InventoryBinding', metadata: { name: 'all' }, spec: { path: 'root:imw1' } }
  await lea.create(BINDINGS, binding)
  await inventory.create(GRANTS, {
    apiVersion: EDGE,
    kind: 'PlacementGrant',
    metadata: { name: 'lea' },
    spec: { spaces: [{ path: 'root:lea' }] },
  })
  await lea.create(NAMESPACES, namespace('lea'))
  await lea.create(PLACEMENTS, {
    apiVersion: EDGE,
    kind: 'EdgePlacement',
    metadata: { name: 'p' },
    spec: {
      locationSelectors: [{ matchLabels: { env: 'prod' } }],
      downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['lea'], objectNames: ['*'] }],
    },
  })
  await lea.create(MAPS, { ...map('page', { x: 'of lea' }), metadata: { name: 'page', namespace: 'lea' } })
  t.pass('both teams place on both clusters')

  const access = await loadKubeconfig(florin.kubeconfig, 'base')
  const urlOf = (space: string, location?: string): string =>
    `${florin.url}/services/reported/clusters/${space}${location === undefined ? '' : `/locations/${location}`}`
  const viewOf = (space: string, location: string): SpaceClient => {
    const client = httpSpaceClient({ ...access.options, server: urlOf(space, location) })
    t.teardown(() => client.close())
    return client
  }
  const locations = ['imw1.florin', 'imw1.naples'] as const
  for (const [i, each] of clusters.entries()) {
    await until(each, DEPLOYMENTS, at('web'), there)
    await each.create(CRDS, DEFINITION)
    await until(each, CRDS, { name: DEFINITION.metadata.name! }, isEstablished)
    await each.create(REPORTS, report(i + 1))
    t.pass(`${locations[i]} has something to report`)
  }
  for (const [i, location] of locations.entries()) {
    const view = viewOf('root:wmw1', location)
    const ready = (object: KubeObject | undefined): boolean =>
      (object?.status as { readyReplicas?: number } | undefined)?.readyReplicas === 1
    const web = await until(view, DEPLOYMENTS, at('web'), ready)
    t.match(web?.metadata.annotations, { 'edge.kubestellar.io/location': location })
    await until(mailboxOf(i), REPORTS, at('web'), isAskedFor)
    t.match(await view.get(REPORTS, at('web')), { summary: { fail: i + 1 } })
  }

  const home = temporaryDir(t)
  const kubectl = (space: string, location?: string, which = kubectls.at(-1)!): KubectlSession =>
    new KubectlSession(which, home, [
      '--kubeconfig',
      florin.kubeconfig,
      '--context',
      'base',
      '--server',
      urlOf(space, location),
    ])
  for (const [i, location] of locations.entries()) {
    const shown = await kubectl('root:wmw1', location).ok('get deployments,policyreports -n shop')
    t.match(shown, /deployment.apps\/web +1\/1 /)
    t.match(shown, new RegExp(`policyreport.wgpolicyk8s.io/web +${i + 1}\n?$`))
  }
  t.match(await kubectl('root:wmw1', locations[0], kubectls[0]).ok('get deployments -n shop -o wide'), /web +1\/1 /)
  t.match(await kubectl('root:wmw1', locations[0]).ok('describe polr web -n shop'), /Fail: +1/)
  t.match(await kubectl('root:lea', 'all.naples').ok('get configmaps -A'), /^NAMESPACE.*\nlea +page +1 [^\n]*$/)
  t.match((await kubectl('root:lea', 'all.naples').run('get polr -A')).err, /doesn't have a resource type "polr"/)
  const refused = await kubectl('root:wmw1', locations[0]).run('delete deployment web -n shop')
  t.match(refused.err, /reports of clusters are read-only; write at \/clusters\/root:wmw1\/apis\/apps\/v1/)

  const both = await kubectl('root:wmw1').ok('get polr -A')
  t.match(both, /^NAMESPACE +LOCATION +NAME +FAIL\nshop +imw1.florin +web +1\nshop +imw1.naples +web +2\n?$/)
  t.match(
    (await kubectl('root:wmw1').run('get polr web -n shop')).err,
    /at several locations: imw1.florin, imw1.naples;/,
  )
  t.match(
    await kubectl('root:wmw1').ok('get polr -A -l edge.kubestellar.io/location=imw1.naples -o name'),
    /^[^\n]+web\n?$/,
  )
  t.match(await kubectl('*').ok('get configmaps -n lea'), /root:lea +all.florin +page .*\nroot:lea +all.naples +page /)
  const all = kubectl('root:wmw1').follow('get polr -n shop --watch-only --no-headers')
  t.teardown(() => all.stop())

  // an unmodified informer, of one cluster
  const config = new KubeConfig()
  config.loadFromFile(florin.kubeconfig)
  config.setCurrentContext('base')
  const server = urlOf('root:wmw1', locations[1])
  const { name } = config.getCurrentCluster()!
  config.clusters = config.clusters.map(each => (each.name === name ? { ...each, server } : each))
  const custom = config.makeApiClient(CustomObjectsApi)
  const { group, version, resource: plural } = REPORTS
  const informer = makeInformer<KubernetesObject>(
    config,
    `/apis/${group}/${version}/namespaces/shop/${plural}`,
    async () => await custom.listNamespacedCustomObject({ group, version, namespace: 'shop', plural }),
  )
  t.teardown(() => informer.stop())
  const changed = new Promise<KubernetesObject>(resolve => informer.on('update', resolve))
  await informer.start()
  t.equal(informer.list().length, 1)

  const followed = kubectl('root:wmw1', locations[1]).follow('get policyreports -n shop --watch --no-headers')
  t.teardown(() => followed.stop())
  t.match((await followed.lines.next()).value, /^web +2$/)
  await cluster.patch(REPORTS, at('web'), 'merge', { summary: { fail: 50 } })
  await until(viewOf('root:wmw1', locations[0]), REPORTS, at('web'), has(50))
  await naples.patch(REPORTS, at('web'), 'merge', { summary: { fail: 7 } })
  t.match((await followed.lines.next()).value, /^web +7$/, 'of one cluster, and not of the other')
  t.match(await changed, { summary: { fail: 7 } })
  t.match((await all.lines.next()).value, /^imw1.florin +web +50$/)
  t.match((await all.lines.next()).value, /^imw1.naples +web +7$/)

  // the third cluster reports, and falls silent: what follows does not wait for that
  const third = await florin.join('oslo', { env: 'prod' }, assetsDir() ? startRealCluster : simulatedCluster)
  await until(third.cluster, NAMESPACES, { name: 'shop' }, there)
  await third.cluster.create(CRDS, DEFINITION)
  await until(third.cluster, CRDS, { name: DEFINITION.metadata.name! }, isEstablished)
  await third.cluster.create(REPORTS, report(9))
  await until(florin.space(third.mailbox), REPORTS, at('web'), isAskedFor)
  await third.syncer.end()

  // what an autoscaler there sets, where the author leaves it
  await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', {
    spec: { ignoreDifferences: [{ group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas'] }] },
  })
  const isLeft = (object: KubeObject | undefined): boolean =>
    object?.metadata.annotations?.['edge.kubestellar.io/left-fields'] !== undefined
  await until(mailboxOf(1), DEPLOYMENTS, at('web'), isLeft)
  const owners = (object: KubeObject | undefined): string =>
    JSON.stringify(object?.metadata.managedFields?.filter(({ manager }) => manager === 'kubestellar-syncer'))
  await until(naples, DEPLOYMENTS, at('web'), object => !owners(object).includes('f:replicas'))
  await naples.patch(DEPLOYMENTS, at('web'), 'merge', { spec: { replicas: 4 } }, { fieldManager: 'autoscaler' })
  const replicas = (wanted: number) => (object: KubeObject | undefined) => fieldAt(object?.spec, 'replicas') === wanted
  const scaled = await until(viewOf('root:wmw1', locations[1]), DEPLOYMENTS, at('web'), replicas(4))
  t.equal(scaled?.metadata.annotations?.['edge.kubestellar.io/live-fields'], '[{"path":"spec.replicas","live":"4"}]')
  t.ok(replicas(1)(await viewOf('root:wmw1', locations[0]).get(DEPLOYMENTS, at('web'))), 'of that cluster alone')
  t.match(await kubectl('root:wmw1', locations[1]).ok('get deployments -n shop'), /web +\d\/4 /)

  // an unmodified controller, with a token of the workload space
  const admin = new Api(accessOf(florin.kubeconfig))
  t.teardown(() => admin.close())
  const token = await tokenIn(wds, admin.in('root:wmw1'))
  const seen: string[] = []
  let wake = (): void => {}
  for (const [i, location] of locations.entries()) {
    const config = new KubeConfig()
    config.loadFromOptions({
      clusters: [
        {
          name: 'view',
          server: urlOf('root:wmw1', location),
          caData: Buffer.from(access.options.caPem ?? '').toString('base64'),
        },
      ],
      users: [{ name: 'controller', token }],
      contexts: [{ name: 'view', cluster: 'view', user: 'controller' }],
      currentContext: 'view',
    })
    const kind = { group: REPORTS.group, version: REPORTS.version, plural: REPORTS.resource, namespace: 'shop' }
    const api = config.makeApiClient(CustomObjectsApi)
    const informer = makeInformer<KubernetesObject & { summary?: { fail?: number } }>(
      config,
      `/apis/${kind.group}/${kind.version}/namespaces/shop/${kind.plural}`,
      () => api.listNamespacedCustomObject(kind) as never,
    )
    t.teardown(() => informer.stop())
    for (const verb of ['add', 'update', 'delete'] as const)
      informer.on(verb, ({ summary }) => {
        seen.push(`${verb} ${i} ${summary?.fail}`)
        wake()
      })
    await informer.start()
  }
  const sees = async (...wanted: string[]): Promise<void> => {
    while (!wanted.every(one => seen.includes(one)))
      await new Promise<void>(resolve => {
        wake = resolve
      })
    t.pass(wanted.join(', '))
  }
  await sees('add 0 50', 'add 1 7')
  await naples.patch(REPORTS, at('web'), 'merge', { summary: { fail: 8 } })
  await sees('update 1 8')
  await naples.delete(REPORTS, at('web'))
  await sees('delete 1 8')
  t.notOk(
    seen.some(one => one.startsWith('delete 0')),
    'the other cluster still has it',
  )

  // what the silent cluster reported last stays, and says since when
  const isSilent = (object: KubeObject | undefined): boolean =>
    object?.metadata.annotations?.['edge.kubestellar.io/silent-since'] !== undefined
  const last = await until(viewOf('root:wmw1', 'imw1.oslo'), REPORTS, at('web'), isSilent)
  t.match(last, { summary: { fail: 9 } })
  t.match(await kubectl('root:wmw1', 'imw1.oslo').ok('get polr -n shop'), /^SILENT +NAME +FAIL\n\d+\w* +web +9\n?$/)
})

/** The token of a ServiceAccount that may read reports of policies. */
async function tokenIn(space: SpaceClient, api: Api): Promise<string> {
  const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' }
  const metadata = { name: 'controller', labels: { 'edge.kubestellar.io/natured': 'true' } }
  const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' }
  await space.create(accounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...metadata, namespace: 'shop' },
  })
  await space.create(
    { ...RBAC, resource: 'clusterroles' },
    {
      apiVersion: `${RBAC.group}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules: [{ apiGroups: [REPORTS.group], resources: [REPORTS.resource], verbs: ['get', 'list', 'watch'] }],
    },
  )
  await space.create(
    { ...RBAC, resource: 'clusterrolebindings' },
    {
      apiVersion: `${RBAC.group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC.group, kind: 'ClusterRole', name: 'controller' },
      subjects: [{ kind: 'ServiceAccount', name: 'controller', namespace: 'shop' }],
    },
  )
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = await api.ok(api.post('/api/v1/namespaces/shop/serviceaccounts/controller/token', request))
  return (status as { token: string }).token
}
