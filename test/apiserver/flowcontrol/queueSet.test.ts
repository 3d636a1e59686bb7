/** Fair queues: who runs, who waits, in which order, and that no seat is lost. */
import t from 'tap'
import { dealHand, flowHash } from '../../../src/apiserver/flowcontrol/dealing.ts'
import { QueueSet } from '../../../src/apiserver/flowcontrol/queueSet.ts'
import type { Seat } from '../../../src/apiserver/flowcontrol/seatQueue.ts'
import { ONE_SEAT, type SeatRefused, type Work } from '../../../src/apiserver/flowcontrol/seats.ts'
import * as fc from '../../support/fastCheck.ts'
import { SteppedClock } from './steppedClock.ts'

const QUEUES = { queues: 64, handSize: 6, lengthLimit: 50 }
const wide = (initialSeats: number): Work => ({ initialSeats, finalSeats: 0, extraMs: 0 })
const handOf = (who: string, { queues, handSize } = QUEUES): number[] =>
  dealHand(flowHash('schema', 'space', who), queues, handSize)

/** Requests of flows, and in which order they were let in. */
class Crowd {
  readonly clock = new SteppedClock()
  readonly set: QueueSet
  readonly running: { who: string; seat: Seat }[] = []
  readonly refused: string[] = []
  readonly order: string[] = []
  readonly waiting: Seat[] = []

  constructor(limit: number, queuing: typeof QUEUES | undefined = QUEUES) {
    this.set = new QueueSet({ clock: this.clock, queuing, limit })
  }

  ask(who: string, work: Work = ONE_SEAT, hand = handOf(who), path: string[] = []): void {
    const begin = (seat: Seat): void => {
      this.running.push({ who, seat })
      this.order.push(who)
    }
    const refuse = (error: unknown): void => {
      this.refused.push(`${who} ${(error as SeatRefused).reason}`)
    }
    try {
      const seat = this.set.enter(hand, work, path)
      if (seat.state === 'running') begin(seat)
      else {
        this.waiting.push(seat)
        void this.set.turn(seat, 15_000).then(() => begin(seat), refuse)
      }
    } catch (error) {
      refuse(error)
    }
  }

  /** Ends the one that runs longest, after a while. */
  async end(afterMs = 10): Promise<void> {
    this.clock.pass(afterMs)
    this.set.leave(this.running.shift()!.seat)
    await turn()
  }
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('as many at a time as there are seats; the others in turn, flow by flow', async t => {
  const crowd = new Crowd(2)
  for (let n = 0; n < 20; n++) crowd.ask('greedy')
  t.equal(crowd.running.length, 2)
  t.equal(crowd.set.waiting, 18)
  crowd.ask('modest')
  crowd.ask('other')
  for (let n = 0; n < 6; n++) await crowd.end()
  const first = crowd.order.slice(2, 8)
  t.ok(first.includes('modest') && first.includes('other'), `${first}`)
  while (crowd.running.length > 0) await crowd.end()
  t.equal(crowd.order.length, 22)
  t.match(crowd.set, { executing: 0, seatsInUse: 0, waiting: 0, seatsWaiting: 0 })
  t.equal(crowd.clock.waiting, 0, 'no timer is left')
})

t.test('who is slow pays for it: equal time, not equal numbers', async t => {
  const crowd = new Crowd(1)
  const queuing = { queues: 2, handSize: 1, lengthLimit: 1000 }
  crowd.set.configure(queuing)
  for (let n = 0; n < 60; n++) {
    crowd.ask('slow', ONE_SEAT, [0])
    crowd.ask('quick', ONE_SEAT, [1])
  }
  for (let n = 0; n < 44; n++) await crowd.end(crowd.running[0]!.who === 'slow' ? 100 : 10)
  const slow = crowd.order.slice(0, 44).filter(who => who === 'slow').length
  t.ok(slow >= 3 && slow <= 6, `${slow} of 44`)
})

t.test('a queue that is full refuses while all seats are taken', async t => {
  const crowd = new Crowd(1, { queues: 8, handSize: 2, lengthLimit: 3 })
  for (let n = 0; n < 10; n++) crowd.ask('one', ONE_SEAT, [0, 1])
  t.same(crowd.refused, ['one queue-full', 'one queue-full', 'one queue-full'])
  crowd.ask('two', ONE_SEAT, [0, 2])
  t.equal(crowd.set.waiting, 7, 'who has another queue waits there')
})

t.test('a tenant with a thousand users has one share of the level, and its users have theirs of that', async t => {
  const crowd = new Crowd(2, { queues: 8, handSize: 2, lengthLimit: 10 })
  const ask = (tenant: string, user: string, hand: number[]): void =>
    crowd.ask(user, ONE_SEAT, hand, [tenant, '', user])
  for (let n = 0; n < 1000; n++) ask('alice', `alice ${n}`, [0, 1])
  t.equal(crowd.set.waiting, 20)
  for (let n = 0; n < 10; n++) ask('bob', 'bob', [1, 2])
  t.equal(crowd.set.waiting, 30, 'who shares a queue waits in the other one')
  crowd.order.splice(0)
  for (let n = 0; n < 15; n++) await crowd.end()
  t.ok(crowd.order.filter(who => who === 'bob').length >= 4, `${crowd.order}`)
  for (let n = 0; n < 30; n++) ask('alice', 'alice 7', [0, 1])
  await turn()
  const before = crowd.refused.length
  ask('alice', 'newcomer', [0, 1])
  await turn()
  t.match(crowd.refused.slice(before), [/^alice .* queue-full$/], 'the place of somebody with more waiting')
  while (crowd.running.length > 0) await crowd.end()
  t.ok(crowd.order.includes('newcomer'))
  t.match(crowd.set, { executing: 0, seatsInUse: 0, waiting: 0, seatsWaiting: 0 })
})

t.test('a level without queues refuses; one without seats has none for anybody', async t => {
  const crowd = new Crowd(1, undefined)
  crowd.set.configure(undefined)
  crowd.ask('a')
  crowd.ask('b')
  t.same(crowd.refused, ['b concurrency-limit'])
  const none = new Crowd(0)
  none.set.configure(undefined)
  none.ask('a')
  t.same(none.refused, ['a concurrency-limit'])
})

t.test('nobody waits longer than they may; who leaves leaves', async t => {
  const crowd = new Crowd(1)
  crowd.ask('a')
  crowd.ask('b')
  crowd.ask('c')
  crowd.set.withdraw(crowd.waiting[0]!)
  crowd.clock.pass(15_000)
  await turn()
  t.same(crowd.refused, ['b cancelled', 'c time-out'])
  await crowd.end()
  t.match(crowd.set, { executing: 0, seatsInUse: 0, waiting: 0, seatsWaiting: 0 })
})

t.test('a wide request does not block its level, and is not put off for ever', async t => {
  const crowd = new Crowd(4, { queues: 4, handSize: 1, lengthLimit: 100 })
  crowd.ask('long', ONE_SEAT, [0])
  crowd.ask('wide', wide(4), [1])
  for (let n = 0; n < 12; n++) crowd.ask('thin', ONE_SEAT, [2])
  t.equal(crowd.running.length, 4, 'what is free is used')
  const long = crowd.running.shift()!
  for (let n = 0; n < 5; n++) await crowd.end()
  t.ok(crowd.order.includes('wide'), 'after as many seats as the level has went by')
  t.ok(crowd.order.indexOf('wide') >= 4)
  crowd.running.push(long)
  while (crowd.running.length > 0) await crowd.end()
  t.equal(crowd.order.length, 14)
})

t.test('wide requests never have all seats of a level: what is short finds one at once', async t => {
  const crowd = new Crowd(12, { ...QUEUES, lengthLimit: 3 })
  for (let n = 0; n < 8; n++) crowd.ask('lists', wide(4), [1, 2])
  t.equal(crowd.running.length, 2, 'a third would fit, and leave none')
  t.equal(crowd.set.waiting, 6)
  for (let n = 0; n < 4; n++) crowd.ask('modest', ONE_SEAT, [3])
  t.strictSame(crowd.order.slice(2), Array(4).fill('modest'))
  crowd.ask('lists', wide(4), [1, 2])
  await turn()
  t.strictSame(crowd.refused, ['lists queue-full'], 'also where seats are left')
  for (let n = 0; n < 30; n++) {
    crowd.set.leave(crowd.running.pop()!.seat)
    crowd.ask('modest', ONE_SEAT, [3])
  }
  t.equal(crowd.set.seatsInUse, 12, 'they do not get them by waiting while others come and go either')
  while (crowd.running.length > 0) await crowd.end()
  t.equal(crowd.order.filter(who => who === 'lists').length, 8)
  t.match(crowd.set, { executing: 0, seatsInUse: 0, waiting: 0 })
})

t.test('who waits for somebody else gives the seat away, and has it again at once', async t => {
  const crowd = new Crowd(1)
  crowd.ask('asks')
  crowd.ask('next')
  const { seat } = crowd.running[0]!
  crowd.set.pause(seat)
  await turn()
  t.same(crowd.order, ['asks', 'next'])
  crowd.set.resume(seat)
  t.equal(crowd.set.seatsInUse, 2)
  crowd.ask('later')
  await crowd.end()
  t.same(crowd.order, ['asks', 'next'], 'the seat in excess is saved first')
  await crowd.end()
  t.same(crowd.order, ['asks', 'next', 'later'])
})

t.test('whoever comes finds a seat, however many tenants have all they may', async t => {
  const crowd = new Crowd(64, QUEUES)
  const path = (tenant: string) => [tenant, '', 'somebody']
  const come = (tenant: string, count: number, hand: number[]): void => {
    for (let n = 0; n < count; n++) crowd.ask(tenant, ONE_SEAT, hand, path(tenant))
  }
  const running = (tenant: string): number => crowd.running.filter(({ who }) => who === tenant).length
  come('a', 200, [1, 2, 3, 4])
  t.equal(running('a'), 56, 'seven of eight')
  come('b', 100, [5, 6])
  t.equal(running('b'), 7)
  come('new', 1, [7])
  t.equal(running('new'), 1)
  for (let n = 0; n < 80; n++) await crowd.end()
  t.equal(running('a') + running('b'), 60, 'some seats are left')
  t.ok(Math.min(running('a'), running('b')) >= 25, 'and the others shared')
  come('later', 1, [7])
  t.equal(running('later'), 1, 'though others wait')
  while (crowd.running.length > 0) await crowd.end()
  t.match(crowd.set, { executing: 0, seatsInUse: 0, waiting: 0 })
})

t.test('who stands in one queue behind a tenant that has all it may goes by', async t => {
  const crowd = new Crowd(16, { queues: 1, handSize: 1, lengthLimit: 50 })
  const come = (who: string, path: string[], work = ONE_SEAT): void => crowd.ask(who, work, [0], path)
  for (let n = 0; n < 20; n++) come('a', ['a', '', `user ${n % 3}`])
  t.equal(crowd.running.length, 14)
  come('b', ['b', '', 'bob'])
  t.equal(crowd.order.at(-1), 'b')
  come('admin', ['', 'root\0admin'])
  t.equal(crowd.order.at(-1), 'admin', 'who is of no tenant, too')
  while (crowd.running.length > 0) await crowd.end()
  t.equal(crowd.order.length, 22)
  for (let n = 0; n < 3; n++) come('wide', ['a', '', 'x'], wide(6))
  come('short', ['b', '', 'bob'])
  t.same(crowd.order.slice(22), ['wide', 'wide', 'short'])
  while (crowd.running.length > 0) await crowd.end()
  t.match(crowd.set, { executing: 0, seatsInUse: 0, waiting: 0 })
})

t.test('a level of few seats has none to spare', async t => {
  const crowd = new Crowd(7, QUEUES)
  for (let n = 0; n < 9; n++) crowd.ask('a', ONE_SEAT, [1], ['a', '', 'x'])
  t.equal(crowd.running.length, 7)
})

t.test('a crowd that comes back from one wait keeps newcomers from half of the seats, not from all', async t => {
  const crowd = new Crowd(4)
  const waits: Seat[] = []
  for (let n = 0; n < 20; n++) {
    crowd.ask('asks')
    const { seat } = crowd.running.at(-1)!
    waits.push(seat)
    crowd.set.pause(seat)
  }
  crowd.running.length = 0
  for (const seat of waits) crowd.set.resume(seat)
  t.match(crowd.set, { executing: 20, seatsInUse: 20 })
  for (const name of ['one', 'two', 'three']) crowd.ask(name)
  t.same(crowd.order.slice(20), ['one', 'two'])
  for (const seat of waits.splice(0, 18)) crowd.set.leave(seat)
  await turn()
  t.same(crowd.order.slice(20), ['one', 'two'], 'those two that are still here have theirs')
  crowd.set.pause(waits[0]!)
  await turn()
  t.same(crowd.order.slice(20), ['one', 'two', 'three'], 'who waits again has none')
  crowd.set.leave(waits[0]!)
  crowd.set.leave(waits[1]!)
  while (crowd.running.length > 0) await crowd.end()
  t.match(crowd.set, { executing: 0, seatsInUse: 0, waiting: 0 })
})

t.test('what a change costs its watchers is held for a while', async t => {
  const crowd = new Crowd(10)
  crowd.ask('a', { initialSeats: 1, finalSeats: 10, extraMs: 5 })
  t.equal(crowd.set.seatsInUse, 10)
  crowd.ask('b')
  await crowd.end(0)
  t.same(crowd.order, ['a'])
  crowd.clock.pass(5)
  await turn()
  t.same(crowd.order, ['a', 'b'])
})

t.test('more queues, fewer, or none: nobody who waits is lost', async t => {
  const crowd = new Crowd(1)
  for (let n = 0; n < 9; n++) crowd.ask(`flow ${n}`)
  crowd.set.configure({ queues: 2, handSize: 1, lengthLimit: 1 })
  crowd.set.configure({ queues: 10_000_000, handSize: 2, lengthLimit: 50 })
  t.equal(crowd.set.waiting, 8)
  await crowd.end()
  crowd.set.configure(undefined)
  await turn()
  t.equal(crowd.order.length, 9, 'who was promised a turn has it')
  while (crowd.running.length > 0) await crowd.end()
  t.match(crowd.set, { executing: 0, seatsInUse: 0, waiting: 0, seatsWaiting: 0 })
})

t.test('whatever comes and goes: seats are kept count of, and nobody waits beside a free one', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('ask' as const), who: fc.nat({ max: 9 }), seats: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ do: fc.constantFrom('end' as const, 'withdraw' as const, 'pause' as const), pick: fc.nat() }),
    fc.record({ do: fc.constant('limit' as const), to: fc.integer({ min: 1, max: 12 }) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat({ max: 4000 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), async steps => {
      const crowd = new Crowd(5, { queues: 8, handSize: 2, lengthLimit: 4 })
      for (const each of steps) {
        const { set, running, waiting } = crowd
        if (each.do === 'ask') {
          const who = String(each.who)
          crowd.ask(who, wide(each.seats), dealHand(flowHash('s', 'x', who), 8, 2), ['t', who])
        } else if (each.do === 'limit') set.setLimit(each.to)
        else if (each.do === 'pass') crowd.clock.pass(each.ms)
        else if (each.do === 'withdraw') waiting.length > 0 && set.withdraw(waiting[each.pick % waiting.length]!)
        else if (running.length > 0) {
          const index = each.pick % running.length
          if (each.do === 'end') set.leave(running.splice(index, 1)[0]!.seat)
          else {
            set.pause(running[index]!.seat)
            set.resume(running[index]!.seat)
          }
        }
        await turn()
        const seats = running.reduce((sum, { seat }) => sum + seat.work.initialSeats, 0)
        if (set.seatsInUse !== seats || set.executing !== running.length) return false
        if (set.waiting !== waiting.filter(seat => seat.state === 'waiting').length) return false
        const wideSeats = running.reduce(
          (sum, { seat: { work } }) => sum + (work.initialSeats > 1 ? work.initialSeats : 0),
          0,
        )
        const fits = ({ work: { initialSeats } }: Seat): boolean =>
          seats + initialSeats <= set.limit &&
          (initialSeats === 1 || wideSeats === 0 || wideSeats + initialSeats <= 0.75 * set.limit) &&
          // one tenant has all of them
          (set.limit < 8 || seats === 0 || seats + initialSeats <= 7 * (set.limit - seats - initialSeats))
        const thin = waiting.some(seat => seat.state === 'waiting' && fits(seat))
        const heads = [...set.queues].flatMap(queue => queue.line.next ?? [])
        if (thin && heads.some(fits)) return false
      }
      while (crowd.running.length > 0) await crowd.end()
      const { executing, seatsInUse, waiting, seatsWaiting } = crowd.set
      return executing + seatsInUse + waiting + seatsWaiting === 0
    }),
    { numRuns: 150 },
  )
})
