import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { ConvertedViews, type Views } from '../../../src/apiserver/registry/convertedViews.ts'
import type { Stored } from '../../../src/storage/store.ts'

const MIB = 1024 * 1024

function world() {
  let now = 0
  const kept = new ConvertedViews(() => now)
  const views: Views = new WeakMap()
  const stored = Array.from({ length: 8 }, () => ({}) as Stored)
  const large = Buffer.alloc(40 * MIB)
  return {
    kept,
    pass: (ms: number) => {
      now += ms
    },
    add: (i: number) => kept.add(views, stored[i]!, large),
    offer: (i: number) => kept.offer(views, stored[i]!, large),
    there: () => stored.flatMap((each, i) => (views.has(each) ? [i] : [])),
  }
}

t.test('of more than a space may keep the oldest goes', async t => {
  const { add, pass, there } = world()
  for (const i of [0, 1, 2]) add(i)
  pass(2000)
  add(3)
  t.same(there(), [1, 2, 3])
  add(4)
  t.same(there(), [2, 3, 4])
})

t.test('what was made just now stays for whoever waits for it', async t => {
  const { add, offer, pass, there } = world()
  for (const i of [0, 1, 2]) add(i)
  pass(1999)
  const refused = t.throws(() => add(3), StatusError) as StatusError
  t.match(refused, {
    reason: 'TooManyRequests',
    message: 'what was converted for lists of this space takes more than 128 MiB; ask for pages (limit), or later',
    details: { retryAfterSeconds: 1 },
  })
  t.notOk(offer(3))
  t.same(there(), [0, 1, 2])
  pass(1)
  t.ok(offer(3))
})

t.test('while somebody reads none goes', async t => {
  const { add, kept, pass, there } = world()
  for (const i of [0, 1, 2]) add(i)
  pass(10_000)
  const [first, second] = [kept.hold(), kept.hold()]
  t.throws(() => add(3))
  first()
  first()
  t.throws(() => add(3))
  second()
  add(3)
  t.same(there(), [1, 2, 3])
})

t.test('one that is larger than all may be is kept alone', async t => {
  const kept = new ConvertedViews(() => 0)
  const views: Views = new WeakMap()
  const stored = {} as Stored
  kept.add(views, stored, Buffer.alloc(129 * MIB))
  t.ok(views.has(stored))
})
