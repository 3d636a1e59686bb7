/** Share of API threads in the server's bounds. */
import t from 'tap'
import type { ApiServerOptions } from '../../../src/apiserver/apiServerOptions.ts'
import { threadOptions } from '../../../src/apiserver/apiThreadOptions.ts'
import { HeldRequests, shareOf } from '../../../src/apiserver/flowcontrol/heldRequests.ts'
import { UNREAD } from '../../../src/apiserver/flowcontrol/runningRequests.ts'

const OPTIONS = {
  apiThreads: 2,
  inFlight: { reading: 400, mutating: 200, watching: 20_000 },
  bookmarkIntervalMs: 5,
} as ApiServerOptions
const WHOLE = { connections: 9000, total: 300, perAddress: 100, patienceMs: 7, refusals: 10 }

t.test('a thread has its part of connections and of seats; watches are counted together', async t => {
  t.match(threadOptions(OPTIONS, WHOLE), {
    inFlight: { reading: 134, mutating: 67, watching: 20_000 },
    strangers: { connections: 3000, total: 100, perAddress: 34, patienceMs: 7 },
    bookmarkIntervalMs: 5,
  })
})

t.test('a thread judges requests as the main thread does', async t => {
  const rules = {
    spaces: true,
    fairness: false,
    tokenFile: '/tokens',
    oidc: { issuerUrl: 'https://issuer' },
    anonymousAuth: true,
    clientCertificateNetworks: ['10.0.0.0/8'],
    webhookAllowedHosts: ['hooks.example.com'],
    disabledAdmissionPlugins: ['PodSecurity'],
    serviceClusterIpRange: '10.1.0.0/16',
    serviceNodePortRange: '30000-30010',
  }
  t.match(threadOptions({ ...OPTIONS, ...rules } as unknown as ApiServerOptions, WHOLE), rules)
  t.notOk('tokenFile' in threadOptions({ ...OPTIONS, tokenFile: undefined } as unknown as ApiServerOptions, WHOLE))
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
