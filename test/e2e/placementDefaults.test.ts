/**
 * Unset fields of the workload space stay the cluster's: a controller there scales a Deployment, and no edit of the team takes that back.
 * Against the stand-in, and a real kube-apiserver where KUBEBUILDER_ASSETS is set.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isStatusError } from '../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, register, there, warnings } from '../syncer/support/installation.ts'
import { DEPLOYMENTS } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'

const WEB = at('web')

interface Spec {
  replicas?: number
  paused?: boolean
  minReadySeconds?: number
  strategy?: { type?: string }
  template: { spec: { containers: [{ image: string }] } }
}
const specOf = (object: KubeObject | undefined): Spec => object?.spec as Spec
const imageOf = (object: KubeObject | undefined): string => specOf(object).template.spec.containers[0].image
const runs = (image: string) => (object: KubeObject | undefined) => object !== undefined && imageOf(object) === image
const replicasAre = (count: number) => (object: KubeObject | undefined) => specOf(object)?.replicas === count
const withImage = (image: string) => ({ template: { spec: { containers: [{ name: 'c', image }] } } })
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: WEB,
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'a:1', ports: [{ containerPort: 80 }] }] },
    },
  },
}

/** The fields that a manager says, as text. */
function claimsOf(object: KubeObject | undefined, manager: string): string {
  const entries = object?.metadata.managedFields?.filter(entry => entry.manager === manager) ?? []
  return JSON.stringify(entries.map(({ fieldsV1 }) => fieldsV1))
}

async function scaled(cluster: SpaceClient, replicas: number): Promise<void> {
  await cluster.patch(DEPLOYMENTS, WEB, 'merge', { spec: { replicas } }, { subresource: 'scale', fieldManager: 'hpa' })
}

async function story(t: Test, dir: string, toCluster: string, center: Center): Promise<void> {
  const cluster = await clientOf(t, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  const syncer = new Command(t, ['syncer', '--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster])
  const wds = center.in('root:wmw1')
  const edit = async (spec: object): Promise<KubeObject> =>
    await wds.patch(DEPLOYMENTS, WEB, 'strategic', { spec }, { fieldManager: 'team' })
  const inCluster = (wanted: (object: KubeObject | undefined) => boolean) => until(cluster, DEPLOYMENTS, WEB, wanted)

  const made = await wds.create(DEPLOYMENTS, web, { fieldManager: 'team' })
  t.equal(specOf(made).replicas, 1, 'the space itself shows its default')
  t.equal(specOf(await inCluster(there)).replicas, 1, 'the cluster has a default of its own')
  const copy = await until(center.in(mailbox), DEPLOYMENTS, WEB, there)
  t.same(specOf(copy), {
    selector: web.spec.selector,
    template: {
      metadata: web.spec.template.metadata,
      spec: {
        containers: [{ name: 'c', image: 'a:1', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
      },
    },
  })

  await scaled(cluster, 5)
  await edit(withImage('a:2'))
  t.equal(specOf(await inCluster(runs('a:2'))).replicas, 5, 'an edit leaves it')
  const now = await inCluster(runs('a:2'))
  t.notMatch(claimsOf(now, 'kubestellar-syncer'), /f:replicas|f:strategy|f:imagePullPolicy/)

  for (let sent = false; !sent; ) {
    const read = await wds.get(DEPLOYMENTS, WEB)
    specOf(read).template.spec.containers[0].image = 'a:3'
    // its status may come back meanwhile
    sent = await wds.update(DEPLOYMENTS, read, { fieldManager: 'team' }).then(
      () => true,
      (error: unknown) => {
        if (!isStatusError(error, 'Conflict')) throw error
        return false
      },
    )
  }
  t.equal(specOf(await inCluster(runs('a:3'))).replicas, 5, 'who sends back all that they read says no more of it')

  await edit({ replicas: 3 })
  await inCluster(replicasAre(3))
  await edit({ replicas: null, ...withImage('a:4') })
  t.equal(specOf(await wds.get(DEPLOYMENTS, WEB)).replicas, 1)
  const left = await inCluster(runs('a:4'))
  t.equal(specOf(left).replicas, 3, 'what is said no more stays as it is')
  t.notMatch(claimsOf(left, 'kubestellar-syncer'), /f:replicas/)

  await edit({ paused: true, minReadySeconds: 5 })
  await inCluster(object => specOf(object).paused === true)
  await edit({ paused: null, minReadySeconds: null, ...withImage('a:4b') })
  const removed = specOf(await inCluster(runs('a:4b')))
  t.same([removed.paused, removed.minReadySeconds], [undefined, undefined], 'what has no default goes')

  await scaled(cluster, 7)
  await edit(withImage('a:5'))
  t.equal(specOf(await inCluster(runs('a:5'))).replicas, 7)

  await edit({ strategy: { type: 'Recreate', rollingUpdate: null } })
  const recreated = await inCluster(object => specOf(object).strategy?.type === 'Recreate')
  t.same(specOf(recreated).strategy, { type: 'Recreate' })
  t.equal(specOf(recreated).replicas, 7)

  await edit({ replicas: 1 })
  await inCluster(replicasAre(1))
  t.pass('who names the default says it')
  t.same(warnings(syncer), [])
}

async function start(t: Test, dir: string): Promise<Center> {
  const center = new Center(t, join(dir, 'center'))
  await center.start()
  return center
}

t.test('a stand-in keeps what its autoscaler says', { timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const wec = ['simulate-wec', '--name', 'florin', '--data-dir', join(dir, 'wec'), '--secure-port', '0']
  const [center] = await Promise.all([start(t, dir), new Command(t, wec).said('ready')])
  await story(t, dir, join(dir, 'wec', 'admin.kubeconfig'), center)
})

const noAssets = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.test('a real cluster keeps what its autoscaler says', { skip: noAssets, timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const [center, toCluster] = await Promise.all([start(t, dir), startRealCluster(t, join(dir, 'real'))])
  await story(t, dir, toCluster, center)
})
