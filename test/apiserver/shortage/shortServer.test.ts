/** A server that is short of something takes nothing that grows, and says so; everything else goes on. */
import t from 'tap'
import type { Lack, Room } from '../../../src/apiserver/shortage/room.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

let lack: Lack | undefined
const room = (what: Room['what']): Room => ({ what, lack: () => lack })
const SHORT = { critical: false, message: 'there is too little' }
const CRITICAL = { critical: true, message: 'there is next to nothing' }
const text = (length: number) => ({ text: 'x'.repeat(length) })

for (const what of ['memory', 'disk'] as const) {
  t.test(`a server short of ${what}`, async t => {
    lack = SHORT
    const { api, faults } = await startTestServer(t, { more: { rooms: [room(what)] } })
    lack = undefined
    const held = configMap('held', text(8000), { finalizers: ['example.com/mine'] })
    for (const object of [configMap('a', text(500)), configMap('long', text(8000)), held])
      await api.ok(api.post(CONFIGMAPS, object))
    const update = async (name: string, length: number) =>
      (await api.put(`${CONFIGMAPS}/${name}`, configMap(name, text(length)))).code

    lack = SHORT
    t.match(await api.post(CONFIGMAPS, configMap('b')), {
      code: 507,
      body: {
        kind: 'Status',
        reason: 'InsufficientStorage',
        message: 'the server takes nothing more for now, only deletions and small updates: there is too little',
        details: { name: 'b', kind: 'configmaps', causes: [{ reason: 'ServerShort', field: what }] },
      },
    })
    t.equal(await update('a', 1000), 200, 'small growth')
    t.equal(await update('a', 4000), 507, 'large growth')

    lack = CRITICAL
    t.equal(await update('a', 1100), 507, 'any growth')
    t.equal(await update('a', 999), 200, 'a small update')
    t.equal(await update('long', 7999), what === 'disk' ? 507 : 200, 'a long one fills a disk with history')
    t.equal((await api.get(CONFIGMAPS)).code, 200)
    t.equal((await api.get('/readyz')).code, 200, 'reads and deletions are served')
    t.equal((await api.delete(`${CONFIGMAPS}/held`)).code, 200)
    t.equal((await api.patch(`${CONFIGMAPS}/held`, 'merge', { metadata: { finalizers: null } })).code, 200)
    t.equal((await api.get(`${CONFIGMAPS}/held`)).code, 404)
    t.equal((await api.delete(`${CONFIGMAPS}/long`)).code, 200)
    t.match((await api.get('/metrics')).text, new RegExp(`orrery_short\\{what="${what}"\\} 2`))

    lack = undefined
    t.equal((await api.post(CONFIGMAPS, configMap('b'))).code, 201)
    t.same(faults, [])
  })
}

t.test('what a start loads was written before: it takes nothing of the disk', async t => {
  let taken = 0
  const disk: Room = {
    ...room('disk'),
    took: bytes => {
      taken += bytes
    },
  }
  const first = await startTestServer(t, { more: { rooms: [disk] } })
  await first.api.ok(first.api.post(CONFIGMAPS, configMap('large', text(500_000))))
  t.ok(taken > 500_000)
  taken = 0
  const { api } = await first.restart()
  t.ok(taken < 500_000)
  taken = 0
  await api.ok(api.post(CONFIGMAPS, configMap('more', text(8000))))
  t.ok(taken > 8000 && taken < 500_000)
})
