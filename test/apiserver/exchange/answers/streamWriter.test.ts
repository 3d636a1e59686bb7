import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { BlockWriter, plainSink } from '../../../../src/apiserver/exchange/answers/blockWriter.ts'
import { responseSink, writeEach } from '../../../../src/apiserver/exchange/answers/streamWriter.ts'
import { WriteTurns } from '../../../../src/apiserver/exchange/answers/writeTurns.ts'

/** Both ends of one answer. */
async function answer(t: Test): Promise<{ raw: ServerResponse; response: IncomingMessage }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const arrived = once(server, 'request')
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false })
  const [, raw] = (await arrived) as [IncomingMessage, ServerResponse]
  raw.flushHeaders()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  t.teardown(() => response.destroy())
  return { raw, response }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
const line = (i: number): Buffer => Buffer.from(`${i}\n`)
const lines = (count: number): string => Array.from({ length: count }, (_, i) => `${i}\n`).join('')

t.test('frames arrive in order and whole, those before the end included', async t => {
  const { raw, response } = await answer(t)
  const sink = responseSink(raw, new WriteTurns(() => 0).of([]))
  for (let i = 0; i < 100; i++) t.equal(await sink.write([line(i), Buffer.alloc(0)]), true)
  sink.end()
  t.equal(await textOf(response), lines(100))
})

t.test('who speaks HTTP/1.0 gets frames without chunks', async t => {
  const server = createServer((_, raw) => {
    raw.flushHeaders()
    const sink = responseSink(raw, new WriteTurns(() => 0).of([]))
    void Promise.resolve(sink.write([line(1), line(2)])).then(() => sink.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.0\r\n\r\n')
  let text = ''
  for await (const bytes of socket) text += bytes
  t.equal(text.slice(text.indexOf('\r\n\r\n') + 4), '1\n2\n')
})

t.test('who does not read makes the watch wait, who goes away ends it', async t => {
  const { raw, response } = await answer(t)
  const sink = responseSink(raw, new WriteTurns(() => 0).of([]))
  const frame = Buffer.alloc(64 * 1024, 'x')
  let written = 0
  const writing = (async () => {
    while (await sink.write([frame])) written += frame.length
  })()
  while (!sink.busy) await new Promise(resolve => setImmediate(resolve))
  t.ok(written < 64 * 1024 * 1024, 'what is buffered has a bound')
  response.destroy()
  await writing
  t.equal(await sink.write([frame]), false)
})

t.test('a batch of any size is copied and encrypted a piece at a time, and arrives whole', async t => {
  const { raw, response } = await answer(t)
  const sink = responseSink(raw, new WriteTurns(() => 0).of([]))
  const frames = Array.from({ length: 200 }, (_, i) => Buffer.alloc(100_000, String(i % 10)))
  const written = sink.write(frames)
  while (!raw.socket!.writableNeedDrain) await new Promise(resolve => setImmediate(resolve))
  t.ok(raw.writableLength < 512 * 1024, `${raw.writableLength}`)
  const reading = (async () => {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  })()
  t.ok(await written)
  sink.end()
  t.ok((await reading).equals(Buffer.concat(frames)))
})

t.test('a large frame is copied for none of its watchers', async t => {
  const frame = Buffer.alloc(900_000, 'x')
  for (let watcher = 0; watcher < 2; watcher++) {
    const { raw, response } = await answer(t)
    const socket = raw.socket!
    const write = socket.write.bind(socket)
    let copied = 0
    socket.write = (piece: Buffer, ...rest: []) => {
      if (piece.buffer !== frame.buffer) copied += piece.length
      return write(piece, ...rest)
    }
    const sink = responseSink(raw, new WriteTurns(() => 0).of([]))
    const reading = textOf(response)
    t.ok(await sink.write([line(1), frame, line(2)]))
    sink.end()
    t.ok((await reading) === `1\n${frame}2\n`)
    t.ok(copied < 100, `${copied} bytes besides`)
  }
})

t.test('frames of what nobody reads are not made', async t => {
  let made = 0
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const sink = { busy: false, write: () => promise, end() {} }
  const items = Array.from({ length: 1000 }, (_, i) => i)
  const writing = writeEach(sink, items, () => {
    made++
    return Buffer.alloc(10_000)
  })
  t.equal(made, 7)
  resolve(false)
  t.equal(await writing, false)
  t.equal(made, 7)
})

t.test('turns are taken in order, and other work goes on between them', async t => {
  const turns = new WriteTurns(() => 0).of(['tenant', '', 'ann'])
  const order: number[] = []
  let between = 0
  const all = Promise.withResolvers<void>()
  for (let i = 0; i < 100; i++)
    turns.schedule(() => {
      order.push(i)
      if (i === 99) all.resolve()
    })
  const other = (): void => {
    if (order.length === 100) return
    between++
    setImmediate(other)
  }
  setImmediate(other)
  await all.promise
  t.same(
    order,
    Array.from({ length: 100 }, (_, i) => i),
  )
  t.ok(between > 1)
})

t.test('large answers arrive as they are, at the same time and one after the other', async t => {
  const blocks = new BlockWriter()
  const send = async (seed: number): Promise<void> => {
    const { raw, response } = await answer(t)
    const pieces = Array.from({ length: 300 }, (_, i) => Buffer.alloc((i * 7919) % 5000, seed + i))
    const received = textOf(response)
    await blocks.write(plainSink(raw), [pieces])
    raw.end()
    t.ok((await received) === Buffer.concat(pieces).toString(), `answer ${seed}`)
  }
  await Promise.all([send(1), send(2), send(3)])
  await send(4)
})

t.test('a large answer to somebody who goes away comes to an end', async t => {
  const { raw, response } = await answer(t)
  const writing = new BlockWriter().write(plainSink(raw), [Array.from({ length: 1000 }, () => Buffer.alloc(64 * 1024))])
  response.destroy()
  t.equal(await writing, false)
})

t.test('who has hundreds of watches makes nobody else wait for their turn', t => {
  const later: (() => void)[] = []
  const turns = new WriteTurns(
    () => 0,
    turn => void later.push(turn),
  )
  const written: string[] = []
  const [greedy, other] = [turns.of(['crowd', '', 'eve']), turns.of(['team', '', 'ann'])]
  for (let i = 0; i < 600; i++) greedy.schedule(() => written.push('eve'))
  other.schedule(() => written.push('ann'))
  later.shift()!()
  t.equal(written.length, 16)
  t.same(written.slice(0, 2), ['eve', 'ann'])
  while (later.length > 0) later.shift()!()
  t.equal(written.length, 601)
  t.end()
})

t.test('large events end a turn before there were sixteen of them', t => {
  const later: (() => void)[] = []
  let nowMs = 0
  const turns = new WriteTurns(
    () => nowMs,
    turn => void later.push(turn),
  ).of(['tenant', '', 'ann'])
  let written = 0
  const writing = (ms: number) => (): void => {
    nowMs += ms
    written++
  }
  for (let i = 0; i < 8; i++) turns.schedule(writing(0.5))
  turns.schedule(writing(50))
  turns.schedule(writing(50))
  const inTurns: number[] = []
  while (later.length > 0) {
    const before = written
    later.shift()!()
    inTurns.push(written - before)
  }
  t.same(inTurns, [4, 4, 1, 1], '2 ms of them, and one at least')
  t.end()
})
