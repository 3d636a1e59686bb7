/** A wait says that it goes on: after two seconds, then every ten. */
import t from 'tap'
import { waitFor } from '../../../src/cli/shell/waitFor.ts'
import { FakeClock, settle } from '../../client/support/fakeClock.ts'
import { FakeServer, KINDS } from '../../client/support/fakeServer.ts'

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'map' } }

t.test('what takes long is told of, and nothing after it is there', async t => {
  const [clock, server] = [new FakeClock(), new FakeServer()]
  const client = server.in('s')
  const told: string[] = []
  const waiting = waitFor({
    client,
    resource: KINDS.configmaps,
    ref: MAP.metadata,
    done: object => object?.data !== undefined,
    signal: new AbortController().signal,
    progress: (object, seconds) => told.push(`${object?.metadata.name} after ${seconds} s`),
    clock,
  })
  await settle()
  await clock.advance(1999)
  t.strictSame(told, [])
  await clock.advance(1)
  await client.create(KINDS.configmaps, MAP)
  await settle()
  await clock.advance(20_000)
  t.strictSame(told, ['undefined after 2 s', 'map after 12 s', 'map after 22 s'])
  await client.update(KINDS.configmaps, { ...MAP, data: { x: '1' } })
  t.match(await waiting, { reached: true, object: { data: { x: '1' } } })
  t.equal(clock.pending, 0)
})
