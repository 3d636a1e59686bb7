// Order of declared parts, and the end of all of them.

import t from 'tap'
import { Lifecycle, type Part } from '../../src/client/lifecycle.ts'
import * as fc from '../support/fastCheck.ts'

/** Parts that write down what happens to them. */
function recorder() {
  const log: string[] = []
  const part = (name: string, needs: string[] = [], faults: { start?: boolean; stop?: boolean } = {}): Part => ({
    name,
    needs,
    async start() {
      log.push(`+${name}`)
      if (faults.start) throw new Error(`${name} cannot start`)
    },
    async stop() {
      log.push(`-${name}`)
      if (faults.stop) throw new Error(`${name} cannot stop`)
    },
  })
  return { log, part }
}

t.test('parts start after what they need and stop before it, whatever they need', async t => {
  const count = 8
  const needs = fc.tuple(
    ...Array.from({ length: count }, (_, i) => fc.subarray(Array.from({ length: i }, (_, j) => `p${j}`))),
  )
  const order = fc.shuffledSubarray(
    Array.from({ length: count }, (_, i) => i),
    { minLength: count },
  )
  await fc.assert(
    fc.asyncProperty(needs, order, async (needs, order) => {
      const { log, part } = recorder()
      const lifecycle = new Lifecycle(order.map(i => part(`p${i}`, needs[i])))
      await lifecycle.start()
      const started = log.splice(0)
      needs.forEach((names, i) => {
        for (const name of names) t.ok(started.indexOf(`+${name}`) < started.indexOf(`+p${i}`))
      })
      await lifecycle.stop()
      t.same(
        log,
        started.toReversed().map(entry => entry.replace('+', '-')),
      )
      await lifecycle.stop()
      t.equal(log.length, count, 'stopped once')
    }),
    { numRuns: 50 },
  )
})

t.test('after a failed start everything that had begun is stopped, the failed part too', async t => {
  const { log, part } = recorder()
  const parts = [
    part('store'),
    part('http', ['store']),
    part('spaces', ['http'], { start: true }),
    part('late', ['spaces']),
  ]
  await t.rejects(new Lifecycle(parts).start(), { message: 'spaces cannot start' })
  t.same(log, ['+store', '+http', '+spaces', '-spaces', '-http', '-store'])
})

t.test('a part that fails to stop keeps no other one running, and is told', async t => {
  const { log, part } = recorder()
  const lifecycle = new Lifecycle([part('store'), part('http', ['store'], { stop: true })])
  await lifecycle.start()
  await t.rejects(lifecycle.stop(), {
    errors: [{ message: 'http did not stop', cause: { message: 'http cannot stop' } }],
  })
  t.same(log, ['+store', '+http', '-http', '-store'])
})

t.test('when start and stop fail, both are told', async t => {
  const { part } = recorder()
  const parts = [part('store', [], { stop: true }), part('http', ['store'], { start: true })]
  await t.rejects(new Lifecycle(parts).start(), {
    message: 'http did not start, and not everything stopped',
    errors: [{ message: 'http cannot start' }, { errors: [{ message: 'store did not stop' }] }],
  })
})

t.test('declarations that cannot be met are refused at once', async t => {
  const { part } = recorder()
  t.throws(() => new Lifecycle([part('a', ['b'])]), { message: 'a needs b, which is no part' })
  t.throws(() => new Lifecycle([part('a'), part('a')]), { message: 'two parts have one name' })
  t.throws(() => new Lifecycle([part('a', ['b']), part('b', ['a'])]), {
    message: 'parts need each other: a > b > a',
  })
})
