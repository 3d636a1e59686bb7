/** Long answers are made as they are read, in slices, and no further when the client has gone. */
import { PassThrough } from 'node:stream'
import t from 'tap'
import { type Pieces, sendPieces, streamPieces } from '../../../../src/apiserver/exchange/answers/answerPieces.ts'
import { BlockWriter } from '../../../../src/apiserver/exchange/answers/blockWriter.ts'
import { Compression } from '../../../../src/apiserver/exchange/answers/compression.ts'
import { type Exchange, type Services, workOf } from '../../../../src/apiserver/exchange/exchange.ts'
import { Abandoned, WorkTurns } from '../../../../src/program/workTurns.ts'

const PIECE = Buffer.alloc(1024, 'x')
/** Nothing that a real response needs more for: one block, and one that is being made. */
const WINDOW_PIECES = 400

/** An answer to a client that reads on command. `turns` counts others' turns. */
function answer({ sliceMs = 0 } = {}) {
  let turns = 0
  const work = new WorkTurns({
    clock: () => 0,
    sliceMs,
    later: turn => {
      turns++
      setImmediate(turn)
    },
  })
  const sent: Buffer[] = []
  const raw = Object.assign(new PassThrough({ highWaterMark: 1 }), {
    sendHead: () => raw,
    code: () => raw,
    header: () => raw,
    type: () => raw,
    send: (body: Buffer) => void sent.push(body),
  })
  const services = { work, blocks: new BlockWriter(), compression: new Compression() } as unknown as Services
  const exchange = { answer: raw, request: { headers: {} }, warnings: [], space: 'root' } as unknown as Exchange
  let made = 0
  let ended = false
  const pieces = function* (count: number): Generator<readonly Buffer[]> {
    try {
      for (; made < count; made++) yield [PIECE]
    } finally {
      ended = true
    }
  }
  const streamed = (count: number): Pieces => ({
    pieces: pieces(count),
    format: 'json',
    items: [],
    work: workOf(services, exchange),
  })
  const state = () => ({ turns, made, ended })
  return { services, exchange, raw, sent, streamed, state }
}

t.test('a short one leaves as a whole', async t => {
  const { services, exchange, streamed, sent, state } = answer()
  await sendPieces(services, exchange, streamed(10))
  t.equal(sent[0]?.length, 10 * 1024)
  t.ok(state().turns >= 10, 'others had their turn in between')
})

t.test('a long one is made as it is read, with turns for others', async t => {
  const { services, exchange, raw, streamed, state } = answer()
  const done = sendPieces(services, exchange, streamed(2000))
  await new Promise(resolve => raw.once('readable', resolve))
  t.ok(state().made < WINDOW_PIECES, `${state().made} made before any was read`)
  let read = 0
  for await (const chunk of raw) read += (chunk as Buffer).length
  await done
  t.equal(read, 2000 * 1024)
  t.ok(state().turns >= 1000, `${state().turns} turns`)
})

t.test('one whose pieces are there already leaves with turns for others, too', async t => {
  const { services, exchange, raw, streamed, state } = answer()
  const known = Array.from({ length: 40 }, () => Buffer.alloc(128 * 1024, 'x'))
  const done = streamPieces(services, exchange, { ...streamed(0), pieces: [known] })
  let read = 0
  for await (const chunk of raw) read += (chunk as Buffer).length
  await done
  t.equal(read, 40 * 128 * 1024)
  t.ok(state().turns >= 40, `${state().turns} turns`)
})

t.test('one whose client goes ends', async t => {
  const unread = answer()
  const writing = streamPieces(unread.services, unread.exchange, unread.streamed(100_000))
  await new Promise(resolve => unread.raw.once('readable', resolve))
  unread.raw.destroy()
  await writing.catch((error: unknown) => t.ok(error instanceof Abandoned))
  t.match(unread.state(), { ended: true })
  t.ok(unread.state().made < WINDOW_PIECES)

  const early = answer()
  const begun = sendPieces(early.services, early.exchange, early.streamed(100_000))
  early.raw.destroy()
  await t.rejects(begun, Abandoned)
  t.ok(early.state().made <= 1, 'one that left before the answer began')
})
