/** How long answers keep their connection, and how the end of a long one leaves. */
import { Agent, createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { Answer } from '../../../src/apiserver/http/answer.ts'

t.test('a connection on which nothing is asked outlives what the server keeps for everybody', async t => {
  const sockets: Socket[] = []
  const server = createServer({ ServerResponse: Answer } as object, (request, response) => {
    const answer = response as Answer
    sockets.push(request.socket)
    if (request.url === '/kept') answer.keep(420_000)
    answer.send('here')
  })
  server.keepAliveTimeout = 90_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => {
    agent.destroy()
    server.close()
  })
  const ask = async (path: string): Promise<IncomingMessage> => {
    const { port } = server.address() as AddressInfo
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get({ host: '127.0.0.1', port, path, agent }, resolve).once('error', reject),
    )
    await text(answer)
    return answer
  }
  const others = (await ask('/')).headers['keep-alive']
  t.equal(others, 'timeout=90')
  for (let time = 0; time < 2; time++) {
    const { headers } = await ask('/kept')
    t.equal(headers['keep-alive'], 'timeout=420')
    t.equal(sockets.at(-1)?.timeout, 420_000)
  }
  t.equal(new Set(sockets).size, 1, 'one connection')
})

/** Pieces of one answer; the last is what counts. */
const BODIES: Readonly<Record<string, number[]>> = {
  whole: [300_000],
  'long pieces': [128 * 1024, 128 * 1024, 5],
  'short pieces': Array(40).fill(7000),
  'pieces of the buffer': Array(5).fill(64 * 1024),
  'an end beyond what is taken at once': [40_000, 40_000],
}

t.test('when the client has all of an answer, its connection has room for the next request', async t => {
  for (const [what, lengths] of Object.entries(BODIES)) {
    const pieces = lengths.map((length, n) => Buffer.alloc(length, `${n}`))
    const server = createServer({ ServerResponse: Answer } as object, (_request, response) => {
      const answer = response as Answer
      answer.once('finish', () => finished())
      if (pieces.length === 1) answer.send(pieces[0])
      else void answer.sendHead(200, {}).writeAll(Readable.from(pieces))
    })
    let finished: () => void = () => {}
    // Whether the connection is full, at each write to the system.
    const isFull: boolean[] = []
    server.on('connection', (socket: Socket) => {
      const { _write, _writev } = socket
      socket._write = function (...args) {
        isFull.push(socket.writableNeedDrain)
        return _write.apply(this, args)
      }
      socket._writev = function (...args) {
        isFull.push(socket.writableNeedDrain)
        return _writev!.apply(this, args)
      }
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const over = new Promise<void>(resolve => {
      finished = resolve
    })
    const body = await new Promise<IncomingMessage>((resolve, reject) =>
      get({ host: '127.0.0.1', port, agent: false }, resolve).once('error', reject),
    ).then(text)
    await over
    t.ok(body === Buffer.concat(pieces).toString(), `${what}: it comes whole`)
    t.ok(isFull.length > 0)
    t.equal(isFull.at(-1), false, `${what}: with the end it is not full`)
  }
})

for (const length of [64 * 1024, 1024])
  t.test(`a client that leaves ends the making of its answer, in pieces of ${length} bytes`, async t => {
    const made = Promise.withResolvers<number>()
    async function* pieces(): AsyncGenerator<Buffer> {
      let count = 0
      try {
        for (; ; count++) {
          yield Buffer.alloc(length)
          await new Promise(setImmediate)
        }
      } finally {
        made.resolve(count)
      }
    }
    const server = createServer({ ServerResponse: Answer } as object, (_request, response) => {
      void (response as Answer).writeAll(pieces())
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const asked = get({ host: '127.0.0.1', port, agent: false }, answer => answer.once('data', () => asked.destroy()))
    asked.on('error', () => {})
    t.ok((await made.promise) > 0)
  })
