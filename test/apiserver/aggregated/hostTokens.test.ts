/** Bearer tokens of the host: who they are the host says alone, for ten seconds. */
import t from 'tap'
import { REMEMBERED_MS } from '../../../src/apiserver/aggregated/hostAuthorizer.ts'
import { REVIEW_LIMIT_MS } from '../../../src/apiserver/aggregated/hostReview.ts'
import { HostTokens, REVIEWS_AT_ONCE } from '../../../src/apiserver/aggregated/hostTokens.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { SteppedClock } from '../flowcontrol/steppedClock.ts'

type Create = SpaceClient['create']

function tokensOf(create: Create) {
  const clock = new SteppedClock()
  const logged: string[] = []
  const log = { warn: (fields: unknown, text: string) => void logged.push(`${text} ${JSON.stringify(fields)}`) }
  const tokens = new HostTokens({ host: { create }, userPrefix: 'host:', clock, log: log as never })
  return { clock, logged, identify: async (token: string) => tokens.identify(token) }
}

const review = (status: unknown) => ({ apiVersion: '', kind: '', metadata: {}, status })
const ALICE = { username: 'alice', uid: '7', groups: ['devs', 'system:masters'], extra: { from: ['ci'] } }

t.test('a good token is a user of the host, asked for once in ten seconds', async t => {
  const asked: unknown[] = []
  const { clock, identify } = tokensOf(async (resource, object) => {
    asked.push([resource.resource, object.spec])
    return review({ authenticated: true, user: ALICE })
  })
  const [one, other] = await Promise.all([identify('good'), identify('good')])
  t.strictSame(one, other)
  t.match(one, {
    user: { name: 'host:alice', uid: '7', groups: ['host:devs', 'host:system:masters', 'system:authenticated'] },
    hostUser: {
      name: 'alice',
      uid: '7',
      groups: ['devs', 'system:masters', 'system:authenticated'],
      extra: { from: ['ci'] },
    },
  })
  t.equal(one.user.extra, undefined)
  clock.pass(REMEMBERED_MS - 1)
  await identify('good')
  t.same(asked, [['tokenreviews', { token: 'good' }]])
  clock.pass(1)
  await identify('good')
  t.equal(asked.length, 2)
  t.equal(clock.waiting, 0)
})

t.test('an answer that names nobody is a wrong token', async t => {
  const answers: unknown[] = [
    undefined,
    {},
    { authenticated: false, user: ALICE },
    { authenticated: 'true', user: ALICE },
    { authenticated: true },
    { authenticated: true, user: { username: '' } },
    { authenticated: true, user: { username: ['alice'] } },
  ]
  for (const answer of answers) {
    const { identify } = tokensOf(async () => review(answer))
    await t.rejects(identify('wrong'), { reason: 'Unauthorized', message: /and tokens of the host/ })
  }
  const { identify } = tokensOf(async () =>
    review({ authenticated: true, user: { username: 'bob', groups: 'x', extra: { a: 1 } } }),
  )
  t.match((await identify('odd')).hostUser, { name: 'bob', groups: ['system:authenticated'], extra: { a: [] } })
})

t.test('a host that fails allows nothing, and is asked again; the log has the reason once and no token', async t => {
  let isFailing = true
  const { logged, identify } = tokensOf(async () => {
    if (isFailing) throw new Error('connect ECONNREFUSED 10.1.2.3:6443')
    return review({ authenticated: true, user: ALICE })
  })
  for (let i = 0; i < 3; i++)
    await t.rejects(identify('s3cret'), {
      reason: 'ServiceUnavailable',
      message: 'the host cluster answers no TokenReview, so no token counts',
    })
  t.equal(logged.length, 1)
  t.match(logged[0], /ECONNREFUSED/)
  t.notMatch(logged.join(), /s3cret/)
  isFailing = false
  t.match(await identify('s3cret'), { user: { name: 'host:alice' } })
})

t.test('a host that hangs holds few requests, and none longer than a review may take', async t => {
  let open = 0
  const { clock, identify } = tokensOf((_resource, _object, options) => {
    open++
    return new Promise((_, reject) =>
      options!.signal!.addEventListener('abort', () => {
        open--
        reject(new Error('aborted'))
      }),
    )
  })
  const answers = Promise.allSettled(Array.from({ length: 200 }, (_, i) => identify(`token-${i}`)))
  await Promise.resolve()
  t.equal(open, REVIEWS_AT_ONCE)
  clock.pass(REVIEW_LIMIT_MS)
  for (const answer of await answers) t.match(answer, { status: 'rejected', reason: { reason: 'ServiceUnavailable' } })
  t.equal(open, 0)
  t.equal(clock.waiting, 0)
})
