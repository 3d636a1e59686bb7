// Namespaces that came along with objects: they go when nothing needs them, and nothing of others is in them.

import t from 'tap'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { EDGE_PLACEMENTS, SLICES, UPSYNCED } from '../../../../src/placement/words/placement.ts'
import { namespace } from '../fakeServer.ts'
import { ALL_MAPS, configMap, consent, MAPS, placement, slice, world } from '../translatorWorld.ts'

const PAGE = { namespace: 'commonstuff', name: 'page' }

t.test('a Namespace that came along goes with the last object of anybody in it, and comes back', async t => {
  const { server, wds, florin } = await world(t)
  const is = () => server.peek(florin, NAMESPACES, 'commonstuff') !== undefined
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, namespace('commonstuff'))
  for (const [api, name] of [
    [wds, 'page'],
    [other, 'second'],
  ] as const) {
    await api.create(MAPS, configMap(name, {}))
    await api.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
    await api.create(SLICES, slice('ep', 'florin'))
  }
  await server.quiet()
  t.ok(is())
  await wds.delete(MAPS, PAGE)
  await server.quiet()
  t.ok(is(), 'the other space has something in it')
  await other.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.notOk(is())
  await wds.create(MAPS, configMap('page', {}))
  await server.quiet()
  t.ok(is())
  t.ok(server.peek(florin, MAPS, 'page', 'commonstuff'))
})

t.test('it stays while something is in it that came from the cluster, or that others put there', async t => {
  const { server, wds, florin, restart } = await world(t)
  const box = server.in(florin)
  const is = () => server.peek(florin, NAMESPACES, 'commonstuff') !== undefined
  await wds.create(MAPS, configMap('page', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  await box.create(MAPS, configMap('kube-root-ca.crt', {}))
  await box.create(MAPS, configMap('foreign', {}))
  await box.create(MAPS, configMap('born', {}, { annotations: { [UPSYNCED]: 'ConfigMap/commonstuff/born' } }))
  await server.quiet()
  await wds.delete(MAPS, PAGE)
  await server.quiet()
  t.ok(is())
  await box.delete(MAPS, { namespace: 'commonstuff', name: 'foreign' })
  await server.quiet()
  t.ok(is())
  await restart(async () => {})
  await server.quiet()
  t.ok(is())
  await box.delete(MAPS, { namespace: 'commonstuff', name: 'born' })
  await server.quiet()
  t.notOk(is())
})
