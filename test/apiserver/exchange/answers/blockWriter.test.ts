/** Blocks that somebody fills leave one after the other, and others get their turn in between, not behind the last. */
import t from 'tap'
import { BlockWriter } from '../../../../src/apiserver/exchange/answers/blockWriter.ts'

const BLOCK_BYTES = 128 * 1024

/** Gives blocks of these lengths, and counts the turns of others. */
function written(lengths: readonly number[], goneAfter = Number.POSITIVE_INFINITY) {
  const sent: number[] = []
  let rests = 0
  let asked = 0
  const out = { write: async (block: Buffer) => sent.push(block.length) <= goneAfter }
  const work = { due: true, rest: async () => void rests++ }
  const done = new BlockWriter().writeFilled(out, () => lengths[asked++] ?? 0, work)
  return done.then(isWhole => ({ isWhole, sent, rests, asked }))
}

t.test('all of them', async t => {
  const lengths = [BLOCK_BYTES, BLOCK_BYTES - 1, 7]
  t.same(await written(lengths), { isWhole: true, sent: lengths, rests: 2, asked: 4 })
  t.same(await written([7]), { isWhole: true, sent: [7], rests: 0, asked: 2 })
  t.same(await written([]), { isWhole: true, sent: [], rests: 0, asked: 1 })
})

t.test('none is made for who has gone', async t => {
  t.same(await written([BLOCK_BYTES, BLOCK_BYTES, 7], 1), {
    isWhole: false,
    sent: [BLOCK_BYTES, BLOCK_BYTES],
    rests: 1,
    asked: 2,
  })
})
