// Deleting Namespaces: content goes first, custom objects too; what blocks is shown; several spaces at once.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { CRDS, MAPS, NAMESPACES, namespace } from '../support/scene.ts'

const center = await startCenter(t)
const { world, client, server } = center

const GADGETS: GroupVersionResource = { group: 'shop.example.com', version: 'v1', resource: 'gadgets' }
const DEFINITION: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const gadget = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'shop.example.com/v1',
  kind: 'Gadget',
  metadata: { namespace: 'shop', name, ...metadata },
})
const map = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, ...metadata },
})

async function shop(name: string): Promise<string> {
  const space = await center.space(name)
  await client.in(space).create(CRDS, DEFINITION)
  await world.present(space, 'customresourcedefinitions.apiextensions.k8s.io gadgets.shop.example.com', o =>
    JSON.stringify(o.status ?? {}).includes('"type":"Established"'),
  )
  await client.in(space).create(NAMESPACES, namespace('shop'))
  return space
}

t.test('everything in a Namespace goes with it, in several spaces at once, and only there', async t => {
  const spaces = await Promise.all(['many-1', 'many-2', 'many-3'].map(shop))
  const kept = await shop('many-kept')
  for (const space of [...spaces, kept]) {
    await Promise.all(Array.from({ length: 40 }, (_, i) => client.in(space).create(MAPS, map(`m${i}`))))
    await Promise.all(Array.from({ length: 5 }, (_, i) => client.in(space).create(GADGETS, gadget(`g${i}`))))
  }
  await Promise.all(spaces.map(space => client.in(space).delete(NAMESPACES, { name: 'shop' })))
  for (const space of spaces) await world.absent(space, 'namespaces shop')
  await center.settled()
  for (const space of spaces) {
    const left = ['configmaps', 'serviceaccounts', 'gadgets.shop.example.com'].flatMap(resource =>
      world.names(space, resource).filter(name => name.startsWith('shop/')),
    )
    t.same(left, [], 'nothing outlives its Namespace')
    t.equal(await server.store.count({ space, group: '', resource: 'configmaps', namespace: 'shop' }), 0)
  }
  t.equal(world.names(kept, 'gadgets.shop.example.com').length, 5)
})

t.test('a finalizer blocks, the Namespace says so, and goes on when it is taken off', async t => {
  const space = await shop('blocked')
  await client.in(space).create(GADGETS, gadget('held', { finalizers: ['example.com/hold'] }))
  await client.in(space).create(MAPS, map('free'))
  await client.in(space).delete(NAMESPACES, { name: 'shop' })
  const conditions = (o: KubeObject): { type: string; status: string; message: string }[] =>
    (o.status as { conditions?: { type: string; status: string; message: string }[] }).conditions ?? []
  const told = (o: KubeObject, type: string) => conditions(o).find(c => c.type === type && c.status === 'True')?.message
  const blocked = await world.present(
    space,
    'namespaces shop',
    o => told(o, 'NamespaceFinalizersRemaining') !== undefined,
  )
  t.equal((blocked.status as { phase: string }).phase, 'Terminating')
  t.equal(
    told(blocked, 'NamespaceContentRemaining'),
    'Some resources are remaining: gadgets.shop.example.com has 1 resource instances',
  )
  t.equal(
    told(blocked, 'NamespaceFinalizersRemaining'),
    'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
  )
  await world.absent(space, 'configmaps shop/free')
  await t.rejects(client.in(space).create(MAPS, map('late')), {
    reason: 'Forbidden',
    message: /because it is being terminated/,
  })
  await client
    .in(space)
    .patch(GADGETS, { namespace: 'shop', name: 'held' }, 'merge', { metadata: { finalizers: null } })
  await world.absent(space, 'namespaces shop')
})

t.test('a Namespace can come back under its name, with all that belongs to it', async () => {
  const space = await shop('back')
  await client.in(space).delete(NAMESPACES, { name: 'shop' })
  await world.absent(space, 'namespaces shop')
  await client.in(space).create(NAMESPACES, namespace('shop'))
  await world.present(space, 'serviceaccounts shop/default')
  await world.present(space, 'configmaps shop/kube-root-ca.crt')
})
