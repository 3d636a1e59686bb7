/** The host's answers to reviews: shared, remembered, and waited for no longer than they may take. */
import t from 'tap'
import type { Forwarded } from '../../../src/apiserver/access/forwarded.ts'
import { HostAuthorizer, REMEMBERED_MS } from '../../../src/apiserver/aggregated/hostAuthorizer.ts'
import { REVIEW_LIMIT_MS } from '../../../src/apiserver/aggregated/hostReview.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { SteppedClock } from '../flowcontrol/steppedClock.ts'

function forwarded(name: string, target: Forwarded['target'] = 'space'): Forwarded {
  const user = { name, groups: [] }
  const requested = parseRequest('GET', '/apis/edge.kubestellar.io/v2alpha1/edgeplacements')
  return { user, hostUser: user, requested, target, provenUntilMs: Infinity }
}

t.test('a host that hangs holds no request longer than a review may take, however many there are', async t => {
  const clock = new SteppedClock()
  let open = 0
  const create: SpaceClient['create'] = (_resource, _object, options) => {
    open++
    return new Promise((_, reject) =>
      options!.signal!.addEventListener('abort', () => {
        open--
        reject(new Error('aborted'))
      }),
    )
  }
  const authorizer = new HostAuthorizer({ host: { create }, clock })
  const asked = Array.from({ length: 200 }, (_, i) => Promise.resolve(authorizer.decide(forwarded(`user-${i}`))))
  const answers = Promise.allSettled(asked)
  t.equal(open, 200)
  clock.pass(REVIEW_LIMIT_MS)
  for (const answer of await answers)
    t.match(answer, { status: 'rejected', reason: { reason: 'ServiceUnavailable', message: /no answer within 10 s$/ } })
  t.equal(open, 0)
  t.equal(clock.waiting, 0)
  t.same(await authorizer.decide(forwarded('user-0', 'documents')), { allowed: true, reason: '' })
})

t.test('an answer is shared and remembered, a failure is not', async t => {
  const clock = new SteppedClock()
  const said: (boolean | Error)[] = [true, new Error('reset'), false]
  let asked = 0
  const create: SpaceClient['create'] = async () => {
    const next = said[asked++]
    if (next instanceof Error) throw next
    return { apiVersion: '', kind: '', metadata: {}, status: { allowed: next } }
  }
  const authorizer = new HostAuthorizer({ host: { create }, clock })
  const alice = forwarded('alice')
  t.match(await Promise.all([authorizer.decide(alice), authorizer.decide(alice)]), [
    { allowed: true },
    { allowed: true },
  ])
  clock.pass(REMEMBERED_MS - 1)
  t.match(await authorizer.decide(alice), { allowed: true })
  t.equal(asked, 1)
  clock.pass(1)
  await t.rejects(async () => authorizer.decide(alice), { reason: 'ServiceUnavailable', message: /: reset$/ })
  t.match(await authorizer.decide(alice), { allowed: false })
  t.equal(asked, 3)
  t.equal(clock.waiting, 0)
})
