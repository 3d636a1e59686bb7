/** Short requests come before the slices of long work: the loop lets in one connection in each turn. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'

const { server, api } = await startTestServer(t, ON_MAIN_THREAD)

t.test('long work gives way to whoever connects, before anything is known of them', async t => {
  const given = t.capture(WorkTurns.prototype, 'giveWay', WorkTurns.prototype.giveWay)
  const sockets = Array.from({ length: 3 }, () => connect(Number(new URL(server.url).port), '127.0.0.1'))
  t.teardown(() => sockets.map(socket => socket.destroy()))
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  await api.ok(api.get('/version'))
  t.ok(given().length >= 3)
})

t.test('writes go to the disk before it', async t => {
  const { soon } = WorkTurns.prototype
  let called = 0
  t.capture(WorkTurns.prototype, 'soon', function (this: WorkTurns, callback: () => void) {
    soon.call(this, () => {
      called++
      callback()
    })
  })
  await api.ok(api.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } }))
  t.ok(called > 0)
})
