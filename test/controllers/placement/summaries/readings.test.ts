/** Readings of one summary: a request that waited knows no change since it began. */
import t from 'tap'
import { type Item, type ItemSource, Readings } from '../../../../src/controllers/placement/summaries/readings.ts'

const ABANDONED = {
  due: true,
  rest: async () => {
    throw new Error('nobody waits')
  },
}
const PACE = { due: false, rest: async () => {} }

function item(stamp: string): Item {
  return { origin: { cluster: stamp }, isStale: true, readings: [], revision: 0, stamp }
}

function source(stamp: string, isCurrent = true): ItemSource {
  return { isCurrent: () => isCurrent, ids: () => ['a'], read: async () => item(stamp) }
}

t.test('a source that is out of date hides no change', async t => {
  const readings = new Readings([])
  await readings.refresh(source('first'), PACE)
  readings.touchAll()
  await readings.refresh(source('before', false), PACE)
  t.same(readings.staleClusters(), ['before'])
  await readings.refresh(source('now'), PACE)
  t.same(readings.staleClusters(), ['now'])
  await readings.refresh(source('later'), PACE)
  t.same(readings.staleClusters(), ['now'], 'nothing was touched')
})

t.test(
  'a walk over many objects of which few count rests, and a change meanwhile counts for the next time',
  async t => {
    const readings = new Readings([])
    const found = new Map([['a', 'a1']])
    let rests = 0
    const pace = {
      due: true,
      rest: async () => {
        if (++rests > 1) return
        found.set('b', 'b1')
        readings.touch('b')
      },
    }
    const many: ItemSource = {
      isCurrent: () => true,
      *ids() {
        yield* found.keys()
        for (let i = 0; i < 50; i++) yield undefined
      },
      async read(id) {
        const stamp = found.get(id)
        return stamp === undefined ? undefined : item(stamp)
      },
    }
    await readings.refresh(many, pace)
    t.ok(rests > 50, `${rests} rests`)
    await readings.refresh(many, PACE)
    t.same(readings.staleClusters(), ['a1', 'b1'])
  },
)

t.test('work that ends before its time is done by the next', async t => {
  const readings = new Readings([])
  const ended = readings.refresh(source('first'), ABANDONED)
  const next = readings.refresh(source('second'), PACE)
  await t.rejects(ended, /nobody waits/)
  await next
  t.same(readings.staleClusters(), ['second'])
})
