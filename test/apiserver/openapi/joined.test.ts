/** Large documents are put together in turns with everybody else. */
import t from 'tap'
import { joined } from '../../../src/apiserver/openapi/joined.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'

const MB = 1024 * 1024

async function join(pieces: readonly Buffer[]): Promise<{ whole: Buffer; turns: number }> {
  let turns = 0
  const later = (turn: () => void): void => {
    turns++
    setImmediate(turn)
  }
  const work = new WorkTurns({ sliceMs: 0, clock: () => 0, later }).begin({ owner: 'a' })
  const whole = await joined(pieces, work)
  return { whole, turns }
}

t.test('many small pieces, and one that is large by itself', async t => {
  const small = Array.from({ length: 8 * 64 }, (_, i) => Buffer.alloc(MB / 64, i))
  const large = Buffer.alloc(8 * MB + 5, 'x')
  const { whole, turns } = await join([...small, large])
  t.ok(whole.equals(Buffer.concat([...small, large])))
  t.ok(turns >= 16, `${turns} turns`)
})

t.test('short ones rest for nobody', async t => {
  t.same(await join([Buffer.from('a'), Buffer.alloc(0), Buffer.from('b')]), { whole: Buffer.from('ab'), turns: 0 })
  t.same(await join([]), { whole: Buffer.alloc(0), turns: 0 })
})
