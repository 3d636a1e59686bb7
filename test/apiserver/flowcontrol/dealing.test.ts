/** Which queues a flow may use. */
import t from 'tap'
import { dealHand, flowHash } from '../../../src/apiserver/flowcontrol/dealing.ts'
import * as fc from '../../support/fastCheck.ts'

/** Cards are taken out of a deck of cards: what the arithmetic stands for. */
function dealFromDeck(hash: bigint, queues: number, hand: number): number[] {
  const deck = Array.from({ length: queues }, (_, index) => index)
  let rest = hash
  return Array.from({ length: hand }, () => {
    const left = BigInt(deck.length)
    const [card] = deck.splice(Number(rest % left), 1)
    rest /= left
    return card!
  })
}

t.test('known hands, worked out with another program', async t => {
  t.equal(flowHash('service-accounts', 'root', 'system:serviceaccount:default:a'), 13160002766372515288n)
  t.same(dealHand(13160002766372515288n, 128, 6), [88, 102, 4, 84, 7, 10])
  t.equal(flowHash('global-default', 'abc', 'alice'), 2710703120513972656n)
  t.same(dealHand(2710703120513972656n, 128, 6), [48, 83, 50, 55, 88, 14])
  t.equal(flowHash('global-default', 'abd', 'alice'), 7181413304790635722n)
  t.same(dealHand(7181413304790635722n, 128, 6), [74, 23, 82, 81, 86, 33])
  t.equal(flowHash('x', '', ''), 15365348853391199605n)
  t.same(dealHand(15365348853391199605n, 16, 4), [5, 6, 2, 14])
  t.equal(flowHash('x', '', ''), 15365348853391199605n)
  t.same(dealHand(15365348853391199605n, 8, 8), [5, 0, 6, 2, 1, 4, 3, 7])
})

t.test('a hand is as if dealt from a deck', async () => {
  const deck = fc
    .integer({ min: 1, max: 200 })
    .chain(queues => fc.tuple(fc.constant(queues), fc.integer({ min: 1, max: Math.min(queues, 8) })))
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), deck, (hash, [queues, hand]) => {
      const dealt = dealHand(hash, queues, hand)
      return JSON.stringify(dealt) === JSON.stringify(dealFromDeck(hash, queues, hand)) && new Set(dealt).size === hand
    }),
  )
})

t.test('who is called alike in two spaces is in two flows, and no name makes one flow of another', async t => {
  t.not(flowHash('s', 'one', 'ann'), flowHash('s', 'two', 'ann'))
  t.not(flowHash('s', 'one', 'ann'), flowHash('s', 'on', 'eann'))
})
