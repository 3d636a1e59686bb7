// The mailboxes follow the workload: joins, leaves, removed fields, repairs; definitions travel with their objects.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { CRDS, configMap, MAPS, MAPS_OF_APP, NAMESPACES, namespace, PLACEMENTS } from '../support/scene.ts'

const ONE = 'configmaps app/one'

const center = await startCenter(t)
const { world, client } = center

t.test('objects join and leave as their Namespace or they themselves are relabelled', async t => {
  const scene = await center.scene('relabel', ['a'])
  const a = await scene.mailbox('a')
  await scene.map('one')
  await scene.map('two', {}, { labels: { size: 'big' } })
  await scene.place('by-namespace', {
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaceSelectors: [{ matchLabels: { team: 'red' } }] }],
  })
  await world.present(scene.wdsId, 'singleplacementslices.edge.kubestellar.io by-namespace')
  await center.settled()
  t.same(center.mapsIn(a), [], 'the Namespace is of the blue team')
  const team = (name: string) =>
    scene.wds.patch(NAMESPACES, { name: 'app' }, 'merge', { metadata: { labels: { team: name } } })
  await team('red')
  await center.holds(a, ['app/one', 'app/two'])
  await team('blue')
  await center.holds(a, [])
  await scene.place('by-label', {
    downsync: [{ apiGroup: '', resources: ['configmaps'], labelSelectors: [{ matchLabels: { size: 'big' } }] }],
  })
  await center.holds(a, ['app/two'])
  await scene.wds.patch(MAPS, { namespace: 'app', name: 'one' }, 'merge', { metadata: { labels: { size: 'big' } } })
  await center.holds(a, ['app/one', 'app/two'])
  await scene.wds.patch(MAPS, { namespace: 'app', name: 'two' }, 'merge', { metadata: { labels: { size: null } } })
  await center.holds(a, ['app/one'])
  await scene.wds.delete(MAPS, { namespace: 'app', name: 'one' })
  await center.holds(a, [])
})

t.test('a claim that is placed has a copy without protection, which leaves with it', async t => {
  const scene = await center.scene('claims', ['a'])
  const a = await scene.mailbox('a')
  const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
  const KEY = 'persistentvolumeclaims app/disk'
  await scene.place('ep', { downsync: [{ apiGroup: '', resources: ['persistentvolumeclaims'], namespaces: ['app'] }] })
  await scene.wds.create(CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'app', name: 'disk' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  t.equal((await world.present(a, KEY)).metadata.finalizers, undefined)
  await scene.wds.delete(CLAIMS, { namespace: 'app', name: 'disk' })
  await world.until('the copy of the claim to go', () => world.get(a, KEY) !== undefined && 'it is there')
})

t.test('what leaves the source leaves its copies: labels, annotations, data, whole fields', async t => {
  const scene = await center.scene('removal', ['a'])
  const a = await scene.mailbox('a')
  await scene.place('ep')
  await scene.wds.create(MAPS, {
    ...configMap('one', { x: '1', y: '2' }, { labels: { l: '1', k: '2' }, annotations: { a: '1', b: '2' } }),
    binaryData: { bin: 'AAAA' },
  })
  await world.present(a, ONE)
  // somebody in the mailbox adds what is theirs
  await client.in(a).patch(MAPS, { namespace: 'app', name: 'one' }, 'merge', { metadata: { labels: { theirs: 'x' } } })
  const { binaryData: _, ...rest } = await scene.wds.get(MAPS, { namespace: 'app', name: 'one' })
  await scene.wds.update(MAPS, {
    ...rest,
    metadata: { ...rest.metadata, labels: { k: '2' }, annotations: { b: '3' } },
    data: { y: '2' },
  })
  const copy = await world.present(a, ONE, o => o.binaryData === undefined && o.metadata.labels?.l === undefined)
  t.same(copy.data, { y: '2' })
  t.match(copy.metadata.labels, { k: '2', theirs: 'x', 'edge.kubestellar.io/projected': 'yes' })
  t.equal(copy.metadata.annotations?.a, undefined)
  t.equal(copy.metadata.annotations?.b, '3')
})

t.test('edits and deletions by hand in a mailbox are undone, and the copies then rest', async t => {
  const scene = await center.scene('repair', ['a'])
  const a = await scene.mailbox('a')
  await scene.place('ep')
  await scene.map('one', { v: '1' }, { labels: { l: '1' } })
  const before = await world.present(a, ONE)
  const ref = { namespace: 'app', name: 'one' }
  await client
    .in(a)
    .patch(MAPS, ref, 'merge', { data: { v: 'changed', extra: 'x' }, metadata: { labels: { l: 'changed' } } })
  const repaired = await world.present(a, ONE, o => (o.data as Record<string, string>).v === '1')
  t.same(repaired.data, { v: '1' })
  t.equal(repaired.metadata.labels?.l, '1')
  // the mark that it is a copy
  await client.in(a).patch(MAPS, ref, 'merge', { metadata: { labels: { 'edge.kubestellar.io/projected': null } } })
  await world.present(a, ONE, o => o.metadata.labels?.['edge.kubestellar.io/projected'] === 'yes')
  await client.in(a).delete(MAPS, ref)
  const again = await world.present(a, ONE, o => o.metadata.uid !== before.metadata.uid)
  t.same(again.data, { v: '1' })
  await client.in(a).delete(NAMESPACES, { name: 'app' })
  const anew = await world.present(a, ONE, o => o.metadata.uid !== again.metadata.uid)
  t.same(anew.data, { v: '1' }, 'a deleted Namespace comes back with its content')
  const settled = await center.settled()
  t.equal(await center.settled(), settled)
})

t.test('what somebody else keeps in a mailbox is left alone', async t => {
  const scene = await center.scene('foreign', ['a'])
  const a = await scene.mailbox('a')
  await scene.place('ep')
  await scene.map('one')
  await world.present(a, ONE)
  await client.in(a).create(MAPS, configMap('theirs', { v: 'x' }))
  await scene.wds.delete(PLACEMENTS, { name: 'ep' })
  await center.holds(a, ['app/theirs'])
  await center.settled()
  t.same(center.mapsIn(a), ['app/theirs'])
})

t.test('an explicitly selected Namespace carries its labels; one that only holds objects comes bare', async t => {
  const scene = await center.scene('namespaces', ['a', 'b'])
  const [a, b] = [await scene.mailbox('a'), await scene.mailbox('b')]
  await scene.map('one')
  await scene.place('bare', scene.at('a'))
  await scene.place('full', {
    ...scene.at('b'),
    downsync: [{ apiGroup: '', resources: ['namespaces'], objectNames: ['app'] }],
  })
  await world.present(a, ONE)
  t.equal(world.get(a, 'namespaces app')?.metadata.labels?.team, undefined)
  await world.present(b, 'namespaces app', o => o.metadata.labels?.team === 'blue')
  await scene.wds.delete(PLACEMENTS, { name: 'bare' })
  await scene.wds.delete(MAPS, { namespace: 'app', name: 'one' })
  await scene.wds.delete(NAMESPACES, { name: 'app' })
  await world.absent(b, 'namespaces app')
})

const WIDGETS: GroupVersionResource = { group: 'shop.example.com', version: 'v1', resource: 'widgets' }
const CRD = 'customresourcedefinitions.apiextensions.k8s.io widgets.shop.example.com'
const WIDGET = 'widgets.shop.example.com app/w'
const definition = (): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
})
const widget = (size: number): KubeObject => ({
  apiVersion: 'shop.example.com/v1',
  kind: 'Widget',
  metadata: { namespace: 'app', name: 'w' },
  spec: { size },
})
const established = (o: KubeObject): boolean => JSON.stringify(o.status ?? {}).includes('"type":"Established"')
const OWN_WIDGETS = { apiGroup: 'shop.example.com', resources: ['widgets'] }

t.test('a custom object brings its definition along; both follow edits; the last object takes it home', async t => {
  const scene = await center.scene('definer', ['a'])
  const a = await scene.mailbox('a')
  await scene.wds.create(CRDS, definition())
  await world.present(scene.wdsId, CRD, established)
  await scene.wds.create(WIDGETS, widget(1))
  await scene.place('ep', { downsync: [OWN_WIDGETS] })
  const copy = await world.present(a, WIDGET)
  t.same(copy.spec, { size: 1 })
  t.ok(world.get(a, CRD), 'the definition is there too')
  await scene.wds.patch(WIDGETS, { namespace: 'app', name: 'w' }, 'merge', { spec: { size: 2 } })
  await world.present(a, WIDGET, o => (o.spec as { size: number }).size === 2)
  await scene.wds.delete(WIDGETS, { namespace: 'app', name: 'w' })
  await world.absent(a, WIDGET)
  await world.absent(a, CRD)
})

t.test('definition and objects selected together; deleting the definition empties space and mailbox', async t => {
  const scene = await center.scene('crd', ['a'])
  const a = await scene.mailbox('a')
  await scene.place('ep', {
    downsync: [OWN_WIDGETS, { apiGroup: 'apiextensions.k8s.io', resources: ['customresourcedefinitions'] }],
  })
  await scene.wds.create(CRDS, definition())
  await world.present(scene.wdsId, CRD, established)
  await world.present(a, CRD)
  await scene.wds.create(WIDGETS, widget(1))
  await world.present(a, WIDGET)
  await scene.wds.delete(CRDS, { name: 'widgets.shop.example.com' })
  for (const space of [scene.wdsId, a]) {
    await world.absent(space, WIDGET)
    await world.absent(space, CRD)
  }
  await scene.wds.create(CRDS, definition())
  await world.present(scene.wdsId, CRD, established)
  await scene.wds.create(WIDGETS, widget(7))
  const copy = await world.present(a, WIDGET)
  t.same(copy.spec, { size: 7 }, 'the kind can come back')
})

t.test('a definition that arrives after the placement', async t => {
  const scene = await center.scene('late', ['a'])
  const a = await scene.mailbox('a')
  await scene.place('ep', { downsync: [OWN_WIDGETS, ...MAPS_OF_APP.downsync] })
  await scene.map('one')
  await world.present(a, ONE)
  await scene.wds.create(CRDS, definition())
  await world.present(scene.wdsId, CRD, established)
  t.notOk(world.get(a, CRD), 'nothing of its kind is selected yet')
  await scene.wds.create(WIDGETS, widget(3))
  await world.present(a, WIDGET)
})

t.test('what servers make for themselves stays at home', async t => {
  const scene = await center.scene('system', ['a'])
  const a = await scene.mailbox('a')
  await scene.map('one')
  await scene.place('ep', { downsync: [{ apiGroup: '' }, { apiGroup: 'rbac.authorization.k8s.io' }] })
  await world.present(a, ONE)
  await center.settled()
  const copies = ['configmaps', 'serviceaccounts', 'secrets'].flatMap(resource =>
    world.names(a, resource).filter(name => isProjected(world.get(a, `${resource} ${name}`))),
  )
  t.same(copies, ['app/one'])
  await scene.wds.create(NAMESPACES, namespace('later'))
  await world.present(a, 'namespaces later', isProjected)
})

function isProjected(object: KubeObject | undefined): boolean {
  return object?.metadata.labels?.['edge.kubestellar.io/projected'] === 'yes'
}
