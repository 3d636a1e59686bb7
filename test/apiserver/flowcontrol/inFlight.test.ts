/** The requests that run: who is let in, who waits, who gives the seat back, and who is broken off. */
import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import type { AuthorizedRequest } from '../../../src/apiserver/access/accessControl.ts'
import { bootstrapLevels, bootstrapSchemas } from '../../../src/apiserver/flowcontrol/bootstrapConfiguration.ts'
import { readFlowSchema, readPriorityLevel } from '../../../src/apiserver/flowcontrol/flowConfiguration.ts'
import { FlowControl } from '../../../src/apiserver/flowcontrol/flowControl.ts'
import { HeldRequests } from '../../../src/apiserver/flowcontrol/heldRequests.ts'
import { InFlight } from '../../../src/apiserver/flowcontrol/inFlight.ts'
import { ONE_SEAT } from '../../../src/apiserver/flowcontrol/seats.ts'
import type { AnswerSide, InFlightLimits, Ticket } from '../../../src/apiserver/flowcontrol/ticket.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { SteppedClock } from './steppedClock.ts'

const PODS = '/api/v1/namespaces/default/pods'
const KNOWN = ['system:authenticated']
const request = (method: string, url: string, groups: string[] = KNOWN, space = 'root'): AuthorizedRequest => ({
  info: parseRequest(method, url),
  user: { name: 'u', groups },
  space,
})
const answerTo = (name: string, ended: string[] = []) => ({
  destroy: () => void ended.push(name),
  headersSent: false,
  writableLength: 0,
})
const TOO_MANY = {
  reason: 'TooManyRequests',
  code: 429,
  message: 'Too many requests, please try again later.',
  details: { retryAfterSeconds: 1 },
}

/** Spaces that nobody knows are tenants. */
const lineageOf = (space: string): string[] => (space === 'root' ? ['root'] : ['root', ...space.split('/')])

interface Setting {
  limits?: InFlightLimits
  held?: HeldRequests
  unread?: HeldRequests
}

function setUp({ limits, held, unread }: Setting = {}) {
  const clock = new SteppedClock()
  const seats = limits ? limits.reading + limits.mutating : 600
  const flowControl = new FlowControl({
    clock,
    seats,
    root: 'root',
    isSyncer: ({ name }) => name === 'syncer',
    lineageOf,
  })
  flowControl.configure(bootstrapSchemas().map(readFlowSchema), bootstrapLevels().map(readPriorityLevel))
  const inFlight = new InFlight({
    limits,
    flowControl,
    estimate: () => ONE_SEAT,
    isSyncer: ({ name }) => name === 'syncer',
    ...(held && { held }),
    ...(unread && { unread }),
    clock: clock.now,
  })
  const enter = (asked: AuthorizedRequest, answer: AnswerSide = answerTo('')): Ticket | Promise<Ticket> =>
    inFlight.enter(asked, { flow: inFlight.flowOf(asked), answer })
  /** Asks until somebody would have to wait, who then leaves. */
  const fill = (asked: AuthorizedRequest): Ticket[] => {
    const tickets: Ticket[] = []
    for (;;) {
      const entered = inFlight.enter(asked, { flow: inFlight.flowOf(asked), answer: answerTo('') }, waiting =>
        inFlight.leave(waiting),
      )
      if (entered instanceof Promise) {
        entered.catch(() => {})
        return tickets
      }
      tickets.push(entered)
    }
  }
  return { clock, inFlight, enter, fill }
}

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
  const { inFlight, fill, clock } = setUp({ limits: { reading: 10, mutating: 5, watching: 5 } })
  const running = fill(request('GET', PODS))
  const asked = request('GET', PODS)
  let waiting: Ticket | undefined
  const entered = inFlight.enter(asked, { flow: inFlight.flowOf(asked), answer: answerTo('') }, ticket => {
    waiting = ticket
  })
  inFlight.leave(waiting!)
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
