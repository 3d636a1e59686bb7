// The status of kinds without the sub-resource: a part of the object, which clusters report and authors may write.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { CRDS, PLACEMENTS, type Scene } from '../support/scene.ts'

const center = await startCenter(t)
const { world, client } = center
const FLOWS = { group: 'example.com', version: 'v1', resource: 'flows' }
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const DEFINITION: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'flows.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'flows', singular: 'flow', kind: 'Flow', listKind: 'FlowList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { ...open, properties: { status: open } } },
      },
    ],
  },
}
const DOWNSYNC = { downsync: [{ apiGroup: 'example.com', resources: ['*'] }], wantSingletonReportedState: true }
const keyOf = (name: string): string => `flows.example.com app/${name}`
const flow = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Flow',
  metadata: { namespace: 'app', name },
  spec: { size: 1 },
  ...more,
})

async function begin(name: string, locations: readonly string[]): Promise<Scene> {
  const scene = await center.scene(name, [...locations])
  await scene.wds.create(CRDS, DEFINITION)
  return scene
}
/** As a syncer reports it. */
async function report(mailbox: string, name: string, status: object): Promise<void> {
  await world.present(mailbox, keyOf(name))
  const patch = [{ op: 'add', path: '/status', value: status }]
  await client.in(mailbox).patch(FLOWS, { namespace: 'app', name }, 'json', patch)
}
const says = (space: string, name: string, status: unknown) =>
  world.present(space, keyOf(name), o => JSON.stringify(o.status) === JSON.stringify(status))
const withheld = (scene: Scene, reason: string) =>
  world.present(scene.wdsId, 'edgeplacements.edge.kubestellar.io ep', o =>
    JSON.stringify(o.status).includes(
      `"type":"StatusWithheld","status":"${reason === '' ? 'False' : 'True'}","reason":"${reason}`,
    ),
  )

t.test('one cluster: its status is returned, and follows; an edit of the rest keeps it in both places', async t => {
  const scene = await begin('plain', ['a'])
  const a = await scene.mailbox('a')
  await scene.place('ep', DOWNSYNC)
  for (const name of ['one', 'two']) await scene.wds.create(FLOWS, flow(name))
  await report(a, 'one', { phase: 'Running', steps: 1 })
  await report(a, 'two', { phase: 'Failed' })
  await says(scene.wdsId, 'one', { phase: 'Running', steps: 1 })
  await says(scene.wdsId, 'two', { phase: 'Failed' })
  await report(a, 'one', { phase: 'Done' })
  await says(scene.wdsId, 'one', { phase: 'Done' })
  const before = await center.settled()
  t.equal(await center.settled(), before, 'it does not go in circles')
  t.same(world.get(a, keyOf('one'))?.spec, { size: 1 })

  const ref = { namespace: 'app', name: 'one' }
  await scene.wds.update(FLOWS, { ...(await scene.wds.get(FLOWS, ref)), spec: { size: 2 } })
  await world.present(a, keyOf('one'), o => (o.spec as { size: number }).size === 2)
  await center.settled()
  t.same(world.get(a, keyOf('one'))?.status, { phase: 'Done' }, 'the copy keeps what its cluster reported')
  t.same(world.get(scene.wdsId, keyOf('one'))?.status, { phase: 'Done' })
  const { status: _, ...manifest } = await scene.wds.get(FLOWS, ref)
  await scene.wds.update(FLOWS, manifest)
  await says(scene.wdsId, 'one', { phase: 'Done' })

  await scene.wds.delete(FLOWS, ref)
  await center.settled()
  t.notOk(world.get(scene.wdsId, keyOf('one')), 'a late report makes nothing')
  await scene.wds.delete(PLACEMENTS, { name: 'ep' })
  await says(scene.wdsId, 'two', undefined)
})

t.test('what an author wrote stays; what it stands in the way of is told, and comes when it goes', async t => {
  const scene = await begin('authored', ['a'])
  const a = await scene.mailbox('a')
  await scene.place('ep', DOWNSYNC)
  await scene.wds.create(FLOWS, flow('own', { status: { phase: 'Mine' } }))
  await scene.wds.create(FLOWS, flow('beside', { status: { note: 'mine' } }))
  await report(a, 'own', { phase: 'Running', steps: 1 })
  await report(a, 'beside', { phase: 'Running' })
  await says(scene.wdsId, 'beside', { note: 'mine', phase: 'Running' })
  const { status } = await withheld(scene, 'SetByAuthor')
  t.match(JSON.stringify(status), /flows\.example\.com \(such as \\"app\/own\\"\)/)
  await center.settled()
  t.same(world.get(scene.wdsId, keyOf('own'))?.status, { phase: 'Mine' })
  t.same(world.get(a, keyOf('own'))?.status, { phase: 'Running', steps: 1 }, 'and it goes to no cluster')

  const patch = (name: string, value: unknown) =>
    scene.wds.patch(FLOWS, { namespace: 'app', name }, 'merge', { status: value })
  await patch('own', null)
  await says(scene.wdsId, 'own', { phase: 'Running', steps: 1 })
  await withheld(scene, '')
  await patch('own', { phase: 'Mine again' })
  await says(scene.wdsId, 'own', { phase: 'Mine again' })
  await withheld(scene, 'SetByAuthor')
  await scene.wds.delete(PLACEMENTS, { name: 'ep' })
  await says(scene.wdsId, 'beside', { note: 'mine' })
  t.same(world.get(scene.wdsId, keyOf('own'))?.status, { phase: 'Mine again' })
})

t.test('two clusters: none is returned, and that is told, also where only the second reports', async t => {
  const scene = await begin('plain-two', ['a', 'b'])
  const [a, b] = [await scene.mailbox('a'), await scene.mailbox('b')]
  await scene.place('ep', { ...DOWNSYNC, ...scene.at('a'), wantMultiWECReportedState: true })
  await scene.wds.create(FLOWS, flow('one'))
  await report(a, 'one', { phase: 'Running' })
  await says(scene.wdsId, 'one', { phase: 'Running' })
  await scene.replace('ep', scene.at('a', 'b'))
  await says(scene.wdsId, 'one', undefined)
  await withheld(scene, 'InSeveralClusters')
  await scene.replace('ep', scene.at('b'))
  await withheld(scene, '')
  await report(b, 'one', { phase: 'There' })
  await says(scene.wdsId, 'one', { phase: 'There' })
  await scene.wds.delete(FLOWS, { namespace: 'app', name: 'one' })
  await scene.replace('ep', scene.at('a', 'b'))
  await scene.wds.create(FLOWS, flow('late'))
  await center.settled()
  await report(b, 'late', { phase: 'There' })
  t.match(JSON.stringify((await withheld(scene, 'InSeveralClusters')).status), /app\/late\\", in 2\)/)
})
