/** What is bounded is divided among all threads that serve, and is no less for all together. */
import t from 'tap'
import type { ApiServerOptions } from '../../../src/apiserver/apiServerOptions.ts'
import { sharedOptions, threadOptions } from '../../../src/apiserver/apiThreadOptions.ts'
import { HeldRequests, shareOf } from '../../../src/apiserver/flowcontrol/heldRequests.ts'
import { UNREAD } from '../../../src/apiserver/server/inFlight.ts'

const OPTIONS = {
  apiThreads: 2,
  inFlight: { reading: 400, mutating: 200, watching: 20_000 },
  strangers: { connections: 9000, total: 300, perAddress: 100 },
  bookmarkIntervalMs: 5,
} as ApiServerOptions

t.test('seats of who reads, and connections; watches are counted together', async t => {
  const shared = sharedOptions(OPTIONS)
  t.match(shared, {
    inFlight: { reading: 134, mutating: 200, watching: 20_000 },
    strangers: { connections: 3000, total: 100, perAddress: 34 },
  })
  const { inFlight, strangers, bookmarkIntervalMs } = threadOptions(shared)
  t.same(
    { inFlight, strangers },
    { inFlight: shared.inFlight, strangers: shared.strangers },
    'a thread has the same part',
  )
  t.equal(bookmarkIntervalMs, 5)
})

t.test('without threads nothing is divided', async t => {
  const { apiThreads: _, ...alone } = OPTIONS
  t.equal(sharedOptions(alone), alone)
})

t.test('bytes that watches leave unread', async t => {
  const holder = { spaces: ['a'], user: 'u' }
  const unread = new HeldRequests(shareOf(UNREAD, 4))
  unread.hold(holder, UNREAD.userBytes! / 4)
  t.ok(unread.fits(holder))
  unread.hold(holder, 1)
  t.notOk(unread.fits(holder))
  t.ok(unread.fits({ spaces: ['a'], user: 'v' }), 'the space has room')
  unread.hold({ spaces: ['a'], user: 'v' }, UNREAD.space.bytes / 4 - UNREAD.userBytes! / 4)
  t.notOk(unread.fits({ spaces: ['a'], user: 'w' }))
})
