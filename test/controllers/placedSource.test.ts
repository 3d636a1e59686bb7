// Controllers receive all objects that command clusters but those in mailboxes, and none before its place is known.

import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { PlacedSource, standsInMailbox } from '../../src/controllers/placedSource.ts'
import { LOCATIONS, mailboxName } from '../../src/placement/words/placement.ts'
import { realTime } from '../support/time.ts'
import { FakeServer } from './placement/fakeServer.ts'

const MAILBOX = `root:espw:${mailboxName('inv1', '01234567-89ab-cdef-0123-456789abcdef')}`

const location = (name: string, v = '1'): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'Location',
  metadata: { name, labels: { v } },
})

async function world(t: Test, prepare: (server: FakeServer) => Promise<unknown> = async () => {}) {
  const server = new FakeServer()
  const heard: string[] = []
  const errors: string[] = []
  server.place('box', MAILBOX)
  server.place('below', `${MAILBOX}:wmw1`)
  await prepare(server)
  const source = new PlacedSource({
    ...realTime(),
    client: server,
    places: server,
    space: '*',
    resources: [LOCATIONS],
    logger: { debug() {}, info() {}, warn() {}, error: (_, message) => errors.push(message) },
    handler: {
      change: ({ type, space, name, object }) => {
        if (name === 'bad') throw new Error('cannot')
        heard.push(`${type} ${space} ${name} ${object.metadata.labels?.v}`)
      },
      vanished: ({ space, name }) => heard.push(`vanished ${space} ${name}`),
      synced: () => heard.push('synced'),
    },
  })
  const stop = new AbortController()
  const running = source.run(stop.signal)
  t.teardown(async () => {
    stop.abort()
    server.notify()
    await running
  })
  await source.synced
  return { server, source, heard, errors }
}

t.test('objects in a mailbox and below it are not told, neither at the start nor later', async t => {
  const { server, heard } = await world(t, async server => {
    for (const space of ['box', 'below', 'inv1']) await server.in(space).create(LOCATIONS, location('old'))
  })
  for (const space of ['box', 'below', 'inv1']) await server.in(space).create(LOCATIONS, location('new'))
  await server.quiet()
  t.same(heard, ['ADDED inv1 old 1', 'synced', 'ADDED inv1 new 1'])
})

t.test('an object of a space without a known place waits for it', async t => {
  const { server, source, heard } = await world(t, async server => {
    server.unplaced.add('inv1')
    await server.in('inv1').create(LOCATIONS, location('a'))
  })
  await server.in('inv1').create(LOCATIONS, location('b'))
  await server.in('inv1').update(LOCATIONS, location('b', '2'))
  await server.in('inv1').create(LOCATIONS, location('c'))
  await server.in('inv1').delete(LOCATIONS, { name: 'c' })
  await server.quiet()
  t.same(heard, ['synced', 'DELETED inv1 c 1'])
  t.ok(source.holds('inv1'))
  server.place('inv1')
  t.same(heard.slice(2), ['ADDED inv1 a 1', 'MODIFIED inv1 b 2'], 'the newest of each, once')
  t.notOk(source.holds('inv1'))
})

t.test('what waited and turns out to stand in a mailbox is never told', async t => {
  const { server, source, heard } = await world(t, async server => {
    server.unplaced.add('late')
    await server.in('late').create(LOCATIONS, location('a'))
  })
  server.place('late', `${MAILBOX}:late`)
  await server.in('late').update(LOCATIONS, location('a', '2'))
  await server.quiet()
  t.same(heard, ['synced'])
  t.notOk(source.holds('late'))
})

t.test('what waited and is deleted leaves nothing behind', async t => {
  const { server, source } = await world(t, async server => {
    server.unplaced.add('gone')
    await server.in('gone').create(LOCATIONS, location('a'))
  })
  t.ok(source.holds('gone'))
  await server.in('gone').delete(LOCATIONS, { name: 'a' })
  await server.quiet()
  t.notOk(source.holds('gone'))
})

t.test('one object that cannot be handled does not cost the others that waited their news', async t => {
  const { server, heard, errors } = await world(t, async server => {
    server.unplaced.add('inv1')
    for (const name of ['bad', 'good']) await server.in('inv1').create(LOCATIONS, location(name))
  })
  server.place('inv1')
  t.same(heard, ['synced', 'ADDED inv1 good 1'])
  t.same(errors, ['handler failed, event skipped'])
})

t.test('a place is a mailbox, an ordinary one, or not known', async t => {
  const { server } = await world(t)
  server.unplaced.add('nowhere')
  t.same(
    ['box', 'below', 'inv1', 'nowhere'].map(space => standsInMailbox(server, space)),
    [true, true, false, undefined],
  )
})
