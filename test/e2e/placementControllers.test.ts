/**
 * Changes of a cluster's own controllers to placed objects stay. An autoscaler keeps its replicas, and the garbage collector takes
 * dependents with their owner, and no others. The test plays the autoscaler of the stand-in, and a real control plane has its own where
 * KUBEBUILDER_ASSETS is set.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, gone, map, register, there, warnings } from '../syncer/support/installation.ts'
import { AUTOSCALERS, DEPLOYMENTS, MAPS, PLACEMENTS } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { assetsDir, startControllers, startRealCluster } from '../syncer/support/realCluster.ts'

interface Spec {
  replicas?: number
  minReplicas?: number
  template: { spec: { containers: [{ image: string }] } }
}
const specOf = (object: KubeObject | undefined) => (object?.spec ?? {}) as Spec
const replicasAre = (count: number) => (object: KubeObject | undefined) => specOf(object).replicas === count
const runs = (image: string) => (object: KubeObject | undefined) =>
  object !== undefined && specOf(object).template.spec.containers[0].image === image
const withImage = (image: string) => ({ template: { spec: { containers: [{ name: 'c', image }] } } })
const uidsOf = (object: KubeObject | undefined) => object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? []

const deployment = (name: string, spec: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: at(name),
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'a:1' }] } },
    ...spec,
  },
})
const autoscaler = (name: string, minReplicas: number): KubeObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'HorizontalPodAutoscaler',
  metadata: at(name),
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, minReplicas, maxReplicas: 9 },
})
const ownedBy = (owner: KubeObject) => [
  { apiVersion: 'apps/v1', kind: 'Deployment', name: owner.metadata.name ?? '', uid: owner.metadata.uid ?? '' },
]
const everything = { namespaces: ['shop'], objectNames: ['*'] }
const downsync = (...deployments: string[]) => [
  { apiGroup: '', resources: ['configmaps'], ...everything },
  { apiGroup: 'apps', resources: ['deployments'], namespaces: ['shop'], objectNames: deployments },
  { apiGroup: 'autoscaling', resources: ['*'], ...everything },
]

/** `play`: no autoscaler runs in the cluster, so somebody does what it would do. */
async function story(t: Test, dir: string, toCluster: string, center: Center, play: boolean): Promise<void> {
  const cluster = await clientOf(t, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  const syncer = new Command(t, ['syncer', '--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster])
  const wds = center.in('root:wmw1')
  const ignoreDifferences = [{ group: 'apps', kind: 'Deployment', name: 'api', jsonPointers: ['/spec/replicas'] }]
  const place = (...names: string[]) =>
    wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { downsync: downsync(...names), ignoreDifferences } })
  await place('web', 'api')
  const edit = (name: string, spec: object) => wds.patch(DEPLOYMENTS, at(name), 'strategic', { spec })
  const inCluster = (name: string, wanted: (object: KubeObject | undefined) => boolean) =>
    until(cluster, DEPLOYMENTS, at(name), wanted)

  const web = await wds.create(DEPLOYMENTS, deployment('web', {}))
  const api = await wds.create(DEPLOYMENTS, deployment('api', { replicas: 2 }))
  await wds.create(MAPS, { ...map('conf', { x: '1' }), metadata: { ...at('conf'), ownerReferences: ownedBy(web) } })
  await wds.create(MAPS, { ...map('child', {}), metadata: { ...at('child'), ownerReferences: ownedBy(api) } })
  for (const [name, least] of [
    ['web', 4],
    ['api', 3],
  ] as const) {
    await inCluster(name, there)
    await wds.create(AUTOSCALERS, autoscaler(name, least))
    await until(cluster, AUTOSCALERS, at(name), there)
    if (play) await autoscale(cluster, name, least)
    await inCluster(name, replicasAre(least))
  }

  await edit('web', withImage('a:2'))
  t.equal(specOf(await inCluster('web', runs('a:2'))).replicas, 4, 'what nobody says an autoscaler says')
  await edit('web', { replicas: 4, ...withImage('a:3') })
  await inCluster('web', runs('a:3'))
  await edit('web', { replicas: null, ...withImage('a:4') })
  t.equal(specOf(await inCluster('web', runs('a:4'))).replicas, 4, 'taken out of the manifest it changes nothing there')

  await edit('api', { replicas: 5, ...withImage('a:2') })
  t.equal(specOf(await inCluster('api', runs('a:2'))).replicas, 3, "what is said and left is the autoscaler's")
  await edit('api', { replicas: null, ...withImage('a:3') })
  const free = await inCluster('api', runs('a:3'))
  t.equal(specOf(free).replicas, 3)
  const ours = free?.metadata.managedFields?.filter(({ manager }) => manager === 'kubestellar-syncer')
  t.notMatch(JSON.stringify(ours), /f:replicas/)

  const [there1, conf] = [
    await inCluster('web', there),
    await until(cluster, MAPS, at('conf'), one => uidsOf(one).length > 0),
  ]
  t.same(uidsOf(conf), [there1?.metadata.uid], 'the owner has a uid of its own there')
  t.not(there1?.metadata.uid, web.metadata.uid)
  await place('api')
  await inCluster('web', gone)
  await wds.patch(MAPS, at('conf'), 'merge', { data: { x: '2' } })
  const kept = await until(cluster, MAPS, at('conf'), one => JSON.stringify(one?.data) === '{"x":"2"}')
  t.same([kept?.metadata.uid, uidsOf(kept)], [conf?.metadata.uid, []], 'who leaves takes nobody along who stays')

  await until(cluster, MAPS, at('child'), one => uidsOf(one).length > 0)
  await wds.delete(DEPLOYMENTS, at('api'), { propagationPolicy: 'Background' })
  await until(wds, MAPS, at('child'), gone)
  await Promise.all([inCluster('api', gone), until(cluster, MAPS, at('child'), gone)])
  t.equal(
    (await cluster.get(MAPS, at('conf'))).metadata.uid,
    conf?.metadata.uid,
    'a cascade ends in the cluster as at home',
  )
  t.same(warnings(syncer), [])
}

async function autoscale(cluster: SpaceClient, name: string, replicas: number): Promise<void> {
  await cluster.patch(
    DEPLOYMENTS,
    at(name),
    'merge',
    { spec: { replicas } },
    { subresource: 'scale', fieldManager: 'hpa' },
  )
}

async function start(t: Test, dir: string): Promise<Center> {
  const center = new Center(t, join(dir, 'center'))
  await center.start()
  return center
}

t.test('a stand-in', { timeout: 60_000 }, async t => {
  const dir = temporaryDir(t)
  const wec = ['simulate-wec', '--name', 'florin', '--data-dir', join(dir, 'wec'), '--secure-port', '0']
  const [center] = await Promise.all([start(t, dir), new Command(t, wec).said('ready')])
  await story(t, dir, join(dir, 'wec', 'admin.kubeconfig'), center, true)
})

const noAssets = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.test('a real cluster with its own controllers', { skip: noAssets, timeout: 120_000 }, async t => {
  const dir = temporaryDir(t)
  const [center, toCluster] = await Promise.all([start(t, dir), startRealCluster(t, join(dir, 'real'))])
  startControllers(t, toCluster, ['deployment', 'replicaset', 'horizontalpodautoscaling', 'garbagecollector'])
  await story(t, dir, toCluster, center, false)
})
