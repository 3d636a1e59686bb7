/** Requests that run: who gives the seat back, and who is ended. */
import t from 'tap'
import { HeldRequests } from '../../../src/apiserver/flowcontrol/heldRequests.ts'
import { answerTo, KNOWN, PODS, request, setUp, TOO_MANY } from './inFlightSupport.ts'

t.test('a request that waits for a webhook has no seat meanwhile, and too many of a space are refused', async t => {
  const held = new HeldRequests({ space: { requests: 4, bytes: 1000 }, server: { requests: 5, bytes: 2000 } })
  const { inFlight, fill, enter } = setUp({ held })
  const running = fill(request('POST', PODS))
  const next = Promise.resolve(enter(request('POST', PODS)))
  running[0]!.bodyBytes = 10
  running[0]!.pause()
  running[0]!.pause()
  await next
  t.same(held.of('root'), { requests: 1, bytes: 10 }, 'once, however many it waits for')
  running[1]!.pause()
  t.throws(() => running[2]!.pause(), TOO_MANY, 'half of what a space may is the most for one user')
  t.throws(() => enter(request('POST', PODS)), TOO_MANY, 'nor does another of theirs begin')
  const masters = await enter(request('POST', PODS, ['system:masters']))
  t.doesNotThrow(() => masters.pause())
  running[0]!.resume()
  running[0]!.resume()
  running[1]!.resume()
  masters.resume()
  t.same(held.total, { requests: 0, bytes: 0 })
  for (const ticket of [...running, masters]) inFlight.leave(ticket)
  running[1]!.pause()
  running[1]!.resume()
  t.same(held.total, { requests: 0, bytes: 0 }, 'what a request leaves behind holds nothing')
})

t.test('an answer that is not taken holds no seat, and too much of it is broken off', async t => {
  const held = new HeldRequests({ space: { requests: 10, bytes: 1000 }, server: { requests: 50, bytes: 5000 } })
  const { inFlight, enter, fill, clock } = setUp({ held })
  const ended: string[] = []
  const slow = { ...answerTo('slow', ended), headersSent: true, writableLength: 300 }
  const slower = { ...answerTo('slower', ended), headersSent: true, writableLength: 0 }
  const tickets = [await enter(request('GET', PODS), slow), await enter(request('GET', PODS), slower)]
  fill(request('GET', PODS))
  clock.pass(1000)
  const waits = Promise.resolve(enter(request('GET', PODS)))
  t.same(held.of('root'), { requests: 1, bytes: 300 }, 'whoever has to wait has the others looked through')
  await waits
  t.same(ended, [])
  slower.writableLength = 900
  inFlight.running.reclaimSeats()
  t.same(ended, ['slower'])
  for (const ticket of tickets) inFlight.leave(ticket)
  t.same(held.total, { requests: 0, bytes: 0 })
})

t.test('a request whose objects somebody else converts holds no seat while others wait', async t => {
  const held = new HeldRequests()
  const { inFlight, enter, fill, clock } = setUp({ held })
  const running = fill(request('GET', PODS))
  for (const ticket of running) ticket.mayConvert = true
  clock.pass(1000)
  const another = request('GET', PODS, KNOWN, 'another')
  const others = fill(another)
  clock.pass(1000)
  others.push(await enter(another))
  t.equal(held.of('root').requests, running.length)
  running[0]!.pause()
  running[0]!.resume()
  for (const ticket of [...running, ...others]) inFlight.leave(ticket)
  t.same(held.total, { requests: 0, bytes: 0 })
})

t.test('an answer that nobody takes is counted once, also where its objects may be converted', async t => {
  const held = new HeldRequests()
  const { inFlight, enter, clock } = setUp({ held })
  const ticket = await enter(request('GET', PODS), { ...answerTo(''), headersSent: true, writableLength: 300 })
  ticket.mayConvert = true
  inFlight.running.reclaimSeats()
  clock.pass(1000)
  inFlight.running.reclaimSeats()
  t.same(held.total, { requests: 1, bytes: 300 })
  inFlight.leave(ticket)
  t.same(held.total, { requests: 0, bytes: 0 })
  t.same(held.of('root'), { requests: 0, bytes: 0 })
})

t.test('a tenant with many spaces holds no more than a part, and one who holds nothing always may', async t => {
  const held = new HeldRequests({ space: { requests: 40, bytes: 4000 }, server: { requests: 640, bytes: 64_000 } })
  const holder = (...spaces: string[]) => ({ spaces, user: `${spaces.at(-1)}` })
  for (let tenant = 0; tenant < 4; tenant++) {
    let count = 0
    for (let child = 0; child < 100; child++) {
      const { spaces } = holder(`t${tenant}`, `c${tenant} ${child}`)
      for (let n = 0; n < 10; n++) {
        const one = { spaces, user: `user ${n}` }
        if (!held.hasRoom(one)) continue
        held.hold(one, 10)
        count++
      }
    }
    t.equal(count, 160)
  }
  t.ok(held.hasRoom(holder('bob')), 'though the server is full')
  t.notOk(held.hasRoom(holder('t0', 'another child')))
  for (let n = 0; n < 10; n++) held.hold(holder('bob'), 1)
  t.notOk(held.hasRoom(holder('bob')))
  t.ok(held.fits(holder('bob')))
  t.ok(held.hasRoom(holder('carol')))
})

t.test('a request that takes too long is broken off, a watch is not', async t => {
  const { inFlight, enter, clock } = setUp()
  const ended: string[] = []
  const run = (name: string, url: string) => enter(request('GET', url), answerTo(name, ended))
  await run('old', PODS)
  await run('watch', `${PODS}?watch=1`)
  const done = await run('done', PODS)
  clock.pass(50)
  await run('young', PODS)
  inFlight.leave(done)
  clock.pass(50)
  inFlight.running.endOlderThan(100)
  t.same(ended, ['old'])
})

t.test(
  'unread watches of a space are ended when they have too much in hand, those first that nobody read for longest',
  async t => {
    const KIB = 1024
    const bound = (bytes: number) => ({ requests: Number.POSITIVE_INFINITY, bytes })
    const unread = new HeldRequests({ space: bound(500 * KIB), server: bound(5000 * KIB) })
    const { inFlight, enter, clock } = setUp({ unread })
    const ended: string[] = []
    const answers: { name: string; writableLength: number }[] = []
    const look = (): void => {
      clock.pass(1000)
      inFlight.running.endUnreadWatches()
    }
    const open = async (name: string, space: string): Promise<void> => {
      const answer = { ...answerTo(name, ended), name, headersSent: true }
      answers.push(answer)
      const ticket = await enter(request('GET', `${PODS}?watch=1`, KNOWN, space), answer)
      answer.destroy = () => {
        ended.push(name)
        inFlight.leave(ticket)
      }
      ticket.releaseSeat()
    }
    for (const name of ['read', 'slow', 'slower', 'slowest']) await open(name, 'alice')
    await open('bob', 'bob')
    const fill = (...names: string[]): void => {
      for (const answer of answers) if (names.includes(answer.name)) answer.writableLength = 64 * KIB
    }
    fill('slowest')
    look()
    fill('slower', 'bob')
    look()
    fill('slow', 'read')
    look()
    t.equal(unread.of('alice').requests, 2, 'what was there a second ago')
    answers[0]!.writableLength = 0
    look()
    t.same(ended, ['slowest'], 'three are too many')
    t.equal(unread.of('alice').requests, 2)
    t.equal(unread.of('bob').requests, 1)
    for (const answer of answers) answer.writableLength = 0
    look()
    t.same(unread.total, { requests: 0, bytes: 0 })
    t.same(ended, ['slowest'])
  },
)

t.test('one user of a space does not use up what the others of it may leave unread', async t => {
  const KIB = 1024
  const bound = (bytes: number) => ({ requests: Number.POSITIVE_INFINITY, bytes })
  const unread = new HeldRequests({ userBytes: 500 * KIB, space: bound(2000 * KIB), server: bound(5000 * KIB) })
  const { inFlight, enter, clock } = setUp({ unread })
  const ended: string[] = []
  const open = async (name: string, user: string): Promise<void> => {
    const answer = { ...answerTo(name, ended), headersSent: true, writableLength: 64 * KIB }
    const asked = { ...request('GET', `${PODS}?watch=1`, KNOWN, 'alice'), user: { name: user, groups: KNOWN } }
    const ticket = await enter(asked, answer)
    answer.destroy = () => {
      ended.push(name)
      inFlight.leave(ticket)
    }
    ticket.releaseSeat()
  }
  await open('other', 'other')
  for (const name of ['1', '2', '3', '4']) await open(name, 'greedy')
  for (let n = 0; n < 2; n++) {
    clock.pass(1000)
    inFlight.running.endUnreadWatches()
  }
  t.same(ended, ['1', '2'], 'two are within the bound')
  t.equal(unread.of('alice').requests, 3)
})
