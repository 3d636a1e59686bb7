import t from 'tap'
import { digestInSteps, JsonDigests } from '../../src/apimachinery/jsonDigests.ts'
import { atOnce, type Steps } from '../../src/apimachinery/steps.ts'
import * as fc from '../support/fastCheck.ts'

const text = fc.string({ maxLength: 3, unit: fc.constantFrom('a', '"', 'ü', '😀') })
const leaf = fc.oneof(text, fc.constantFrom(null, true, 0, 1.5))
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    // some are written down in pieces
    fc.tuple(fc.integer({ min: 0, max: 2500 }), leaf).map(([length, item]) => Array(length).fill(item)),
    fc
      .tuple(fc.integer({ min: 0, max: 2500 }), leaf, fc.dictionary(text, tie('value'), { maxKeys: 4 }))
      .map(([length, item, others]) => ({
        ...Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, item])),
        ...others,
      })),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', '7')), fc.oneof(tie('value'), fc.constant(undefined)), {
      maxKeys: 5,
    }),
  ),
})) as { value: fc.Arbitrary<unknown> }
const object = fc.dictionary(text, fc.oneof(value, fc.constant(undefined)), { maxKeys: 3 })

t.test('digests are the same where texts are', async () => {
  fc.assert(
    fc.property(object, object, (a, b) => {
      const [one, other] = [a, b].map(each => atOnce(new JsonDigests().of(each)))
      const again: Record<string, unknown> = JSON.parse(JSON.stringify(a))
      const isSame = JSON.stringify(a) === JSON.stringify(b)
      return (
        one!.bytes === Buffer.byteLength(JSON.stringify(a)) &&
        (one!.digest === other!.digest) === isSame &&
        // keys that are numbers come first in what is parsed, and have come first before
        atOnce(new JsonDigests().of(again)).digest === one!.digest
      )
    }),
    { numRuns: 60 },
  )
})

t.test('any other value in a large one, any other order is another text', async t => {
  const large = (change: (map: Record<string, unknown>, list: unknown[]) => void): object => {
    const map: Record<string, unknown> = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, 'v']))
    const list: unknown[] = Array.from({ length: 3000 }, (_, i) => ({ name: `n${i}` }))
    change(map, list)
    return { a: { map, list, b: [[], {}, [map]] } }
  }
  const digest = (of: object): string => atOnce(digestInSteps(of)).digest
  const same = digest(large(() => {}))
  t.equal(digest(large(() => {})), same)
  const others = [
    large(map => Object.assign(map, { k2999: 'w' })),
    large(map => Object.assign(map, { k0: ['v'] })),
    large(map => delete map.k1500),
    large(map => {
      delete map.k1500
      map.k1500 = 'v'
    }),
    large((_, list) => list.reverse()),
    large((_, list) => list.push(null)),
    large((_, list) => list.splice(1000, 2, [list[1000], list[1001]])),
  ]
  t.equal(new Set([same, ...others.map(digest)]).size, others.length + 1)
})

t.test('what is shared is read once, and in steps', async t => {
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 'v']))
  const digests = new JsonDigests()
  const rests = (steps: Steps<unknown>): number => {
    let count = 0
    while (!steps.next().done) count++
    return count
  }
  t.ok(rests(digests.of({ kind: 'A', data })) >= 20)
  t.ok(rests(digests.of({ kind: 'B', data })) < 5)
})
