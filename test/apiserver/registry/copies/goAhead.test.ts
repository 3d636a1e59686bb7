/** The first copies of a content go ahead until the others can follow. */
import t from 'tap'
import { goAhead } from '../../../../src/apiserver/registry/copies/copyWrites.ts'

/** Copies of one content whose bodies have these names: the first one of a body makes it known, unless it is refused. */
async function ahead(bodies: readonly string[]) {
  const content = {}
  const known = new Set<string>()
  const first: string[] = []
  const done = await goAhead(
    bodies.map(() => content),
    i => known.has(bodies[i]!),
    async i => {
      first.push(bodies[i]!)
      if (bodies[i] === 'refused') return undefined
      known.add(bodies[i]!)
      return bodies[i]
    },
  )
  return { done, first }
}

t.test('one for each body, and no more than some', async t => {
  const { done, first } = await ahead(['a', 'a', 'b', 'a', 'c', 'd', 'b'])
  t.same(first, ['a', 'b', 'c'])
  t.same(done, ['a', undefined, 'b', undefined, 'c', undefined, undefined])
})

t.test('behind one that is refused goes the next', async t => {
  t.same((await ahead(['refused', 'a', 'a'])).first, ['refused', 'a'])
  t.same((await ahead(Array(6).fill('refused'))).first, Array(3).fill('refused'))
})

t.test('contents do not wait for each other', async t => {
  const waiting: (() => void)[] = []
  const going = goAhead(
    [{}, {}],
    () => false,
    i => new Promise<number>(resolve => waiting.push(() => resolve(i))),
  )
  t.equal(waiting.length, 2)
  for (const go of waiting) go()
  t.same(await going, [0, 1])
})
