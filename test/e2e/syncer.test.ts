/**
 * A whole installation in processes of its own: a server, a cluster, a syncer between them. What is applied appears, its
 * status returns, what is deleted goes; all of it survives the death of the server and the loss of a token.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { isRecord } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { httpClient, httpSpaceClient } from '../../src/client/http/httpClient.ts'
import { type LoadedKubeconfig, loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { CRDS, DEPLOYMENTS, LOCATIONS, MAPS, NAMESPACES, PLACEMENTS, TARGETS, WORKSPACES } from '../support/center.ts'
import { temporaryDir } from '../support/server.ts'
import { freePort, Program, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
const at = (name: string) => ({ namespace: 'shop', name })
const is =
  (field: string, value: unknown) =>
  (object: KubeObject | undefined): boolean =>
    JSON.stringify(object?.[field]) === JSON.stringify(value)
const gone = (object: KubeObject | undefined): boolean => object === undefined
const there = (object: KubeObject | undefined): boolean => object !== undefined

const map = (name: string, data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data,
})
const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
}

/** A server that keeps its address over restarts. */
class CenterProcess {
  readonly #t: Test
  readonly dir: string
  readonly #port: number
  #program: Program | undefined
  #admin: LoadedKubeconfig | undefined

  constructor(t: Test, dir: string, port: number) {
    this.#t = t
    this.dir = dir
    this.#port = port
  }

  async start(): Promise<void> {
    this.#program = Program.orrery(this.#t, ['start', '--data-dir', this.dir, '--secure-port', `${this.#port}`])
    await this.#program.said('orrery ready: ')
    this.#admin = await loadKubeconfig(join(this.dir, 'admin.kubeconfig'), 'base')
  }

  async kill(): Promise<void> {
    await this.#program?.end('SIGKILL')
  }

  in(space: string): SpaceClient {
    const client = httpClient({ ...this.#admin!.options, server: this.#admin!.base })
    this.#t.teardown(() => client.close())
    return client.in(space)
  }

  /** A kubeconfig for the syncer's identity in a mailbox, with a token of now. */
  async syncerKubeconfig(path: string, mailbox: string): Promise<void> {
    const account = { ...ACCOUNTS, resource: 'serviceaccounts/kubestellar-syncer/token' }
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace: 'default' },
      spec: {},
    }
    const { status } = await this.in(mailbox).create(account, request)
    const token = isRecord(status) ? status.token : undefined
    const { options, base } = this.#admin!
    const cluster = {
      server: `${base}/clusters/${mailbox}`,
      'certificate-authority-data': Buffer.from(options.caPem ?? '').toString('base64'),
    }
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    }
    writeFileSync(path, stringify(config), { mode: 0o600 })
  }
}

/** Registers a cluster and places the Namespace shop there; the id of its mailbox. */
async function register(center: CenterProcess): Promise<string> {
  const inventory = center.in('root:imw1')
  const target = await inventory.create(TARGETS, {
    apiVersion: EDGE,
    kind: 'SyncTarget',
    metadata: { name: 'florin', labels: { id: 'florin' } },
    spec: {},
  })
  await inventory.create(LOCATIONS, {
    apiVersion: EDGE,
    kind: 'Location',
    metadata: { name: 'florin', labels: { env: 'prod' } },
    spec: {
      resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
      instanceSelector: { matchLabels: { id: 'florin' } },
    },
  })
  const { uid, annotations } = target.metadata
  const name = `${annotations?.['kcp.io/cluster']}-mb-${uid}`
  const ready = await until(
    center.in('root:espw'),
    WORKSPACES,
    { name },
    object => isRecord(object?.status) && object.status.phase === 'Ready',
  )
  const mailbox = String(isRecord(ready?.spec) && ready.spec.cluster)
  await until(center.in(mailbox), ACCOUNTS, { namespace: 'default', name: 'kubestellar-syncer' }, there)
  const wds = center.in('root:wmw1')
  await wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const everything = { namespaces: ['shop'], objectNames: ['*'] }
  await wds.create(PLACEMENTS, {
    apiVersion: EDGE,
    kind: 'EdgePlacement',
    metadata: { name: 'p' },
    spec: {
      locationSelectors: [{ matchLabels: { env: 'prod' } }],
      wantSingletonReportedState: true,
      downsync: [
        { apiGroup: '', resources: ['configmaps'], ...everything },
        { apiGroup: 'apps', resources: ['deployments'], ...everything },
        { apiGroup: 'batch', resources: ['*'], ...everything },
      ],
      upsync: [{ apiGroup: 'group1.test', resources: ['sprockets'], namespaces: ['orbital'], names: ['*'] }],
    },
  })
  return mailbox
}

async function clientOf(t: Test, kubeconfig: string): Promise<SpaceClient> {
  const client = httpSpaceClient((await loadKubeconfig(kubeconfig)).options)
  t.teardown(() => client.close())
  return client
}

/** The messages of a syncer's log at and above `warn`. */
function warnings(syncer: Program): string[] {
  const lines = syncer.lines
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as { level: number; msg: string })
  return lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)
}

t.test('a simulated cluster', async whole => {
  const dir = temporaryDir(whole)
  const center = new CenterProcess(whole, join(dir, 'center'), await freePort())
  const wec = Program.orrery(whole, [
    'simulate-wec',
    '--name',
    'florin',
    '--data-dir',
    join(dir, 'wec'),
    '--secure-port',
    '0',
  ])
  await Promise.all([center.start(), wec.said('ready')])
  const toCluster = join(dir, 'wec', 'admin.kubeconfig')
  const cluster = await clientOf(whole, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  const syncerArgs = [
    'syncer',
    '--from-kubeconfig',
    fromCenter,
    '--to-kubeconfig',
    toCluster,
    '--state-dir',
    join(dir, 'state'),
    '--qps',
    '0',
  ]
  let syncer = Program.orrery(whole, syncerArgs)
  const wds = center.in('root:wmw1')

  await whole.test('what is applied appears, its status returns, what is deleted goes', async t => {
    await wds.create(MAPS, map('page', { x: '1' }))
    await wds.create(DEPLOYMENTS, deployment)
    await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
    await until(wds, DEPLOYMENTS, at('web'), object => isRecord(object?.status) && object.status.readyReplicas === 1)
    await wds.delete(MAPS, at('page'))
    await until(cluster, MAPS, at('page'), gone)
    const target = await until(
      center.in('root:imw1'),
      TARGETS,
      { name: 'florin' },
      object => isRecord(object?.status) && object.status.lastSyncerHeartbeatTime !== undefined,
    )
    t.match(JSON.stringify(target?.status), /SyncerAlive/)
    t.same(warnings(syncer), [], 'without a word of trouble')
  })

  await whole.test(
    'the server dies, both sides change, the syncer restarts: all converge when the server is back',
    async t => {
      await wds.create(MAPS, map('page', { x: '1' }))
      await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
      await center.kill()
      await cluster.patch(MAPS, at('page'), 'merge', { data: { x: 'drifted' } })
      await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
      await syncer.said('the center cannot be reached')
      t.equal(await syncer.end('SIGTERM'), 0)
      t.equal(warnings(syncer).length, 1, `one line for the outage: ${warnings(syncer).join('\n')}`)
      await cluster.delete(MAPS, at('page'))
      syncer = Program.orrery(whole, syncerArgs)
      await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
      await cluster.patch(DEPLOYMENTS, at('web'), 'merge', { metadata: { annotations: { local: 'yes' } } })
      await center.start()
      await wds.patch(DEPLOYMENTS, at('web'), 'merge', { spec: { replicas: 3 } })
      await wds.delete(MAPS, at('page'))
      await until(cluster, MAPS, at('page'), gone)
      const web = await until(
        cluster,
        DEPLOYMENTS,
        at('web'),
        object => isRecord(object?.spec) && object.spec.replicas === 3,
      )
      t.equal(web?.metadata.annotations?.local, 'yes')
      await until(wds, DEPLOYMENTS, at('web'), object => isRecord(object?.status) && object.status.readyReplicas === 3)
    },
  )

  await whole.test(
    'a revoked token is one clear line, a new one in the file is taken up, and nothing secret is logged',
    async t => {
      const mail = center.in(mailbox)
      const account = await mail.get(ACCOUNTS, { namespace: 'default', name: 'kubestellar-syncer' })
      await mail.delete(ACCOUNTS, { namespace: 'default', name: 'kubestellar-syncer' })
      await until(
        mail,
        ACCOUNTS,
        { namespace: 'default', name: 'kubestellar-syncer' },
        now => now !== undefined && now.metadata.uid !== account.metadata.uid,
      )
      await center.kill()
      await center.start()
      await syncer.said('the center refuses the syncer')
      await wds.create(MAPS, map('late', { x: '1' }))
      await center.syncerKubeconfig(fromCenter, mailbox)
      await until(cluster, MAPS, at('late'), is('data', { x: '1' }))
      t.equal(warnings(syncer).filter(line => line.includes('refuses')).length, 1)
      t.notMatch(syncer.lines.join('\n'), /eyJ/, 'no token in the log')
      t.equal(await syncer.end('SIGTERM'), 0)
    },
  )
})

const noAssets = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.test('a real cluster of an older release', { skip: noAssets }, async t => {
  const dir = temporaryDir(t)
  const center = new CenterProcess(t, join(dir, 'center'), await freePort())
  const [toCluster] = await Promise.all([startRealCluster(t, join(dir, 'real')), center.start()])
  const cluster = await clientOf(t, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  const syncer = Program.orrery(t, ['syncer', '--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster])
  const wds = center.in('root:wmw1')
  await wds.create(MAPS, map('page', { x: '1' }))
  await wds.create(DEPLOYMENTS, deployment)
  const jobs = { group: 'batch', version: 'v1', resource: 'jobs' }
  const cronJobs = { group: 'batch', version: 'v1', resource: 'cronjobs' }
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] } }
  await wds.create(jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata: at('once'), spec: { template } })
  await wds.create(cronJobs, {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: at('often'),
    spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } },
  })
  await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
  await until(cluster, jobs, at('once'), there)
  await until(cluster, { ...cronJobs, version: 'v1beta1' }, at('often'), there)
  await cluster.patch(MAPS, at('page'), 'merge', { data: { x: 'drifted', local: 'stays' } })
  await until(cluster, MAPS, at('page'), is('data', { local: 'stays', x: '1' }))
  await until(cluster, DEPLOYMENTS, at('web'), there)
  await cluster.patch(
    DEPLOYMENTS,
    at('web'),
    'merge',
    { status: { replicas: 1, readyReplicas: 1 } },
    { subresource: 'status' },
  )
  await until(wds, DEPLOYMENTS, at('web'), object => isRecord(object?.status) && object.status.readyReplicas === 1)
  await cluster.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'orbital' } })
  await cluster.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'sprockets.group1.test' },
    spec: {
      group: 'group1.test',
      scope: 'Namespaced',
      names: { plural: 'sprockets', singular: 'sprocket', kind: 'Sprocket' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })
  await until(cluster, CRDS, { name: 'sprockets.group1.test' }, object =>
    JSON.stringify(object?.status ?? {}).includes('"Established"'),
  )
  const sprockets = { group: 'group1.test', version: 'v1', resource: 'sprockets' }
  const george = { namespace: 'orbital', name: 'george' }
  await until(center.in(mailbox), CRDS, { name: 'sprockets.group1.test' }, object =>
    JSON.stringify(object?.status ?? {}).includes('"Established"'),
  )
  await cluster.create(sprockets, { apiVersion: 'group1.test/v1', kind: 'Sprocket', metadata: george, spec: { n: 1 } })
  await until(center.in(mailbox), sprockets, george, is('spec', { n: 1 }))
  await wds.delete(MAPS, at('page'))
  await until(cluster, MAPS, at('page'), gone)
  t.same(
    warnings(syncer).filter(line => !line.startsWith('the cluster does not know .')),
    [],
  )
  t.equal(await syncer.end('SIGTERM'), 0)
})
