/** Compression: how much of the thread pool it takes, who waits for it, and that what leaves is gzip. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { PassThrough } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { BlockWriter } from '../../../../src/apiserver/exchange/answers/blockWriter.ts'
import { Compression, seatsIn } from '../../../../src/apiserver/exchange/answers/compression.ts'
import { CompressionSeats } from '../../../../src/apiserver/exchange/answers/compressionSeats.ts'
import { type Deflate, deflater } from '../../../../src/apiserver/exchange/answers/deflater.ts'
import { GzipWriter } from '../../../../src/apiserver/exchange/answers/gzipWriter.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../../support/server.ts'

const GZIP = { headers: { 'accept-encoding': 'gzip' } }

/** Work that ends on command. */
function gates(): { work(name: string): () => Promise<string>; started: string[]; finish(name: string): void } {
  const open = new Map<string, () => void>()
  const started: string[] = []
  return {
    started,
    work: name => () => {
      started.push(name)
      return new Promise(resolve => open.set(name, () => resolve(name)))
    },
    finish: name => open.get(name)!(),
  }
}

t.test('no more than the seats are taken; the line moves in order', async t => {
  const seats = new CompressionSeats({ seats: 2, crowd: 3, crowdBytes: 100 })
  const { work, started, finish } = gates()
  const running = ['a', 'b', 'c', 'd'].map(name => seats.run(work(name), { bytes: 1 }))
  t.strictSame(started, ['a', 'b'])
  t.notOk(seats.isCrowded)
  running.push(seats.run(work('e'), { bytes: 1 }))
  t.ok(seats.isCrowded, 'newcomers had better do without')
  finish('b')
  t.equal(await running[1], 'b')
  t.strictSame(started, ['a', 'b', 'c'])
  t.notOk(seats.isCrowded)
  finish('a')
  finish('c')
  await Promise.all([running[0], running[2]])
  t.strictSame(started, ['a', 'b', 'c', 'd', 'e'])
  finish('d')
  finish('e')
  t.strictSame(await Promise.all(running), ['a', 'b', 'c', 'd', 'e'])
})

t.test('who goes away leaves the line; work that fails gives its seat back', async t => {
  const seats = new CompressionSeats({ seats: 1, crowd: 3, crowdBytes: 100 })
  const { work, started, finish } = gates()
  const first = seats.run(work('first'), { bytes: 100 })
  const gone = new AbortController()
  const leaver = seats.run(work('leaver'), { bytes: 100, signal: gone.signal })
  t.ok(seats.isCrowded, 'by what it holds')
  gone.abort()
  t.equal(await leaver, undefined)
  t.notOk(seats.isCrowded)
  t.equal(
    await seats.run(work('late'), { bytes: 1, signal: gone.signal }),
    undefined,
    'who is gone already does not even wait',
  )
  const fail = async (): Promise<never> => {
    throw new Error('no memory')
  }
  const failing = seats.run(fail, { bytes: 1 })
  const last = seats.run(work('last'), { bytes: 1 })
  finish('first')
  await first
  await t.rejects(failing, /no memory/)
  finish('last')
  t.equal(await last, 'last')
  t.strictSame(started, ['first', 'last'])
})

t.test('blocks make one gzip member, whatever compressor deflates them', async t => {
  const deflate = deflater()
  const text = Buffer.from('{"kind":"ConfigMap"},'.repeat(5000))
  const members = [[text], [text, randomBytes(200_000), text.subarray(0, 1)], [randomBytes(1), text]]
  const made = await Promise.all(
    members.map(async blocks => {
      const gzip = new GzipWriter(deflate)
      const chunks: Buffer[] = []
      for (const block of blocks) chunks.push(await gzip.next(block))
      return Buffer.concat([...chunks, gzip.end()])
    }),
  )
  for (const [i, blocks] of members.entries()) t.ok(gunzipSync(made[i]!).equals(Buffer.concat(blocks)))
  t.ok(made[0]!.length < text.length / 50)
})

/** Counts how many compress at a time. */
function counted(): { deflate: Deflate; most(): number } {
  const deflate = deflater()
  let running = 0
  let most = 0
  return {
    most: () => most,
    async deflate(block) {
      most = Math.max(most, ++running)
      try {
        return await deflate(block)
      } finally {
        running--
      }
    },
  }
}

const PIECES = Array.from({ length: 400 }, (_, i) => Buffer.from(`{"name":"object-${i}"},`.repeat(100)))

t.test('the pool always has a thread for the store, whatever names and answers take', async t => {
  for (let threads = 1; threads <= 64; threads++) {
    const seats = seatsIn(threads)
    if (seats > 0) t.ok(seats + Math.floor((threads + 1) / 2) < threads, `${seats} of ${threads}`)
  }
  t.equal(seatsIn(8), 2, 'as bin/orrery sets it')
  t.equal(seatsIn(4), 1, 'as Node has it')
  t.notOk(new Compression({ poolThreads: 2 }).wantsBlocks(GZIP))
  t.ok(new Compression({ poolThreads: 4 }).wantsBlocks(GZIP))
})

t.test('many answers are compressed two at a time, and slow readers hold up nobody', async t => {
  const { deflate, most } = counted()
  const compression = new Compression({ deflate, poolThreads: 8 })
  const blocks = new BlockWriter()
  const start = (out: PassThrough): Promise<void> => {
    const sink = compression.sink(out, 1_000_000)
    return blocks.write(sink, [PIECES]).then(all => void (all && sink.end()))
  }
  const unread = Array.from({ length: 3 }, () => new PassThrough({ highWaterMark: 1 }))
  const stuck = unread.map(start)
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      const out = new PassThrough()
      const received = out.toArray() as Promise<Buffer[]>
      await start(out)
      t.ok(gunzipSync(Buffer.concat(await received)).equals(Buffer.concat(PIECES)))
    }),
  )
  t.equal(most(), 2)
  for (const out of unread) out.destroy()
  await Promise.all(stuck)
})

t.test('a crowd is sent away uncompressed; whose client leaves makes room', async t => {
  const { work, finish } = gates()
  const deflate: Deflate = async block => {
    await work(String(block[0]))()
    return block
  }
  const compression = new Compression({ deflate, poolThreads: 8 })
  const outs: PassThrough[] = []
  const writes: Promise<boolean>[] = []
  while (compression.wantsBlocks(GZIP)) {
    const out = new PassThrough().resume()
    writes.push(compression.sink(out, 1_000_000).write(Buffer.from([outs.push(out)])))
  }
  t.ok(outs.length > 2 && outs.length < 100, 'the line is bounded')
  const left = outs[4]!
  left.destroy()
  await once(left, 'close')
  t.equal(await writes[4], false)
  t.ok(compression.wantsBlocks(GZIP))
  t.notOk(compression.wantsBlocks({ headers: {} }))
  for (const i of outs.keys()) {
    if (i === 4) continue
    finish(String(i + 1))
    t.equal(await writes[i], true)
  }
})

t.test('a server compresses all its answers so: lists, other forms, documents', async t => {
  const { deflate, most } = counted()
  const { api, faults } = await startTestServer(t, { more: { deflate } })
  const text = 'some text, '.repeat(20_000)
  await Promise.all(['a', 'b', 'c'].map(name => api.ok(api.post(CONFIGMAPS, configMap(name, { text })))))
  const { url, ca, cert, key } = api.access
  const zipped = async (path: string, accept: string): Promise<string> => {
    const sent = request(url + path, { ca, cert, key, headers: { accept, 'accept-encoding': 'gzip' }, agent: false })
    const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
    t.equal(response.headers['content-encoding'], 'gzip')
    return gunzipSync(Buffer.concat(await response.toArray())).toString()
  }
  const forms = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
  const asked = [CONFIGMAPS, `${CONFIGMAPS}/a`].flatMap(path => forms.map(accept => ({ path, accept })))
  asked.push({ path: '/openapi/v2', accept: 'application/json' })
  await Promise.all(
    asked.map(async ({ path, accept }) => {
      const plain = await api.get(path, { Accept: accept })
      t.ok((await zipped(path, accept)) === plain.text, `${path} as ${accept}`)
    }),
  )
  t.equal(most(), seatsIn(Number(process.env.UV_THREADPOOL_SIZE) || 4))
  t.strictSame(faults, [])
})
