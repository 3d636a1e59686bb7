/** Requests in flight: who is admitted, who waits, and how they are counted. */
import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import type { Ticket } from '../../../src/apiserver/flowcontrol/ticket.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { answerTo, KNOWN, PODS, request, setUp, TOO_MANY } from './inFlightSupport.ts'

t.test('requests are told apart by what they do', async t => {
  const { inFlight, enter } = setUp()
  const cases: [string, string, string][] = [
    ['GET', `${PODS}/a`, 'reading'],
    ['GET', PODS, 'reading'],
    ['GET', '/apis', 'reading'],
    ['HEAD', '/healthz', 'reading'],
    ['POST', PODS, 'mutating'],
    ['PATCH', `${PODS}/a`, 'mutating'],
    ['DELETE', PODS, 'mutating'],
    ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'mutating'],
    ['GET', `${PODS}?watch=1`, 'watching'],
    ['GET', '/api/v1/watch/pods', 'watching'],
    ['GET', '/services/stream/clusters/root', 'watching'],
  ]
  for (const [method, url, kind] of cases) {
    const ticket = await enter(request(method, url))
    t.equal(ticket.kind, kind, `${method} ${url}`)
    t.equal(inFlight.count(ticket.kind), 1)
    inFlight.leave(ticket)
    t.equal(inFlight.count(ticket.kind), 0)
  }
})

t.test('a crowd of one user keeps nobody else waiting for long, and none of another level at all', async t => {
  const { inFlight, enter, fill } = setUp()
  const greedy = fill(request('GET', PODS))
  for (let n = 0; n < 40; n++) Promise.resolve(enter(request('GET', PODS))).catch(() => {})
  const bob = { ...request('GET', PODS), user: { name: 'bob', groups: KNOWN } }
  const elsewhere = Promise.resolve(enter(request('GET', PODS, KNOWN, 'another space'))).then(() => 'elsewhere')
  const other = Promise.resolve(enter(bob)).then(() => 'bob')
  const syncer = { ...request('GET', PODS), user: { name: 'syncer', groups: KNOWN } }
  t.equal((await enter(syncer)).flow.schema.level.spec.name, 'syncers')
  t.equal((await enter(request('GET', PODS, ['system:nodes', ...KNOWN]))).flow.schema.level.spec.name, 'system')
  t.equal((await enter(request('GET', PODS, ['system:masters']))).flow.schema.level.spec.name, 'exempt')
  for (const ticket of greedy.slice(0, 5)) inFlight.leave(ticket)
  t.same(await Promise.all([elsewhere, other]), ['elsewhere', 'bob'])
})

t.test('whoever leaves while waiting leaves nothing behind', async t => {
  const { inFlight, enter, fill, clock } = setUp({ limits: { reading: 10, mutating: 5, watching: 5 } })
  const running = fill(request('GET', PODS))
  let leave = (): void => void t.fail('it need not wait')
  const answer = {
    ...answerTo(''),
    once(_event: 'close', left: () => void) {
      leave = left
    },
  }
  const entered = enter(request('GET', PODS), answer)
  leave()
  await t.rejects(Promise.resolve(entered), { name: 'SeatRefused', reason: 'cancelled' })
  clock.pass(15_000)
  await new Promise(resolve => setImmediate(resolve))
  t.equal(inFlight.count('reading'), running.length)
})

t.test('who waits too long is told to come again, later each time that many are', async t => {
  const { enter, fill, clock } = setUp({ limits: { reading: 10, mutating: 5, watching: 5 } })
  fill(request('GET', PODS))
  const entered = Promise.resolve(enter(request('GET', PODS)))
  const refused = t.rejects(entered, TOO_MANY)
  clock.pass(15_000)
  await refused
})

t.test('a request waits for a seat a quarter of the time that it has', async t => {
  const { enter, fill, clock } = setUp({ limits: { reading: 10, mutating: 5, watching: 5 } })
  fill(request('GET', PODS))
  const hasty = t.rejects(Promise.resolve(enter(request('GET', `${PODS}?timeout=1m2s400ms`))), TOO_MANY)
  clock.pass(14_999)
  const hastier = t.rejects(Promise.resolve(enter(request('GET', `${PODS}?timeout=2s`))), TOO_MANY)
  clock.pass(1)
  await hasty
  clock.pass(499)
  await hastier
})

t.test('a closing server waits for what runs', async t => {
  const { inFlight, enter } = setUp()
  await inFlight.idle(60_000)
  const one = await enter(request('GET', PODS))
  const two = await enter(request('GET', `${PODS}?watch=1`))
  const idle = inFlight.idle(60_000).then(() => 'idle')
  inFlight.leave(one)
  t.equal(await Promise.race([idle, Promise.resolve('waits')]), 'waits')
  inFlight.leave(two)
  t.equal(await idle, 'idle')
  await enter(request('GET', PODS))
  await inFlight.idle(1)
  t.pass('and not for ever')
})

t.test('a space, and a user, have a share of the watches; a part is for syncers', async t => {
  const { inFlight, enter } = setUp({ limits: { reading: 400, mutating: 200, watching: 40 } })
  const watch = async (name: string, space: string, groups = KNOWN): Promise<Ticket> => {
    const ticket = await enter({ info: parseRequest('GET', `${PODS}?watch=1`), user: { name, groups }, space })
    ticket.releaseSeat()
    return ticket
  }
  for (let n = 0; n < 10; n++) await watch(`user ${n}`, 'one')
  await t.rejects(watch('further', 'one'), TOO_MANY)
  for (let n = 0; n < 10; n++) await watch('ann', `space ${n}`)
  await t.rejects(watch('ann', 'further'), TOO_MANY)
  for (let n = 0; n < 10; n++) await watch(`more ${n}`, `space ${n}`)
  await t.rejects(watch('last', 'last'), TOO_MANY, 'three quarters are taken')
  for (let n = 0; n < 10; n++) await watch('syncer', `mailbox ${n}`)
  await t.rejects(watch('syncer', 'mailbox'), TOO_MANY)
  const admin = await watch('admin', 'one', ['system:masters'])
  t.equal(inFlight.count('watching'), 41)
  inFlight.leave(admin)
  const [level] = [...inFlight.flowControl.levels].filter(({ spec }) => spec.name === 'global-default')
  t.equal(level!.set.executing, 0, 'and take no seats once they have begun')
})

t.test('watches with long selectors count for as many as they cost', async t => {
  const { inFlight, enter } = setUp({ limits: { reading: 400, mutating: 200, watching: 400 } })
  const watch = async (name: string, terms: number, more = ''): Promise<Ticket> => {
    const labels = Array.from({ length: terms }, (_, i) => `!l${i}`).join(',')
    const info = parseRequest('GET', `${PODS}?watch=1&labelSelector=${labels}${more}`)
    const ticket = await enter({ info, user: { name, groups: KNOWN }, space: name })
    ticket.releaseSeat()
    return ticket
  }
  const long = await watch('ann', 200)
  await watch('ann', 191, '&fieldSelector=metadata.name!=a')
  await t.rejects(watch('ann', 1), TOO_MANY, 'a hundred are a quarter')
  t.equal(inFlight.count('watching'), 2)
  inFlight.leave(long)
  for (let n = 0; n < 17; n++) await watch('ann', 8)
  await t.rejects(watch('ann', 0), TOO_MANY)
})

t.test('the spaces of a tenant share its watches, and none of them has all of these', async t => {
  const { enter } = setUp({ limits: { reading: 400, mutating: 200, watching: 40 } })
  let users = 0
  const watch = async (space: string) =>
    enter({ info: parseRequest('GET', `${PODS}?watch=1`), user: { name: `user ${users++}`, groups: KNOWN }, space })
  for (let n = 0; n < 5; n++) await watch('one/a')
  await t.rejects(watch('one/a'), TOO_MANY)
  for (let n = 0; n < 5; n++) await watch('one/b')
  await t.rejects(watch('one/c'), TOO_MANY)
  await t.rejects(watch('one'), TOO_MANY)
  await watch('two')
})

t.test('a request costs its ticket and its seat, and nothing more', async t => {
  const { inFlight } = setUp()
  const asked = request('PUT', `${PODS}/a`, ['system:serviceaccounts', 'system:authenticated'])
  const answer = answerTo('')
  const pass = (times: number): void => {
    for (let n = 0; n < times; n++) {
      inFlight.leave(inFlight.enter(asked, { flow: inFlight.flowOf(asked), answer }) as Ticket)
    }
  }
  const allocated = (): number => {
    const before = getHeapStatistics().total_allocated_bytes
    pass(20_000)
    return (getHeapStatistics().total_allocated_bytes - before) / 20_000
  }
  // until the compiler, which has a thread of its own, has had its turn
  let bytes = allocated()
  for (let round = 0; round < 100 && bytes >= 650; round++) bytes = allocated()
  t.ok(bytes > 0 && bytes < 650, `${bytes} bytes`)
})
