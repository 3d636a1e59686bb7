/** Events vanish by time: an hour after their last write, also when the server was down meanwhile. */
import t, { type Test } from 'tap'
import { silentLogger } from '../../../src/client/logger.ts'
import { startEventTtl } from '../../../src/controllers/event-ttl/eventTtlController.ts'
import { FakeClock, settle, until } from '../../client/support/fakeClock.ts'
import { FakeServer, kind } from '../../client/support/fakeServer.ts'
import { timeBy } from '../../support/time.ts'

const EVENTS = kind('', 'events', 'Event')
const HOUR = 3_600_000
const MINUTE = 60_000

function event(name: string, metadata: object = {}): never {
  return { apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: 'n', ...metadata } } as never
}

async function start(t: Test, server: FakeServer, clock: FakeClock) {
  const controller = startEventTtl({ ...timeBy(clock), client: server, ttlMs: HOUR, logger: silentLogger })
  t.teardown(() => controller.stop())
  await settle()
  return controller
}

function serverWithEvents(): FakeServer {
  const server = new FakeServer()
  server.kinds = [EVENTS]
  return server
}

t.test('an Event goes an hour after it was last written, in its space only', async t => {
  const server = serverWithEvents()
  const clock = new FakeClock()
  await start(t, server, clock)
  await server.in('x').create(EVENTS, event('a'))
  await server.in('y').create(EVENTS, event('a'))
  await settle()
  await clock.advance(30 * MINUTE)
  await server.in('x').patch(EVENTS, { namespace: 'n', name: 'a' }, 'merge', { count: 2 })
  await settle()
  await clock.advance(29 * MINUTE)
  t.strictSame([server.names('x', EVENTS), server.names('y', EVENTS)], [['a'], ['a']])
  await clock.advance(2 * MINUTE)
  t.strictSame([server.names('x', EVENTS), server.names('y', EVENTS)], [['a'], []], 'the renewed one lives on')
  await clock.advance(30 * MINUTE)
  t.strictSame(server.names('x', EVENTS), [])
})

t.test('after a restart the times that the server wrote count, and no time that lies ahead', async t => {
  const server = serverWithEvents()
  const clock = new FakeClock()
  // The server says that they were all made at the clock's first moment.
  await clock.advance(2 * HOUR)
  const managed = (ms: number) => ({
    managedFields: [{ manager: 'm', operation: 'Update', time: new Date(clock.now() + ms).toISOString() }],
  })
  await server.in('x').create(EVENTS, event('old', managed(-2 * HOUR)))
  await server.in('x').create(EVENTS, event('renewed', managed(-MINUTE)))
  await server.in('x').create(EVENTS, event('ahead', managed(100 * HOUR)))
  await start(t, server, clock)
  await until(() => server.names('x', EVENTS).length === 2, 'the old one is gone at once')
  t.strictSame(server.names('x', EVENTS), ['ahead', 'renewed'])
  await clock.advance(HOUR + MINUTE)
  t.strictSame(server.names('x', EVENTS), [])
})

t.test('one timer serves all Events, and a failed deletion is made good', async t => {
  const server = serverWithEvents()
  const clock = new FakeClock()
  await start(t, server, clock)
  for (let i = 0; i < 50; i++) await server.in('x').create(EVENTS, event(`e${i}`))
  await settle()
  t.equal(clock.pending, 1)
  let failures = 5
  server.hook = verb => {
    if (verb === 'delete' && failures-- > 0) throw new Error('out of order')
  }
  await clock.advance(HOUR)
  t.equal(server.names('x', EVENTS).length, 5)
  await clock.advance(MINUTE)
  t.strictSame(server.names('x', EVENTS), [])
})
