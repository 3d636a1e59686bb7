/** Whatever one space has placed, another's edit is carried as soon as before; also into the same mailbox. */
import t from 'tap'
import { NAMESPACES } from '../../../src/apimachinery/resources.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../src/placement/words/placement.ts'
import { namespace } from './fakeServer.ts'
import { ALL_MAPS, configMap, consent, MAPS, placement, slice, world } from './translatorWorld.ts'

const MANY = 1000

t.test("one space's thousands of copies do not go before another's edit", async t => {
  const { server, wds, florin } = await world(t)
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, namespace('commonstuff', { common: 'si' }))
  await other.create(MAPS, configMap('mine', { version: 'old' }))
  await other.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await other.create(SLICES, slice('ep', 'florin'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  for (let i = 0; i < MANY; i++) await wds.create(MAPS, configMap(`m${i}`, {}))
  await server.quiet()
  t.match(server.peek(florin, MAPS, 'mine', 'commonstuff'), { data: { version: 'old' } })

  const before = server.writes.length
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await other.patch(MAPS, { namespace: 'commonstuff', name: 'mine' }, 'merge', { data: { version: 'new' } })
  await server.quiet()
  const writes = server.writes.slice(before)
  t.match(server.peek(florin, MAPS, 'mine', 'commonstuff'), { data: { version: 'new' } })
  t.ok(writes.length > 2 * MANY, 'all that the first space has placed is there')
  const turn = writes.findIndex(write => write.startsWith(`${florin} update configmaps`))
  t.ok(turn >= 0 && turn < 300, `it was write ${turn} of ${writes.length}`)
})

t.test('an edit after a start does not wait until all that is there was looked at', async t => {
  const { server, wds, florin, guilder, restart } = await world(t)
  server.tellsLikeness = false
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  for (let i = 0; i < MANY; i++) await wds.create(MAPS, configMap(`m${i}`, {}))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  let reads = 0
  const inSpace = server.in.bind(server)
  server.in = space => {
    const api = inSpace(space)
    if (space !== florin && space !== guilder) return api
    const get: typeof api.get = (...given) => {
      reads++
      return api.get(...given)
    }
    return { ...api, get }
  }
  const last = `m${MANY - 1}`
  await restart(async () => {})
  while (reads === 0) await new Promise<void>(resolve => setImmediate(resolve))
  const before = reads
  t.ok(before < 2 * MANY, 'not all was looked at yet')
  await wds.patch(MAPS, { namespace: 'commonstuff', name: last }, 'merge', { data: { version: 'new' } })
  const edited = () => JSON.stringify(server.peek(florin, MAPS, last, 'commonstuff')).includes('new')
  await server.until(edited)
  t.ok(reads - before < 60, `${reads - before} were read meanwhile`)
  await server.quiet()
})
