/** Connections before a credential: how many, how long, who has to go, and what ends that; with sockets and time of the test. */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { type StrangerLimits, strangerLimits } from '../../../src/apiserver/connections/strangerLimits.ts'
import { type ConnectionServer, networkOf, Strangers } from '../../../src/apiserver/connections/strangers.ts'

class FakeSocket extends EventEmitter {
  static #ports = 1000
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localAddress = '10.0.0.1'
  readonly localPort: number
  readonly below: FakeSocket | undefined
  destroyed = false

  /** `below`: what it is TLS on. */
  constructor(remoteAddress: string, below?: FakeSocket, ports: { remotePort?: number; localPort?: number } = {}) {
    super()
    this.remoteAddress = remoteAddress
    this.below = below
    this.remotePort = below?.remotePort ?? ports.remotePort ?? ++FakeSocket.#ports
    this.localPort = below?.localPort ?? ports.localPort ?? 6443
  }

  destroy(): void {
    this.destroyed = true
    this.below?.destroy()
  }
}

function fakes(limits: Partial<StrangerLimits> = {}) {
  let now = 0
  const timers = new Set<{ atMs: number; run: () => void }>()
  const strangers = new Strangers({
    limits: { connections: 100, total: 100, perAddress: 100, patienceMs: 10, refusals: 3, ...limits },
    clock: () => now,
    after(delayMs, run) {
      const timer = { atMs: now + delayMs, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  })
  const idle: FakeSocket[] = []
  const server = new EventEmitter()
  strangers.follow(server as unknown as ConnectionServer, () => {
    for (const socket of idle.splice(0)) gone(socket)
  })
  const gone = (socket: FakeSocket): void => {
    socket.destroy()
    ;(socket.below ?? socket).emit('close')
  }
  const arrive = (address: string, ports?: { remotePort: number; localPort: number }): FakeSocket => {
    const socket = new FakeSocket(address, undefined, ports)
    server.emit('connection', socket)
    return socket
  }
  const secure = (below: FakeSocket): FakeSocket => {
    const socket = new FakeSocket(below.remoteAddress, below)
    server.emit('secureConnection', socket)
    return socket
  }
  const real = (socket: FakeSocket) => socket as unknown as Socket
  return {
    strangers,
    idle,
    timers,
    arrive,
    secure,
    gone,
    knows: (socket: FakeSocket) => strangers.knows(real(socket)),
    requestStarted: (socket: FakeSocket) => strangers.requestStarted(real(socket)),
    requestEnded: (socket: FakeSocket) => strangers.requestEnded(real(socket)),
    refused: (socket: FakeSocket) => strangers.refused(real(socket)),
    /** Lets time pass. */
    pass(ms: number) {
      now += ms
      for (const timer of [...timers]) {
        if (timer.atMs > now) continue
        timers.delete(timer)
        timer.run()
      }
    },
  }
}

t.test('whoever says nothing has to go after a while, before or behind the handshake', async t => {
  const { strangers, timers, arrive, secure, knows, pass } = fakes()
  const shaking = arrive('a')
  pass(6)
  const silent = secure(arrive('a'))
  const known = secure(arrive('a'))
  knows(known)
  pass(4)
  t.strictSame(
    [shaking, silent, known].map(each => each.destroyed),
    [true, false, false],
  )
  pass(6)
  t.strictSame(
    [silent, known].map(each => each.destroyed),
    [true, false],
  )
  t.equal(silent.below?.destroyed, true)
  t.equal(strangers.size, 0)
  t.equal(strangers.ended('patience'), 2)
  t.equal(timers.size, 0, 'nothing is waited for when nobody is there')
  pass(1000)
  t.notOk(known.destroyed)
})

t.test('two ports of the server tell connections apart that come from one port of a client', async t => {
  const { strangers, arrive, secure, knows, pass } = fakes()
  const one = arrive('a', { remotePort: 7, localPort: 6443 })
  const other = arrive('a', { remotePort: 7, localPort: 7443 })
  const known = secure(one)
  const silent = secure(other)
  knows(known)
  t.equal(strangers.size, 1)
  pass(10)
  t.strictSame(
    [known, silent].map(each => each.destroyed),
    [false, true],
  )
})

t.test('a request that runs is waited for; after the answer there is as much time again', async t => {
  const { arrive, secure, requestStarted, requestEnded, pass } = fakes()
  const slow = secure(arrive('a'))
  requestStarted(slow)
  pass(25)
  t.notOk(slow.destroyed)
  requestEnded(slow)
  pass(9)
  t.notOk(slow.destroyed)
  pass(20)
  t.ok(slow.destroyed)
})

t.test('of an address the oldest goes, and of no other', async t => {
  const { strangers, arrive, secure, knows } = fakes({ perAddress: 2 })
  const other = arrive('b')
  const first = secure(arrive('a'))
  knows(first)
  const [second, third, fourth] = [arrive('a'), arrive('a'), arrive('a')]
  t.strictSame(
    [other, first, second, third, fourth].map(each => each.destroyed),
    [false, false, true, false, false],
  )
  t.equal(strangers.ended('perAddress'), 1)
})

t.test('altogether the oldest of the address that has most goes', async t => {
  const { strangers, arrive } = fakes({ total: 4 })
  const few = arrive('few')
  const many = [arrive('many'), arrive('many'), arrive('many')]
  const late = arrive('late')
  t.strictSame(
    [few, ...many, late].map(each => each.destroyed),
    [false, true, false, false, false],
  )
  t.equal(strangers.size, 4)
  t.equal(strangers.ended('total'), 1)
})

t.test('connections that others may have are not to be had here', async t => {
  const { strangers, arrive, secure, knows, pass } = fakes({ connections: 3 })
  strangers.leaveTo(2)
  const known = secure(arrive('a'))
  knows(known)
  const newcomer = arrive('a')
  pass(0)
  t.same([known.destroyed, newcomer.destroyed], [false, true])
  strangers.leaveTo(0)
  const next = arrive('a')
  pass(0)
  t.notOk(next.destroyed)
})

t.test('of all connections strangers go first, then who is idle, and then the newcomer', async t => {
  const { strangers, idle, arrive, secure, knows, gone, pass } = fakes({ connections: 3 })
  const known = [secure(arrive('a')), secure(arrive('a'))]
  for (const each of known) knows(each)
  const stranger = arrive('a')
  const next = secure(arrive('a'))
  t.equal(stranger.destroyed, true)
  gone(stranger)
  t.equal(strangers.connections, 3)
  knows(next)
  idle.push(known[0]!)
  const served = arrive('a')
  pass(0)
  t.strictSame(
    [known[0]!, known[1]!, next, served].map(each => each.destroyed),
    [true, false, false, false],
  )
  knows(secure(served))
  const refused = arrive('a')
  pass(0)
  t.ok(refused.destroyed, 'all others have something to do')
  t.equal(strangers.connections, 3)
  t.equal(strangers.ended('connections'), 2)
})

t.test('many wrong credentials are too many, whoever it was before', async t => {
  const { arrive, secure, knows, refused } = fakes()
  const known = secure(arrive('a'))
  knows(known)
  t.strictSame([refused(known), refused(known), refused(known)], [false, false, true])
})

t.test('who closes is forgotten', async t => {
  const { strangers, arrive, secure, gone, timers } = fakes()
  gone(arrive('a'))
  gone(secure(arrive('a')))
  t.equal(strangers.size, 0)
  t.equal(strangers.connections, 0)
  t.equal(timers.size, 0)
})

t.test('whom an address counts for', async t => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])
    t.equal(networkOf(address), network)
  t.equal(networkOf(undefined), '')
})

t.test('bounds follow from the descriptors', async t => {
  t.match(strangerLimits({}, 0, 96, 40), { connections: 32, total: 16, perAddress: 8 })
  t.match(strangerLimits({}, 0, 1024, 50), { connections: 846, total: 423, perAddress: 212 })
  t.match(strangerLimits({}, 100, 1024, 50), { connections: 746 }, 'sockets that listen need descriptors, too')
  t.match(strangerLimits({}, 0, 1_048_576, 50), { total: 4096, perAddress: 2048 })
  t.match(strangerLimits({}, 0, Infinity, 50), { connections: Infinity, total: 4096, perAddress: 2048 })
  t.match(strangerLimits({}, 0, 40, 39), { connections: 16, total: 8, perAddress: 4 }, 'some always get in')
  t.match(strangerLimits({ total: 10_000, perAddress: 9000 }, 0, 1024, 50), { total: 423, perAddress: 423 })
  t.match(strangerLimits({ total: 100 }, 0, 1024, 50), { total: 100, perAddress: 50 })
  t.match(strangerLimits(), { connections: Number, patienceMs: 10_000 })
})
