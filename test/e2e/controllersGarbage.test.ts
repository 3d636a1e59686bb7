// Owners and dependents on Orrery itself: background, foreground and orphan deletion, over several spaces at once.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { CRDS, MAPS } from '../support/scene.ts'

const center = await startCenter(t)
const { world, client } = center

function owned(name: string, owners: readonly KubeObject[] = [], extra: object = {}): KubeObject {
  const ownerReferences = owners.map(({ apiVersion, kind, metadata }) => ({
    apiVersion,
    kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    blockOwnerDeletion: true,
  }))
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name, ownerReferences, ...extra } }
}
const at = (name: string) => ({ namespace: 'default', name })
const key = (name: string) => `configmaps default/${name}`

const SPACES = ['gc-1', 'gc-2', 'gc-3']
const spaces = await Promise.all(SPACES.map(name => center.space(name)))

t.test('background: dependents of dependents go, what has another owner stays, in each space alike', async t => {
  await Promise.all(
    spaces.map(async space => {
      const api = client.in(space)
      const top = await api.create(MAPS, owned('top'))
      const other = await api.create(MAPS, owned('other'))
      const middle = await api.create(MAPS, owned('middle', [top]))
      await api.create(MAPS, owned('leaf', [middle]))
      await api.create(MAPS, owned('both', [top, other]))
      await api.delete(MAPS, at('top'), { propagationPolicy: 'Background' })
    }),
  )
  for (const space of spaces) {
    for (const name of ['top', 'middle', 'leaf']) await world.absent(space, key(name))
    const both = await world.present(space, key('both'), o => o.metadata.ownerReferences?.length === 1)
    t.equal(both.metadata.ownerReferences?.[0]?.name, 'other')
  }
})

t.test('foreground: the owner goes last', async t => {
  const [space = ''] = spaces
  const api = client.in(space)
  const owner = await api.create(MAPS, owned('fore'))
  const child = await api.create(MAPS, owned('fore-child', [owner], { finalizers: ['example.com/hold'] }))
  await api.create(MAPS, owned('fore-leaf', [child]))
  const gone: string[] = []
  const end = world.onChange(e => e.type === 'DELETED' && e.space === space && gone.push(e.key))
  await api.delete(MAPS, at('fore'), { propagationPolicy: 'Foreground' })
  await world.present(space, key('fore-child'), o => o.metadata.deletionTimestamp !== undefined)
  await center.settled()
  t.ok(world.get(space, key('fore')), 'the owner waits')
  await api.patch(MAPS, at('fore-child'), 'json', [{ op: 'remove', path: '/metadata/finalizers/0' }])
  await world.absent(space, key('fore'))
  end()
  t.equal(gone.at(-1), key('fore'))
  t.ok(gone.includes(key('fore-leaf')) && gone.includes(key('fore-child')))
})

t.test('orphan: dependents stay, and no longer name the owner', async t => {
  const [, space = ''] = spaces
  const api = client.in(space)
  const owner = await api.create(MAPS, owned('orph'))
  await Promise.all(Array.from({ length: 10 }, (_, i) => api.create(MAPS, owned(`orph-${i}`, [owner]))))
  await api.delete(MAPS, at('orph'), { propagationPolicy: 'Orphan' })
  await world.absent(space, key('orph'))
  await center.settled()
  for (let i = 0; i < 10; i++) {
    t.same(world.get(space, key(`orph-${i}`))?.metadata.ownerReferences ?? [], [], `orph-${i} is free`)
  }
})

t.test('an owner that never was: the dependent goes; the same uid in another space does not count', async t => {
  const [one = '', two = ''] = spaces
  const elsewhere = await client.in(one).create(MAPS, owned('elsewhere'))
  await client.in(two).create(MAPS, owned('misled', [elsewhere]))
  await world.absent(two, key('misled'))
  t.ok(world.get(one, key('elsewhere')))
})

const THINGS: GroupVersionResource = { group: 'gc.example.com', version: 'v1', resource: 'things' }

t.test('custom objects own and are owned', async () => {
  const [, , space = ''] = spaces
  const api = client.in(space)
  await api.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.gc.example.com' },
    spec: {
      group: 'gc.example.com',
      scope: 'Cluster',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  await world.present(space, 'customresourcedefinitions.apiextensions.k8s.io things.gc.example.com', o =>
    JSON.stringify(o.status ?? {}).includes('"type":"Established"'),
  )
  const thing = await api.create(THINGS, { apiVersion: 'gc.example.com/v1', kind: 'Thing', metadata: { name: 't' } })
  await api.create(MAPS, owned('of-thing', [thing]))
  await world.present(space, key('of-thing'))
  await api.delete(THINGS, { name: 't' })
  await world.absent(space, key('of-thing'))
})
