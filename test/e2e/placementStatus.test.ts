// State reported by one cluster comes back to the workload space, exactly and only while there is exactly one.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { CRDS, DEPLOYMENTS, MAPS, PLACEMENTS, type Scene } from '../support/scene.ts'

const COUNT = 'kubestellar.io/executing-count'
const KEY = 'deployments.apps app/web'
const REF = { namespace: 'app', name: 'web' }

const center = await startCenter(t)
const { world, client } = center

const DEPLOYMENT: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'app', name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const DOWNSYNC = { downsync: [{ apiGroup: 'apps', resources: ['deployments'] }], wantSingletonReportedState: true }

/** Work of a syncer: reports in the mailbox the state of its cluster. */
async function report(mailbox: string, status: Record<string, unknown>): Promise<void> {
  await world.present(mailbox, KEY)
  const object = await client.in(mailbox).get(DEPLOYMENTS, REF)
  await client.in(mailbox).update(DEPLOYMENTS, { ...object, status }, { subresource: 'status' })
}
const ready = (count: number) => ({ replicas: count, readyReplicas: count, updatedReplicas: count })
const statusIn = (scene: Scene): Record<string, unknown> =>
  (world.get(scene.wdsId, KEY)?.status ?? {}) as Record<string, unknown>
const readyIn = (scene: Scene, count: number) =>
  world.present(scene.wdsId, KEY, o => (o.status as { readyReplicas?: number } | undefined)?.readyReplicas === count)
const counted = (scene: Scene, count: string | undefined) =>
  world.present(scene.wdsId, KEY, o => o.metadata.annotations?.[COUNT] === count)

t.test('one cluster: its status is the status, and every later change of it', async t => {
  const scene = await center.scene('one', ['a'])
  const a = await scene.mailbox('a')
  await scene.wds.create(DEPLOYMENTS, DEPLOYMENT)
  await scene.place('ep', DOWNSYNC)
  await counted(scene, '1')
  await report(a, ready(1))
  await readyIn(scene, 1)
  t.same(statusIn(scene), ready(1))
  await report(a, { ...ready(2), observedGeneration: 1 })
  await readyIn(scene, 2)
  t.same(statusIn(scene), { ...ready(2), observedGeneration: 1 })
  await report(a, { replicas: 2 })
  await world.present(scene.wdsId, KEY, o => JSON.stringify(o.status) === '{"replicas":2}')
  t.same(statusIn(scene), { replicas: 2 }, 'fields that are no longer reported vanish')
  const before = await center.settled()
  t.equal(await center.settled(), before, 'status does not go in circles')
  t.same(world.get(a, KEY)?.spec, DEPLOYMENT.spec, 'and the copy says what was said')
})

t.test('two clusters: no status is returned; back to one: its status returns', async t => {
  const scene = await center.scene('two', ['a', 'b'])
  const [a, b] = [await scene.mailbox('a'), await scene.mailbox('b')]
  await scene.wds.create(DEPLOYMENTS, DEPLOYMENT)
  await scene.place('ep', { ...DOWNSYNC, ...scene.at('a') })
  await report(a, ready(1))
  await readyIn(scene, 1)
  await scene.replace('ep', scene.at('a', 'b'))
  await counted(scene, '2')
  await report(b, ready(5))
  await report(a, ready(4))
  await center.settled()
  t.same(statusIn(scene), {}, 'what was returned is taken back, and nothing of the two is told')
  await scene.replace('ep', scene.at('b'))
  await counted(scene, '1')
  await readyIn(scene, 5)
  t.same(statusIn(scene), ready(5))
})

t.test('nobody asks: no status and no count, until somebody does', async t => {
  const scene = await center.scene('off', ['a'])
  const a = await scene.mailbox('a')
  await scene.wds.create(DEPLOYMENTS, DEPLOYMENT)
  await scene.place('ep', { ...DOWNSYNC, wantSingletonReportedState: false })
  await report(a, ready(3))
  await center.settled()
  t.equal(statusIn(scene).readyReplicas, undefined)
  await counted(scene, undefined)
  await scene.replace('ep', { wantSingletonReportedState: true })
  await counted(scene, '1')
  await readyIn(scene, 3)
  await scene.replace('ep', { wantSingletonReportedState: false })
  await counted(scene, undefined)
  await report(a, ready(7))
  await center.settled()
  t.same(statusIn(scene), {}, 'switched off, it is taken back')
})

t.test('kinds without a status sub-resource are counted, and nothing breaks', async t => {
  const scene = await center.scene('none', ['a'])
  const a = await scene.mailbox('a')
  await scene.map('one')
  await scene.place('ep', { wantSingletonReportedState: true })
  await world.present(scene.wdsId, 'configmaps app/one', o => o.metadata.annotations?.[COUNT] === '1')
  await world.present(a, 'configmaps app/one')
  await client.in(a).patch(MAPS, { namespace: 'app', name: 'one' }, 'merge', { metadata: { labels: { x: 'y' } } })
  const before = await center.settled()
  t.equal(await center.settled(), before)
})

t.test('what the center notes on an object makes no new generation of it, and rewrites no copy', async t => {
  const scene = await center.scene('notes', ['a', 'b'])
  const [a, b] = [await scene.mailbox('a'), await scene.mailbox('b')]
  await scene.wds.create(DEPLOYMENTS, DEPLOYMENT)
  await scene.place('ep', { ...DOWNSYNC, ...scene.at('a'), wantSingletonReportedState: false })
  const { metadata } = await world.present(a, KEY)
  await center.settled()
  for (const [spec, count] of [
    [{ wantSingletonReportedState: true }, '1'],
    [scene.at('a', 'b'), '2'],
    [scene.at('a'), '1'],
    [{ wantSingletonReportedState: false }, undefined],
  ] as const) {
    await scene.replace('ep', spec)
    await counted(scene, count)
    await center.settled()
    t.equal(world.get(scene.wdsId, KEY)?.metadata.generation, 1)
    t.equal(world.get(a, KEY)?.metadata.resourceVersion, metadata.resourceVersion, `still as it was, counted ${count}`)
    for (const mailbox of [a, b]) t.notOk(COUNT in (world.get(mailbox, KEY)?.metadata.annotations ?? {}))
  }
})

const WIDGETS = { group: 'example.com', version: 'v1', resource: 'widgets' }
const core = (resource: string) => ({ group: '', version: 'v1', resource })
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const SORTS = [
  {
    resource: core('pods'),
    key: 'pods app/one',
    object: { apiVersion: 'v1', kind: 'Pod', spec: { containers: [{ name: 'c', image: 'i' }] } },
    status: { phase: 'Running', qosClass: 'BestEffort', podIP: '192.0.2.7' },
  },
  {
    resource: core('persistentvolumeclaims'),
    key: 'persistentvolumeclaims app/one',
    object: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'] },
  },
  {
    resource: core('services'),
    key: 'services app/one',
    object: { apiVersion: 'v1', kind: 'Service', spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } },
  },
  {
    resource: WIDGETS,
    key: 'widgets.example.com app/one',
    object: { apiVersion: 'example.com/v1', kind: 'Widget' },
    status: { well: true },
  },
]

t.test('what an object was born with is what it says again, whatever its kind', async t => {
  const scene = await center.scene('born', ['a'])
  const a = await scene.mailbox('a')
  await scene.wds.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { ...open, properties: { status: open } } },
        },
      ],
    },
  })
  const downsync = [
    { apiGroup: '', resources: ['pods', 'persistentvolumeclaims', 'services'], namespaces: ['app'] },
    { apiGroup: 'example.com', resources: ['*'] },
  ]
  await scene.place('ep', { downsync, wantSingletonReportedState: true })
  for (const { resource, key, object, status } of SORTS) {
    const ref = { namespace: 'app', name: 'one' }
    const born = (await scene.wds.create(resource, { ...object, metadata: ref })).status
    const copy = await world.present(a, key)
    await client.in(a).update(resource, { ...copy, status }, { subresource: 'status' })
    const returned = await world.present(scene.wdsId, key, o => JSON.stringify(o.status) !== JSON.stringify(born))
    t.match(returned.status, status)
    await scene.replace('ep', { wantSingletonReportedState: false })
    const bare = await world.present(scene.wdsId, key, o => o.metadata.annotations?.[COUNT] === undefined)
    t.same(bare.status, born, key)
    await center.settled()
    await scene.replace('ep', { wantSingletonReportedState: true })
    await world.present(scene.wdsId, key, o => o.metadata.annotations?.[COUNT] === '1')
  }
  await scene.wds.delete(PLACEMENTS, { name: 'ep' })
  for (const { key } of SORTS) {
    await world.present(scene.wdsId, key, o => o.metadata.annotations?.[COUNT] === undefined)
  }
})
