/** The memory is bounded by number and weight. */
import t from 'tap'
import { RecentlyOf } from '../../src/apimachinery/recentlyOf.ts'

const keys = Array.from({ length: 100 }, (_, name) => ({ name }))

t.test('the newest are remembered, and not much more', async t => {
  const recent = new RecentlyOf<object, number>({ entries: 10, weight: 1000, of: () => 1 })
  for (const [i, key] of keys.entries()) {
    recent.set(key, i)
    for (let back = 0; back < Math.min(i + 1, 10); back++) t.equal(recent.get(keys[i - back]!), i - back)
    if (i >= 20) t.equal(recent.get(keys[i - 20]!), undefined)
  }
})

t.test('what is heavy makes room sooner', async t => {
  const recent = new RecentlyOf<object, number>({ entries: 10, weight: 100, of: value => value })
  for (const key of keys.slice(0, 3)) recent.set(key, 100)
  t.strictSame(
    keys.slice(0, 3).map(key => recent.get(key)),
    [undefined, 100, 100],
  )
})

t.test('what is said anew counts', async t => {
  const recent = new RecentlyOf<object, number>({ entries: 2, weight: 100, of: () => 1 })
  recent.set(keys[0]!, 1)
  recent.set(keys[1]!, 1)
  recent.set(keys[2]!, 1)
  recent.set(keys[0]!, 2)
  t.strictSame([recent.get(keys[0]!), recent.get(keys[1]!)], [2, 1])
})
