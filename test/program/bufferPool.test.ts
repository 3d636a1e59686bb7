// A retained piece of a pool of small buffers retains the pool: that must not be much more than the piece.
import t from 'tap'
import { keepPoolsSmall, POOL_BYTES } from '../../src/program/bufferPool.ts'

t.test('pieces that are kept among many that are not hold little beside themselves', async t => {
  keepPoolsSmall()
  const [piece, each] = [500, 100]
  const kept: Buffer[] = []
  for (let i = 0; i < 200 * each; i++) {
    const cut = Buffer.allocUnsafe(piece)
    if (i % each === 0) kept.push(cut)
  }
  const pools = new Set(kept.slice(20).map(({ buffer }) => buffer))
  const held = [...pools].reduce((sum, pool) => sum + pool.byteLength, 0)
  // each pool is some bytes larger, to begin where processors like it
  t.ok(held <= kept.length * (POOL_BYTES + 64), `${held} bytes held for ${kept.length * piece}`)
})
