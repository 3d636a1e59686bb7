/** An object that moves to another cluster is there before it leaves the former one, however late news of either comes. */
import t from 'tap'
import type { Client } from '../../../../src/client/client.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, configMap, MAPS, placement, slice, world } from '../translatorWorld.ts'

t.test(
  'what moves there and back is never nowhere, also when the mailbox has yet to tell that it had left',
  async t => {
    const { server, wds, florin, guilder, restart } = await world(t)
    let late = Promise.withResolvers<void>()
    late.resolve()
    /** The stream of florin's mailbox tells nothing while it is late. */
    const client: Client = {
      in: space => server.in(space),
      async *stream(options) {
        for await (const batch of server.stream(options)) {
          if (options.space === florin) await late.promise
          yield batch
        }
      },
    }
    await restart(async () => {}, client)
    await wds.create(MAPS, configMap('page', { a: '1' }))
    await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
    const created = await wds.create(SLICES, slice('ep', 'florin'))
    const { resourceVersion: _, ...metadata } = created.metadata
    await server.quiet()
    const goTo = async (cluster: 'florin' | 'guilder'): Promise<void> => {
      await wds.update(SLICES, { ...slice('ep', cluster), metadata })
      await server.quiet()
    }
    late = Promise.withResolvers()
    await goTo('guilder')
    t.same([server.names(florin, MAPS), server.names(guilder, MAPS)], [[], ['commonstuff/page']])
    const before = server.writes.length
    await goTo('florin')
    const moves = server.writes.slice(before).filter(write => write.includes('configmaps'))
    t.same(moves, [`${florin} create configmaps commonstuff/page`, `${guilder} delete configmaps commonstuff/page`])
    late.resolve()
    await server.quiet()
    t.same([server.names(florin, MAPS), server.names(guilder, MAPS)], [['commonstuff/page'], []])
  },
)
