/**
 * Two teams read by kubectl, as if each were a cluster, reports of clusters: the server has an API thread. Consumers with an account
 * of their team, made as docs/reports.md says, follow three clusters: unmodified informers, and the programs of that page. The third cluster
 * is a real one where KUBEBUILDER_ASSETS is set. It falls silent.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CustomObjectsApi, KubeConfig, type KubernetesObject, makeInformer } from '@kubernetes/client-node'
import t from 'tap'
import { at as fieldAt } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { httpSpaceClient } from '../../src/client/http/httpClient.ts'
import type { HttpClientOptions } from '../../src/client/http/options.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { findKubectls, KubectlSession, run } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { BINDINGS, GRANTS } from '../support/scene.ts'
import { temporaryDir } from '../support/server.ts'
import { at, deployment, map, there } from '../syncer/support/installation.ts'
import { CRDS, DEPLOYMENTS, MAPS, NAMESPACES, namespace, PLACEMENTS, WORKSPACES } from '../syncer/support/kinds.ts'
import { Program, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'
import { findInterpreter } from './clients/session.ts'
import { condition, Florin, simulatedCluster } from './support/florin.ts'

const ROOT = join(import.meta.dirname, '../..')
const INFORMER = join(ROOT, 'src/client/reported/reportedInformer.ts')
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
  const florin = await Florin.begin(t, { serverFlags: ['--api-threads', '1'] })
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

  const third = await florin.join('oslo', { env: 'prod' }, assetsDir() ? startRealCluster : simulatedCluster)
  await until(third.cluster, NAMESPACES, { name: 'shop' }, there)
  await third.cluster.create(CRDS, DEFINITION)
  await until(third.cluster, CRDS, { name: DEFINITION.metadata.name! }, isEstablished)
  await third.cluster.create(REPORTS, report(9))
  await until(florin.space(third.mailbox), REPORTS, at('web'), isAskedFor)

  // an account of the workload space by the page, and consumers with its kubeconfig
  const dir = temporaryDir(t)
  const policy = join(dir, 'policy.kubeconfig')
  const page = new Page(readFileSync(join(ROOT, 'docs/reports.md'), 'utf8'))
  writeFileSync(join(dir, 'policy-reader.yaml'), page.block('yaml', 'kind: ServiceAccount'))
  writeFileSync(
    join(dir, 'admin.kubeconfig'),
    kubeconfigOf({ ...access.options, server: `${florin.url}/clusters/root:wmw1` }),
  )
  const typed = async (): Promise<string> => {
    const env = { KUBECONFIG: join(dir, 'admin.kubeconfig'), HOME: home }
    const { code, out, err } = await run('bash', ['-ec', `cd ${dir}\n${page.next()}`], { env })
    t.equal(code, 0, err)
    return out
  }
  await typed()
  t.match(
    await typed(),
    /^NAMESPACE +LOCATION +NAME +FAIL\nshop +imw1.florin +web +50\nshop +imw1.naples +web +7\nshop +imw1.oslo +web +9\n.*fail: 50/s,
  )
  t.equal(page.next(), undefined, 'there is no other block')
  const scripts = {
    // its types are checked with the package
    ts: page
      .block('ts')
      .replace("{ type ReportedObject, reportedInformer } from 'orrery'", `{ reportedInformer } from '${INFORMER}'`),
    python: page.block('python'),
  }
  for (const [name, text] of Object.entries(scripts))
    writeFileSync(join(dir, `consumer.${name}`), text.replace("'policy.kubeconfig'", `'${policy}'`))
  const python = await findInterpreter(['/usr/bin/python3', 'python3'], ['-c', 'import kubernetes'])
  if (!python) t.comment('the block for Python is skipped: the package is not installed (Debian: python3-kubernetes)')
  const consumers = [
    Program.spawned(t, process.execPath, [join(dir, 'consumer.ts')]),
    ...(python ? [Program.spawned(t, python, [join(dir, 'consumer.python')])] : []),
  ]
  const seen: string[] = []
  let wake = (): void => {}
  const all3 = [...locations, 'imw1.oslo'] as const
  for (const location of all3) {
    const config = new KubeConfig()
    config.loadFromFile(policy)
    const [view] = config.clusters
    config.clusters = [{ ...view!, server: `${view!.server}/locations/${location}` }]
    const api = config.makeApiClient(CustomObjectsApi)
    const kind = { group, version, plural, namespace: 'shop' }
    const informer = makeInformer<KubernetesObject & { summary?: { fail?: number } }>(
      config,
      `/apis/${group}/${version}/namespaces/shop/${plural}`,
      () => api.listNamespacedCustomObject(kind) as never,
    )
    t.teardown(() => informer.stop())
    for (const verb of ['add', 'update', 'delete'] as const)
      informer.on(verb, ({ summary }) => {
        seen.push(`${verb} ${location} ${summary?.fail}`)
        wake()
      })
    await informer.start()
  }
  const PAST = { add: 'added', update: 'updated', delete: 'deleted' } as const
  const WATCHED = { add: 'ADDED', update: 'MODIFIED', delete: 'DELETED' } as const
  /** Informers of one location each see it, and so do the programs of the page. */
  const sees = async (verb: keyof typeof PAST, location: string, fail: number): Promise<void> => {
    while (!seen.includes(`${verb} ${location} ${fail}`))
      await new Promise<void>(resolve => {
        wake = resolve
      })
    for (const [i, verbs] of [PAST, WATCHED].entries())
      await consumers[i]?.said(`${verbs[verb]} ${location} web ${fail}`)
    t.pass(`${verb} ${location} ${fail}`)
  }
  const each = [cluster, naples, third.cluster]
  for (const [i, fail] of [50, 7, 9].entries()) await sees('add', all3[i]!, fail)
  for (const [i, location] of all3.entries()) {
    await each[i]!.patch(REPORTS, at('web'), 'merge', { summary: { fail: 60 + i } })
    await sees('update', location, 60 + i)
  }
  await naples.delete(REPORTS, at('web'))
  await sees('delete', 'imw1.naples', 61)
  t.same(
    seen.filter(one => one.startsWith('delete')),
    ['delete imw1.naples 61'],
    'the other clusters still have it',
  )

  // the third one falls silent: what follows does not wait for that
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

  // what the silent cluster reported last stays, and says since when
  const isSilent = (object: KubeObject | undefined): boolean =>
    object?.metadata.annotations?.['edge.kubestellar.io/silent-since'] !== undefined
  const last = await until(viewOf('root:wmw1', 'imw1.oslo'), REPORTS, at('web'), isSilent)
  t.match(last, { summary: { fail: 62 } })
  t.match(await kubectl('root:wmw1', 'imw1.oslo').ok('get polr -n shop'), /^SILENT +NAME +FAIL\n\d+\w* +web +62\n?$/)
})

/** Blocks of a page. Those of the shell are typed in their order. */
class Page {
  readonly #blocks: readonly { readonly language: string; readonly text: string }[]
  #typed = 0

  constructor(page: string) {
    this.#blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({
      language,
      text,
    }))
  }

  next(): string | undefined {
    return this.#blocks.filter(({ language }) => language === 'sh')[this.#typed++]?.text
  }

  block(wanted: string, words = ''): string {
    return this.#blocks.find(({ language, text }) => language === wanted && text.includes(words))!.text
  }
}

function kubeconfigOf({ server, caPem = '', certPem = '', keyPem = '' }: HttpClientOptions): string {
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': base64(caPem) } }],
    users: [{ name: 'u', user: { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  })
}
