/**
 * KubeStellar's extended example, with its commands, names and manifests: two clusters, a common workload for both and a special
 * one for guilder, upsync sets, and the status of the special one back. The syncers run beside their clusters.
 * @see https://docs.kubestellar.io/release-0.14/Coding%20Milestones/PoC2023q1/example1/
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { startHarness } from '../cli/support.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { clientOf, gone } from '../syncer/support/installation.ts'
import { CONFIGS, CRDS, DEPLOYMENTS, MAPS, NAMESPACES } from '../syncer/support/kinds.ts'
import { Program, until } from '../syncer/support/processes.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const REPLICA_SETS = { group: 'apps', version: 'v1', resource: 'replicasets' }
const SLICES = { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'singleplacementslices' }
const WORKSPACES = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
const CRON_TABS = { group: 'stable.example.com', version: 'v1', resource: 'crontabs' }
const API_SERVICES = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' }
const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }

const podSpec = (env: string) => ({
  containers: [
    {
      name: 'httpd',
      image: 'library/httpd:2.4',
      env: [{ name: 'EXAMPLE_VAR', value: env }],
      volumeMounts: [{ name: 'htdocs', readOnly: true, mountPath: '/usr/local/apache2/htdocs/' }],
    },
  ],
  volumes: [{ name: 'htdocs', configMap: { name: 'httpd-htdocs', optional: false } }],
})
const workload = (kind: string, namespace: string, name: string, app: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { namespace, name, annotations: { 'edge.kubestellar.io/customizer': 'example-customizer' } },
  spec: {
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: podSpec('example value') },
  },
})
const page = (namespace: string, text: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name: 'httpd-htdocs', annotations },
  data: { 'index.html': `<!DOCTYPE html>\n<html><body>${text}</body></html>\n` },
})
const customizer = (namespace: string, value: string): KubeObject => ({
  apiVersion: EDGE,
  kind: 'Customizer',
  metadata: { namespace, name: 'example-customizer', annotations: EXPAND },
  replacements: [{ path: '$.spec.template.spec.containers.0.env.0.value', value }],
})
const GROUP_1 = {
  apiGroup: 'group1.test',
  resources: ['sprockets', 'flanges'],
  namespaces: ['orbital'],
  names: ['george', 'cosmo'],
}
const placement = (name: string, labels: Record<string, string>, downsync: object[], upsync: object[]): KubeObject => ({
  apiVersion: EDGE,
  kind: 'EdgePlacement',
  metadata: { name },
  spec: { locationSelectors: [{ matchLabels: labels }], downsync, wantSingletonReportedState: true, upsync },
})

const COMMON: KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'commonstuff' } },
  page('commonstuff', 'This web site is hosted in %(loc-name).', EXPAND),
  customizer('commonstuff', '"env is %(env)"'),
  workload('ReplicaSet', 'commonstuff', 'commond', 'common'),
]
const PLACE_COMMON = placement(
  'edge-placement-c',
  { env: 'prod' },
  [
    { apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], objectNames: ['httpd-htdocs'] },
    { apiGroup: 'apps', resources: ['replicasets'], namespaces: ['commonstuff'] },
  ],
  [GROUP_1, { apiGroup: 'group2.test', resources: ['cogs'], names: ['william'] }],
)
const CRD: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab', shortNames: ['ct'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  cronSpec: { type: 'string' },
                  image: { type: 'string' },
                  replicas: { type: 'integer' },
                },
              },
            },
          },
        },
      },
    ],
  },
}
const SPECIAL: KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'specialstuff', labels: { special: 'yes' } } },
  {
    apiVersion: 'stable.example.com/v1',
    kind: 'CronTab',
    metadata: { namespace: 'specialstuff', name: 'my-new-cron-object' },
    spec: { cronSpec: '* * * * */5', image: 'my-awesome-cron-image' },
  },
  page('specialstuff', 'This is a special web site. Customized for %(loc-name).', EXPAND),
  customizer('specialstuff', '"in %(env) env"'),
  workload('Deployment', 'specialstuff', 'speciald', 'special'),
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1090.example.my' },
    spec: {
      group: 'example.my',
      version: 'v1090',
      groupPriorityMinimum: 360,
      versionPriority: 42,
      service: { name: 'my-service', namespace: 'my-example' },
    },
  },
]
const PLACE_SPECIAL = placement(
  'edge-placement-s',
  { env: 'prod', extended: 'yes' },
  [
    { apiGroup: '', resources: ['configmaps'], namespaceSelectors: [{ matchLabels: { special: 'yes' } }] },
    {
      apiGroup: 'apps',
      resources: ['deployments'],
      namespaceSelectors: [{ matchLabels: { special: 'yes' } }],
      objectNames: ['speciald'],
    },
    { apiGroup: 'apiregistration.k8s.io', resources: ['apiservices'], objectNames: ['v1090.example.my'] },
    {
      apiGroup: 'stable.example.com',
      resources: ['crontabs'],
      namespaces: ['specialstuff'],
      objectNames: ['my-new-cron-object'],
    },
    { apiGroup: '', resources: ['namespaces'], objectNames: ['specialstuff'] },
  ],
  [GROUP_1, { apiGroup: 'group3.test', resources: ['widgets'], names: ['*'] }],
)

const status = (object: KubeObject | undefined): Record<string, unknown> => {
  const found = object?.status
  return isRecord(found) ? found : {}
}
const executing = (object: KubeObject | undefined): string | undefined =>
  object?.metadata.annotations?.['kubestellar.io/executing-count']
const locations = (slice: KubeObject | undefined): string[] =>
  ((slice?.destinations ?? []) as { locationName: string }[]).map(each => each.locationName).sort()
const text = (object: KubeObject | undefined): string => JSON.stringify(object?.data ?? {})

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

t.setTimeout(FILE_LIMIT_MS)
const skip = hasKubectl() ? false : 'no kubectl in the PATH'
t.test('the extended example of KubeStellar runs unchanged', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const harness = await startHarness(t)
  const admin = harness.kubeconfig('admin')
  const { options, base } = await loadKubeconfig(admin)
  const client = httpClient({ ...options, server: base })
  t.teardown(() => client.close())
  const type = async (program: string, ...args: string[]): Promise<string> => {
    const { code, out, err } = await harness.run(program, args, admin)
    t.equal(code, 0, `${program} ${args.join(' ')}\n${err}`)
    return out
  }
  const apply = (...objects: KubeObject[]): void => {
    const file = join(harness.dir, 'apply.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    execFileSync('kubectl', ['--kubeconfig', admin, 'apply', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  }
  const kubestellar = (...args: string[]): Promise<string> => type('kubectl-kubestellar', ...args)

  // stage 1: the inventory, and a syncer for each cluster
  await type('kubectl-ws', 'root:imw1')
  await kubestellar('ensure', 'location', 'florin', 'loc-name=florin', 'env=prod')
  await kubestellar('ensure', 'location', 'guilder', 'loc-name=guilder', 'env=prod', 'extended=yes')
  const core = client.in('root:espw')
  const { items: mailboxes } = await core.list(WORKSPACES)
  t.equal(mailboxes.filter(({ metadata }) => metadata.name?.includes('-mb-')).length, 2)
  const mailboxOf = (name: string): SpaceClient => {
    const found = mailboxes.find(
      ({ metadata }) => metadata.annotations?.['edge.kubestellar.io/sync-target-name'] === name,
    )
    return client.in(`root:espw:${found?.metadata.name}`)
  }
  const clusters = new Map<string, SpaceClient>()
  for (const name of ['florin', 'guilder']) {
    const wec = join(harness.dir, name)
    await Program.orrery(t, ['simulate-wec', '--name', name, '--data-dir', wec, '--secure-port', '0']).said('ready')
    const fromCenter = join(harness.dir, `${name}-syncer.kubeconfig`)
    await kubestellar('prep-for-syncer', '--imw', 'root:imw1', name, '--kubeconfig-output', fromCenter)
    const toCluster = join(wec, 'admin.kubeconfig')
    Program.orrery(t, [
      'syncer',
      '--from-kubeconfig',
      fromCenter,
      '--to-kubeconfig',
      toCluster,
      '--state-dir',
      `${wec}-state`,
    ])
    clusters.set(name, await clientOf(t, toCluster))
  }
  const [florin, guilder] = [clusters.get('florin')!, clusters.get('guilder')!]

  // stage 2: the workloads, and where they go
  await kubestellar('ensure', 'wmw', 'wmw-c')
  apply(...COMMON, PLACE_COMMON)
  await kubestellar('ensure', 'wmw', 'wmw-s')
  apply(CRD)
  execFileSync('kubectl', [
    '--kubeconfig',
    admin,
    'wait',
    '--for=condition=Established',
    'crd/crontabs.stable.example.com',
  ])
  apply(...SPECIAL, PLACE_SPECIAL)
  const [common, special] = [client.in('root:wmw-c'), client.in('root:wmw-s')]
  const both = (slice: KubeObject | undefined): boolean => `${locations(slice)}` === 'florin,guilder'
  await until(common, SLICES, { name: 'edge-placement-c' }, both)
  await until(special, SLICES, { name: 'edge-placement-s' }, slice => `${locations(slice)}` === 'guilder')

  // stage 4: what the clusters hold
  for (const [name, cluster] of clusters) {
    const at = { namespace: 'commonstuff', name: 'httpd-htdocs' }
    await until(cluster, MAPS, at, map => text(map).includes(`hosted in ${name}.`))
    const commond = { namespace: 'commonstuff', name: 'commond' }
    await until(cluster, REPLICA_SETS, commond, set => JSON.stringify(set?.spec ?? {}).includes('"env is prod"'))
    await until(cluster, REPLICA_SETS, commond, set => status(set).readyReplicas === 1)
  }
  const speciald = { namespace: 'specialstuff', name: 'speciald' }
  await until(guilder, DEPLOYMENTS, speciald, each => JSON.stringify(each?.spec ?? {}).includes('"in prod env"'))
  await until(guilder, DEPLOYMENTS, speciald, each => status(each).readyReplicas === 1)
  await until(guilder, CRON_TABS, { namespace: 'specialstuff', name: 'my-new-cron-object' }, each => !gone(each))
  await until(guilder, API_SERVICES, { name: 'v1090.example.my' }, each => !gone(each))
  const ofSpecial = { namespace: 'specialstuff', name: 'httpd-htdocs' }
  await until(guilder, MAPS, ofSpecial, map => text(map).includes('Customized for guilder.'))
  const namespace = await guilder.get(NAMESPACES, { name: 'specialstuff' })
  t.equal(namespace.metadata.labels?.special, 'yes')
  await t.rejects(florin.get(NAMESPACES, { name: 'specialstuff' }), { message: /not found/ })
  await t.rejects(florin.get(CRDS, { name: 'crontabs.stable.example.com' }), { message: /not found/ })

  // stage 3: what their syncers are told to carry
  const resourcesOf = (config: KubeObject): string[] =>
    ((config.spec as { namespacedObjects: { resource: string }[] }).namespacedObjects ?? [])
      .map(each => each.resource)
      .sort()
  const groupsOf = (config: KubeObject): string[] =>
    ((config.spec as { upsync: { apiGroup: string }[] }).upsync ?? []).map(each => each.apiGroup).sort()
  const forFlorin = await mailboxOf('florin').get(CONFIGS, { name: 'the-one' })
  t.same(resourcesOf(forFlorin), ['configmaps', 'replicasets'])
  t.same(groupsOf(forFlorin), ['group1.test', 'group2.test'])
  t.notOk((forFlorin.spec as { clusterScope?: unknown[] }).clusterScope?.length)
  const forGuilder = await mailboxOf('guilder').get(CONFIGS, { name: 'the-one' })
  t.same([...new Set(resourcesOf(forGuilder))], ['configmaps', 'crontabs', 'deployments', 'replicasets'])
  t.same(
    groupsOf(forGuilder),
    ['group1.test', 'group2.test', 'group3.test'],
    'the same set of two spaces is there once',
  )
  t.same((forGuilder.spec as { clusterScope: { resource: string }[] }).clusterScope.map(each => each.resource).sort(), [
    'apiservices',
    'customresourcedefinitions',
    'namespaces',
  ])

  // stage 5: what the workload spaces are told
  const commond = { namespace: 'commonstuff', name: 'commond' }
  const counted = await until(common, REPLICA_SETS, commond, set => executing(set) === '2')
  t.same(status(counted).readyReplicas, undefined, 'two clusters have no one state')
  const told = await until(special, DEPLOYMENTS, speciald, each => status(each).readyReplicas === 1)
  t.equal(executing(told), '1')
})
