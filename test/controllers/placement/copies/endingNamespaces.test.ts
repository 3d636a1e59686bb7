// A Namespace of a mailbox that is being deleted while objects are placed there: they wait for its end, which is no failure.
import t from 'tap'
import { statusError } from '../../../../src/apimachinery/errors.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { namespace } from '../fakeServer.ts'
import { ALL_MAPS, configMap, MAPS, placement, slice, tick, world } from '../translatorWorld.ts'

const PLACE = { name: 'commonstuff' }

t.test('what goes into a Namespace that ends waits in that cluster, and comes with the next one', async t => {
  const { server, wds, florin, guilder, warnings } = await world(t)
  const box = server.in(florin)
  const is = (mailbox: string, name: string) => server.peek(mailbox, MAPS, name, 'commonstuff') !== undefined
  await wds.create(MAPS, configMap('first', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  t.ok(is(florin, 'first'))
  await box.patch(NAMESPACES, PLACE, 'merge', { metadata: { finalizers: ['kubernetes'] } })
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'first' })
  await server.quiet()
  t.ok(server.peek(florin, NAMESPACES, 'commonstuff')?.metadata.deletionTimestamp, 'nothing is left in it')

  const tries: string[] = []
  server.refuse = (space, verb, { resource }, name) => {
    if (space === florin && resource === 'configmaps') tries.push(`${verb} ${name}`)
  }
  for (const name of ['late', 'later']) await wds.create(MAPS, configMap(name, {}))
  await server.quiet()
  t.ok(is(guilder, 'late') && is(guilder, 'later'))
  t.notOk(is(florin, 'late') || is(florin, 'later'))
  const before = tries.length
  await server.quiet()
  t.equal(tries.length, before, 'nobody tries again')

  await box.patch(NAMESPACES, PLACE, 'merge', { metadata: { finalizers: [] } })
  await server.quiet()
  t.ok(is(florin, 'late') && is(florin, 'later'))
  t.notOk(server.peek(florin, NAMESPACES, 'commonstuff')?.metadata.deletionTimestamp)
  t.same(warnings, [], 'and nothing is logged as trouble')
})

t.test('a Namespace that has gone before the mailbox reports it is made anew', async t => {
  const { server, wds, florin, warnings } = await world(t)
  await wds.create(MAPS, configMap('first', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const { uid } = server.peek(florin, NAMESPACES, 'commonstuff')!.metadata
  let tries = 0
  server.refuse = (space, verb, resource, name) => {
    if (space !== florin || verb !== 'create' || name !== 'late') return
    if (++tries === 1) throw statusError.forbidden(resource, name, 'it is to be made alone')
    server.refuse = () => {}
    void server.in(florin).delete(NAMESPACES, PLACE)
  }
  for (const name of ['late', 'later']) await wds.create(MAPS, configMap(name, {}))
  await server.quiet()
  for (const name of ['late', 'later']) t.ok(server.peek(florin, MAPS, name, 'commonstuff'))
  t.not(server.peek(florin, NAMESPACES, 'commonstuff')?.metadata.uid, uid)
  t.same(warnings, [])
})

t.test('an object that moves stays where it was while the Namespace in its new place ends', async t => {
  const clock = new FakeClock()
  const { server, wds, florin, guilder } = await world(t, clock)
  const box = server.in(guilder)
  const is = (mailbox: string) => server.peek(mailbox, MAPS, 'page', 'commonstuff') !== undefined
  await box.create(NAMESPACES, { ...namespace('commonstuff'), metadata: { ...PLACE, finalizers: ['kubernetes'] } })
  await box.delete(NAMESPACES, PLACE)
  await wds.create(MAPS, configMap('page', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const { metadata } = await wds.get(SLICES, { name: 'ep' })
  await wds.update(SLICES, { ...slice('ep', 'guilder'), metadata })
  await server.quiet()
  t.ok(is(florin))
  t.notOk(is(guilder))
  await box.patch(NAMESPACES, PLACE, 'merge', { metadata: { finalizers: [] } })
  await server.quiet()
  t.ok(is(guilder))
  await tick(server, clock)
  t.notOk(is(florin))
})
