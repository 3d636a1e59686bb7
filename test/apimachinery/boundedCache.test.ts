// A cache against a list that is searched from its beginning.

import t from 'tap'
import { BoundedCache } from '../../src/apimachinery/boundedCache.ts'
import * as fc from '../support/fastCheck.ts'

/** Oldest first; a value is its own weight. */
class Model {
  readonly entries: number
  readonly weight: number
  list: [string, number][] = []

  constructor(entries: number, weight: number) {
    this.entries = entries
    this.weight = weight
  }

  peek(key: string): number | undefined {
    return this.list.find(([name]) => name === key)?.[1]
  }

  get(key: string): number | undefined {
    const value = this.peek(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: number): void {
    this.delete(key)
    this.list.push([key, value])
    const isTooMuch = () =>
      this.list.length > this.entries || this.list.reduce((sum, [, each]) => sum + each, 0) > this.weight
    while (this.list.length > 1 && isTooMuch()) this.list.shift()
  }

  delete(key: string): boolean {
    const before = this.list.length
    this.list = this.list.filter(([name]) => name !== key)
    return this.list.length < before
  }

  clear(): void {
    this.list = []
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const step = fc.oneof(
  fc.record({ call: fc.constantFrom('get' as const, 'peek' as const, 'delete' as const), key }),
  fc.record({ call: fc.constant('set' as const), key, value: fc.nat(9) }),
  fc.record({ call: fc.constant('clear' as const) }),
)

type Call =
  | { call: 'get' | 'peek' | 'delete'; key: string }
  | { call: 'set'; key: string; value: number }
  | { call: 'clear' }

function run(on: Model | BoundedCache<string, number>, each: Call) {
  if (each.call === 'clear') return on.clear()
  return each.call === 'set' ? on.set(each.key, each.value) : on[each.call](each.key)
}

t.test('it holds what a list would, the oldest first, whatever is asked', async t => {
  const bounds = fc.record({ entries: fc.integer({ min: 1, max: 4 }), weight: fc.constantFrom(5, 12, Infinity) })
  fc.assert(
    fc.property(bounds, fc.array(step, { maxLength: 40 }), ({ entries, weight }, steps) => {
      const model = new Model(entries, weight)
      const cache = new BoundedCache<string, number>(
        weight === Infinity ? entries : { entries, weight: { limit: weight, of: value => value } },
      )
      for (const each of steps) {
        t.equal(run(cache, each), run(model, each))
        t.strictSame([...cache], model.list)
        t.equal(cache.size, model.list.length)
        for (const [name] of model.list) t.ok(cache.has(name))
      }
    }),
    { numRuns: 50 },
  )
})

t.test('what was asked for stays, what was only looked at goes', async t => {
  const cache = new BoundedCache<string, number>(2)
  const names = () => [...cache].map(([name]) => name)
  cache.set('first', 1)
  cache.set('second', 2)
  cache.get('first')
  cache.set('third', 3)
  t.strictSame(names(), ['first', 'third'])
  cache.peek('first')
  cache.set('fourth', 4)
  t.strictSame(names(), ['third', 'fourth'])
})

t.test('what alone is too heavy is kept until something else comes', async t => {
  const cache = new BoundedCache<string, string>({ entries: 9, weight: { limit: 4, of: text => text.length } })
  cache.set('small', 'ab')
  cache.set('large', 'abcdefgh')
  t.strictSame([...cache], [['large', 'abcdefgh']])
  cache.set('small', 'ab')
  t.strictSame([...cache], [['small', 'ab']])
})

t.test('what is set only if there is room sends nothing away', async t => {
  const cache = new BoundedCache<string, string>({
    entries: 3,
    weight: { limit: 6, of: (text, key) => text.length + key.length },
  })
  t.ok(cache.setIfRoom('a', 'xx'))
  t.notOk(cache.setIfRoom('b', 'xxx'), 'too heavy')
  t.ok(cache.setIfRoom('b', ''))
  t.ok(cache.setIfRoom('c', ''))
  t.notOk(cache.setIfRoom('', ''), 'too many')
  t.strictSame(
    [...cache].map(([key]) => key),
    ['a', 'b', 'c'],
  )
})

t.test('who asks again for what was asked for last moves nothing', async t => {
  const cache = new BoundedCache<string, number>(3)
  cache.set('a', 1)
  const entries = cache[Symbol.iterator]()
  t.same(entries.next().value, ['a', 1])
  t.equal(cache.get('a'), 1)
  t.equal(entries.next().done, true, 'an entry that moves comes again')
})

t.test('many come and go, some asked for between: it stays what a list would be', async t => {
  const [model, cache] = [new Model(50, Infinity), new BoundedCache<string, number>(50)]
  for (let i = 0; i < 2000; i++) {
    const name = `${i % 7 === 0 ? i - 40 : i}`
    const call = i % 7 === 0 ? 'get' : i % 11 === 0 ? 'delete' : 'set'
    const each: Call = call === 'set' ? { call, key: name, value: i } : { call, key: name }
    t.equal(run(cache, each), run(model, each))
    if (i % 100 === 0) t.strictSame([...cache], model.list)
    if (i % 500 === 499) for (const on of [cache, model]) run(on, { call: 'clear' })
  }
})
