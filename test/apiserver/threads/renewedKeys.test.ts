/** Renewed certificates in servers with API threads: all threads show them, and who has an older one stays who they are. */
import t from 'tap'
import { renewalClock } from '../../support/renewalClock.ts'
import { accessOf, startTestServer } from '../../support/server.ts'
import { answersOf, ask, askAll as many, type Seen } from './tlsAsks.ts'

const DAY_MS = 86_400_000

t.test(
  'all threads show the new one; sessions of before are resumed by whom they belong to, or not at all',
  async t => {
    const clock = renewalClock(Date.now() - 340 * DAY_MS)
    const { server, faults } = await startTestServer(t, { more: { apiThreads: 2, certificateClock: clock } })
    const before = accessOf(server.kubeconfigPath)
    const first = await many(() => ask(before))
    t.same(answersOf(first), ['HTTP/1.1 200'])
    const [{ certificate: old }] = first as [Seen]

    const renewed = new Promise<void>(resolve => server.onKubeconfig(resolve))
    clock.leapTo(Date.now() - DAY_MS)
    await renewed
    const after = accessOf(server.kubeconfigPath)
    t.not(after.cert, before.cert)
    // threads get it by messages
    while ((await many(() => ask(after))).some(({ certificate }) => certificate === old));
    for (const [who, access, answer] of [
      ['the new administrator', after, 'HTTP/1.1 200'],
      ['the old one, whose certificate is valid', before, 'HTTP/1.1 200'],
      ['nobody', { url: before.url, ca: before.ca! }, 'HTTP/1.1 401'],
    ] as const) {
      const fresh = await many(() => ask(access))
      t.same(answersOf(fresh), [answer], who)
      const resumed = await many(i => ask(access, fresh[i]!))
      t.same(answersOf(resumed), [answer], `${who}, again`)
      t.notOk([...fresh, ...resumed].some(({ certificate }) => certificate === old))
    }
    const late = await many(i => ask(before, first[i]!))
    t.same(answersOf(late), ['HTTP/1.1 200'])
    t.notOk(
      late.some(({ isReused }) => isReused),
      'sessions end with the certificate that they began with',
    )
    t.same(faults, [])
  },
)
