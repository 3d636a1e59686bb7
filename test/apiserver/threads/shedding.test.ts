/** Which connections and watches a loop lets go that has too much to do. */
import { EventEmitter } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { OpenWatches } from '../../../src/apiserver/endpoints/openWatches.ts'
import { PortSocket } from '../../../src/apiserver/threads/portSocket.ts'
import { Balance, LOOKS, Shedding } from '../../../src/apiserver/threads/shedding.ts'

t.test('an eighth of the watches, the oldest; and of connections beside theirs, with the next answer', async t => {
  const watches = new OpenWatches(true)
  const ended: number[] = []
  const closes = Array.from({ length: 17 }, (_, i) => watches.opened(() => ended.push(i)))
  closes[1]!()
  const server = new EventEmitter()
  const shedding = new Shedding({ watches, connections: () => watches.size + 20 })
  shedding.follow(server)
  const ask = (socket: unknown = {}): boolean => {
    const answer = { shouldKeepAlive: true }
    server.emit('request', { socket }, answer)
    return answer.shouldKeepAlive
  }
  t.ok(ask())
  shedding.shed()
  t.same(ended, [0, 2])
  t.equal(watches.size, 14)
  const { port1, port2 } = new MessageChannel()
  const crossed = new PortSocket(port1)
  t.ok(ask(crossed), 'it is another thread’s to say')
  crossed.destroy()
  port2.close()
  t.same([ask(), ask(), ask(), ask()], [false, false, false, true])
  closes[0]!()
  shedding.shed()
  t.same(ended, [0, 2, 3, 4])
})

t.test('only where another one has room, and not for a moment', async t => {
  const balance = new Balance<string>()
  const look = (a: number, b: number): readonly string[] =>
    balance.look(
      new Map([
        ['a', a],
        ['b', b],
      ]),
    )
  for (let i = 1; i < LOOKS; i++) t.same(look(1, 0), [])
  t.same(look(0.9, 0.3), ['a'])
  t.same(look(1, 0.9), [], 'nobody has room')
  t.same(look(1, 0), [])
  t.same(balance.look(new Map()), [])
})
